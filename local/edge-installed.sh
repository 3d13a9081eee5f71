#!/usr/bin/env bash
# Hosts that are installed already, so that a scenario about something else than the installation need not begin with one:
# the images of both Debians as scenario `default` left them, and the authority and tokens that belong to them.
#   edge-installed.sh key            what made them, as one digest: the roles, the compiler, the host images, the runtimes, the week
#   edge-installed.sh there          whether they are there
#   edge-installed.sh save FOLDER    keep the running hosts of `default`; FOLDER is Molecule's own for it
#   edge-installed.sh image HOST     the reference of debian12 or debian13
#   edge-installed.sh site FOLDER    put authority and tokens into a scenario's folder
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
. "$here/podman.sh"
podman_environment
folder=$HEARTH_CACHE/edge/installed

key() {
  cd "$HEARTH_ROOT"
  {
    find roles playbooks plugins hearth molecule/default molecule/shared .config/molecule/config.yml -type f ! -path '*/__pycache__/*' |
      LC_ALL=C sort | tr '\n' '\0' | xargs -0 sha256sum
    shasum256 <"$HEARTH_CACHE/edge/runtimes.env"
    "$here/edge-images.sh" --ref debian12
    "$here/edge-images.sh" --ref debian13
    podman network inspect hearth-edge --format '{{(index .Subnets 0).Subnet}}'
    # packages get older, and certificates end
    date +%G-%V
  } | shasum256 | cut -c1-12
}

image() { echo "localhost/hearth/edge-installed-$1:${HEARTH_EDGE_INSTALLED:-$(key)}"; }

case ${1:-} in
  key) key ;;
  image) image "$2" ;;
  there) podman image exists "$(image debian12)" && podman image exists "$(image debian13)" && [ -e "$folder/${HEARTH_EDGE_INSTALLED:-$(key)}.tar" ] ;;
  site) tar -C "$2" -xf "$folder/${HEARTH_EDGE_INSTALLED:-$(key)}.tar" ;;
  save)
    HEARTH_EDGE_INSTALLED=${HEARTH_EDGE_INSTALLED:-$(key)}
    ! "$0" there || exit 0
    mkdir -p "$folder"
    for host in debian12 debian13; do
      podman images --quiet --filter "reference=localhost/hearth/edge-installed-$host" --filter until=24h | sort -u |
        xargs -r podman rmi --ignore >/dev/null 2>&1 || true # one that a running scenario uses stays
      podman commit --quiet --pause=false "hearth-edge-default-$host" "$(image "$host")" >/dev/null
    done
    find "$folder" -name '*.tar' -mtime +1 -delete
    tar -C "$2" -cf "$folder/$HEARTH_EDGE_INSTALLED.tar.part" state site/trust
    mv "$folder/$HEARTH_EDGE_INSTALLED.tar.part" "$folder/$HEARTH_EDGE_INSTALLED.tar"
    ;;
  *) fail "key, there, save, image or site" ;;
esac
