#!/usr/bin/env bash
# load-images.sh [REF...]: loads images into every node of HEARTH_CLUSTER that lacks them (default: all IMAGE_… of versions.env).
# What a node has is known by a label on its image: the engine's id of the image that was loaded.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
. "$here/podman.sh"
. "$here/branch.sh"
choose_branch
eval "$("$here/env")"
if [ $# = 0 ]; then
  for variable in $(compgen -v IMAGE_); do set -- "$@" "${!variable}"; done
fi

on_node() { "$HEARTH_ENGINE" exec -i "$1" ctr -n k8s.io images "${@:2}"; }

load_node() { # load_node NODE
  local node=$1 ref there missing=()
  there=$(on_node "$node" list)
  for ref in "${!ids[@]}"; do
    grep -q "^$ref .*dev.hearth.id=${ids[$ref]}" <<<"$there" || missing+=("$ref")
  done
  [ ${#missing[@]} != 0 ] || return 0
  save "${missing[@]}" | on_node "$node" import --digests - >/dev/null
  for ref in "${missing[@]}"; do
    # pinned: the kubelet never removes it, and there is no registry to fetch it from again
    on_node "$node" label "$ref" "dev.hearth.id=${ids[$ref]}" io.cri-containerd.pinned=pinned >/dev/null
  done
  say "$node: loaded ${#missing[@]} images"
}
save() {
  case $HEARTH_ENGINE in
    podman) podman save --quiet -m --format docker-archive "$@" ;;
    docker) docker save "$@" ;;
  esac
}

declare -A ids
found=$(image_ids "$@")
while read -r ref id; do ids[$ref]=$id; done <<<"$found"
pids=()
for node in $(kind get nodes --name "$HEARTH_CLUSTER" 2>/dev/null); do
  load_node "$node" &
  pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid"; done
