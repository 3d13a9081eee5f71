#!/usr/bin/env bash
# Assembles the node image NODE_IMAGE and the images of the cluster's own Pods from the tools of HEARTH_CACHE/bin; kept while nothing
# that goes into them changed. `image.sh --refs` prints the references of those Pods' images and builds nothing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
. "$here/../podman.sh"
podman_environment
bin=$HEARTH_CACHE/bin

# kubeadm asks for pause and the control plane by the names of their public registry.
system_images() {
  local name
  for name in pause:$PAUSE_VERSION pause:$PAUSE_VERSION.1 kube-{apiserver,controller-manager,scheduler,proxy}:"$KUBERNETES_VERSION"; do echo "registry.k8s.io/$name"; done
  for name in etcd:"${ETCD_VERSION#v}-0" coredns:"$COREDNS_VERSION" local-path-provisioner:"$LOCAL_PATH_VERSION" kube-router:"$KUBE_ROUTER_VERSION" iptables:"$NODE_DEBIAN"; do
    echo "localhost/hearth/$name"
  done
}
if [ "${1:-}" = --refs ]; then
  system_images
  exit
fi
[ -r "$bin/.stamp/cluster" ] || fail "the cluster's programs are not built, or by an older version of Hearth: make tools"
node_root=$("$here/../../images/roots.sh" --ref node)
iptables_root=$("$here/../../images/roots.sh" --ref iptables)

inputs=$( (hash_of "$here" && echo "$node_root $iptables_root" && cat "$bin/.stamp/cluster") | shasum256 | cut -c1-32)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# image REF BASE FILE [LINK...]: one program in /usr/local/bin of BASE, under the names of LINK too
image() {
  local ref=$1 base=$2 file=$3 context link
  shift 3
  context=$(mktemp -d -p "$work")
  mkdir -p "$context/usr/local/bin"
  cp "$file" "$context/usr/local/bin/"
  for link in "$@"; do ln -s "$(basename "$file")" "$context/usr/local/bin/$link"; done
  printf 'FROM %s\nCOPY usr/ /usr/\nENV PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\nENTRYPOINT ["/usr/local/bin/%s"]\n' "$base" "$(basename "$file")" >"$context/Containerfile"
  podman build --quiet --no-cache --isolation=chroot --timestamp 0 -t "$ref" "$context" >/dev/null
  rm -rf "$context"
}

assemble() {
  local name
  musl-gcc -Os -static -s -o "$work/pause" "$here/pause.c"
  image "registry.k8s.io/pause:$PAUSE_VERSION" scratch "$work/pause"
  podman tag "registry.k8s.io/pause:$PAUSE_VERSION" "registry.k8s.io/pause:$PAUSE_VERSION.1"
  image "registry.k8s.io/kube-apiserver:$KUBERNETES_VERSION" "$iptables_root" "$bin/kubernetes" kube-apiserver kube-controller-manager kube-scheduler kube-proxy
  for name in kube-controller-manager kube-scheduler kube-proxy; do
    podman tag "registry.k8s.io/kube-apiserver:$KUBERNETES_VERSION" "registry.k8s.io/$name:$KUBERNETES_VERSION"
  done
  image "localhost/hearth/etcd:${ETCD_VERSION#v}-0" scratch "$bin/etcd"
  image "localhost/hearth/coredns:$COREDNS_VERSION" scratch "$bin/coredns"
  image "localhost/hearth/local-path-provisioner:$LOCAL_PATH_VERSION" scratch "$bin/local-path-provisioner"
  image "localhost/hearth/kube-router:$KUBE_ROUTER_VERSION" "$iptables_root" "$bin/kube-router"
  podman tag "$iptables_root" "localhost/hearth/iptables:$NODE_DEBIAN"

  cp -r "$bin/kind-node" "$work/kind-node"
  install -D -t "$work/rootfs/usr/bin" "$bin/kubernetes"
  for name in kubeadm kubelet kubectl; do ln -s kubernetes "$work/rootfs/usr/bin/$name"; done
  mkdir -p "$work/rootfs/kind/manifests"
  for name in cni storage; do
    sed "s/@KUBE_ROUTER_VERSION@/$KUBE_ROUTER_VERSION/; s/@LOCAL_PATH_VERSION@/$LOCAL_PATH_VERSION/; s/@NODE_DEBIAN@/$NODE_DEBIAN/" "$here/manifests/$name.yaml" >"$work/rootfs/kind/manifests/default-$name.yaml"
  done
  printf %s "$KUBERNETES_VERSION" >"$work/rootfs/kind/version"
  podman build --quiet --no-cache --isolation=oci --build-arg "ROOT=$node_root" --label "dev.hearth.inputs=$inputs" -t "$NODE_IMAGE" -f "$here/Containerfile" "$work"
}
build() {
  local refs
  mapfile -t refs < <(system_images)
  [ "$(podman image inspect --format '{{index .Labels "dev.hearth.inputs"}}' "$NODE_IMAGE" 2>/dev/null)" != "$inputs" ] || ! image_ids "${refs[@]}" >/dev/null 2>&1 || return 0
  "$here/../../images/roots.sh" node iptables
  say "node image $NODE_IMAGE (usually 30 s)"
  timed "node image" assemble
  podman image prune --force >/dev/null
}
locked node-image build
