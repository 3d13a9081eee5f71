#!/usr/bin/env bash
# Brings up the cluster HEARTH_CLUSTER with the images of images/ loaded. A healthy cluster is kept, and an image that it has is not loaded again.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
. "$here/podman.sh"
. "$here/branch.sh"
choose_branch
eval "$("$here/env")"
state=$HEARTH_CACHE/clusters/$HEARTH_CLUSTER

healthy() {
  [ -s "$KUBECONFIG" ] && kubectl --request-timeout=5s get --raw /readyz >/dev/null 2>&1 &&
    kubectl --request-timeout=5s wait --for=condition=Ready node --all --timeout=20s >/dev/null 2>&1
}

create() {
  local config=$state/kind.yaml image=$KIND_NODE_IMAGE mounts="" role
  if [ "$HEARTH_BRANCH" = build ]; then
    image=$NODE_IMAGE
    "$here/node/store.sh" --copy "$state"/nodes/{control-plane,worker}
    for role in control-plane worker; do
      mounts+="s|@MOUNTS-$role@|{hostPath: '$state/nodes/$role', containerPath: /var/lib/containerd}|;"
    done
  fi
  {
    sed "s|@NODE_IMAGE@|$image|;$mounts s|@MOUNTS-[a-z-]*@||" "$here/kind.yaml"
    [ "$HEARTH_BRANCH" != build ] || sed "s|@ETCD_TAG@|${ETCD_VERSION#v}-0|; s|@COREDNS_VERSION@|$COREDNS_VERSION|" "$here/kind-built.yaml"
  } >"$config"
  if [ "$HEARTH_BRANCH" = build ]; then
    mkdir -p /lib/modules # kind mounts it into the nodes; a virtual machine may have none
    # made here so that it has IPv4 only: kind would add IPv6
    podman network exists "$KIND_EXPERIMENTAL_PODMAN_NETWORK" || podman network create "$KIND_EXPERIMENTAL_PODMAN_NETWORK"
  fi
  kind create cluster --name "$HEARTH_CLUSTER" --config "$config" --kubeconfig "$KUBECONFIG" --wait 180s
}

up() {
  local refs variable
  if healthy; then
    say "cluster $HEARTH_CLUSTER: healthy, kept"
    return
  fi
  if kind get clusters 2>/dev/null | grep -qx "$HEARTH_CLUSTER"; then
    say "cluster $HEARTH_CLUSTER does not answer: making it anew"
    "$here/cluster-down.sh"
  fi
  if [ "$HEARTH_BRANCH" = build ]; then
    "$here/node/image.sh"
    mapfile -t refs < <("$here/node/image.sh" --refs)
    for variable in $(compgen -v IMAGE_); do refs+=("${!variable}"); done
    "$here/node/store.sh" "${refs[@]}"
  fi
  say "creating cluster $HEARTH_CLUSTER (usually 1 min)"
  mkdir -p "$state"
  timed "kind create cluster $HEARTH_CLUSTER" create
  kubectl wait --for=condition=Ready node --all --timeout=120s >/dev/null
  kubectl -n kube-system rollout status deployment/coredns --timeout=120s >/dev/null
}
locked --alone "cluster-$HEARTH_CLUSTER" up
"$here/load-images.sh"
say "cluster $HEARTH_CLUSTER: ready; . local/env.sh sets kubectl and pulumi to it"
