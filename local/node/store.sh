#!/usr/bin/env bash
# store.sh REF...: keeps these images of podman's, unpacked, in a containerd store below HEARTH_CACHE, and puts in what is missing there.
# store.sh --copy FOLDER...: a store for one node as each FOLDER. A new node so has every image at once: files are hard links, because
# containerd and the overlays never write to one that is there, and only the two databases are copies.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
. "$here/../podman.sh"
podman_environment
store=$HEARTH_CACHE/node-store
databases="io.containerd.metadata.v1.bolt/meta.db io.containerd.snapshotter.v1.overlayfs/metadata.db"

# In a container of the nodes' own root: containerd takes the archive on standard input and unpacks it; arguments are REF ID pairs.
# The label is how load-images.sh knows what a node has; pinned: the kubelet never removes it, and there is no registry to fetch it from again.
import_script() {
  cat <<'SCRIPT'
set -eu
printf 'version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n' >/run/config.toml
containerd --config /run/config.toml >/run/containerd.log 2>&1 &
daemon=$!
until ctr version >/dev/null 2>&1; do kill -0 $daemon || { cat /run/containerd.log; exit 1; }; sleep 0.1; done
ctr -n k8s.io images import -
while [ $# != 0 ]; do
  ctr -n k8s.io images label "$1" "dev.hearth.id=$2" io.cri-containerd.pinned=pinned
  shift 2
done
ctr -n k8s.io content prune references
kill $daemon
wait $daemon
SCRIPT
}

# The list of what is in the store: first the root whose containerd wrote it, then a line `REF ID` for each image.
fill() {
  local root list=$store/list ref id missing=() pairs=()
  root=$("$here/../../images/roots.sh" --ref node)
  if [ "$(head -n 1 "$list" 2>/dev/null)" != "$root" ]; then
    rm -rf "$store"
    mkdir -p "$store/containerd"
    echo "$root" >"$list"
  fi
  while read -r ref id; do
    ! grep -qxF "$ref $id" "$list" || continue
    missing+=("$ref")
    pairs+=("$ref" "$id")
  done < <(image_ids "$@")
  [ ${#missing[@]} != 0 ] || return 0
  "$here/../../images/roots.sh" node
  timed "node store: ${#missing[@]} images" import_images
  for ref in "${missing[@]}"; do sed -i "\|^$ref |d" "$list"; done
  printf '%s %s\n' "${pairs[@]}" >>"$list"
}
import_images() {
  podman save --quiet -m --format docker-archive "${missing[@]}" |
    podman run --rm --interactive --privileged --network none --volume "$store/containerd:/var/lib/containerd" "$root" \
      /bin/sh -c "$(import_script)" import "${pairs[@]}"
}

copy() { # copy FOLDER...
  local folder database
  for folder in "$@"; do
    rm -rf "$folder"
    mkdir -p "$(dirname "$folder")"
    cp -al "$store/containerd" "$folder"
    for database in $databases; do cp --remove-destination "$store/containerd/$database" "$folder/$database"; done
  done
}

if [ "${1:-}" = --copy ]; then
  locked node-store copy "${@:2}"
else
  locked node-store fill "$@"
fi
