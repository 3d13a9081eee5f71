#!/usr/bin/env bash
# Deletes the cluster HEARTH_CLUSTER: its nodes, network, mounts, kubeconfig and Pulumi state. Tools and images stay in the cache.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
. "$here/podman.sh"
. "$here/branch.sh"
[ -r "$HEARTH_CACHE/branch" ] || { say "there is no local cluster"; exit 0; }
choose_branch
eval "$("$here/env")"
command -v kind >/dev/null || { say "there is no local cluster"; exit 0; }

if kind get clusters 2>/dev/null | grep -qx "$HEARTH_CLUSTER"; then
  timed "delete cluster $HEARTH_CLUSTER" kind delete cluster --name "$HEARTH_CLUSTER" --kubeconfig "$KUBECONFIG"
fi
if [ "$HEARTH_BRANCH" = build ]; then
  podman network exists "$KIND_EXPERIMENTAL_PODMAN_NETWORK" && podman network rm "$KIND_EXPERIMENTAL_PODMAN_NETWORK" >/dev/null
  # podman keeps one mount of its store, and below it that of an image which two nodes were given at the same time
  if [ -z "$(podman ps --all --quiet)" ]; then
    podman image unmount --all --force >/dev/null
    store=$HEARTH_CACHE/podman/storage/overlay
    if mountpoint -q "$store"; then umount --recursive "$store" || say "$store is in use and stays mounted"; fi
  fi
fi
# what a runner measured of it, in the checkout that had it measured
measured=$HEARTH_CACHE/clusters/$HEARTH_CLUSTER/measured
if [ -r "$measured" ]; then
  rm -rf "$(cat "$measured")"/{evidence,trust}/local
  rmdir "$(cat "$measured")/evidence" 2>/dev/null || true # unless there is evidence of another environment
fi
rm -rf "${HEARTH_CACHE:?}/clusters/$HEARTH_CLUSTER"
say "cluster $HEARTH_CLUSTER: nothing is left of it"
