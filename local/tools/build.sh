#!/usr/bin/env bash
# build.sh NAME...: builds the named tools from Go modules into HEARTH_CACHE/bin; what is there in the right version is kept.
# NAME: kubernetes, kind, cni, etcd, coredns, local-path, kube-router, pulumi.
# Static, without debug information: that is a fifth of the processor time of any of these builds.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
bin=$HEARTH_CACHE/bin
export CGO_ENABLED=0 GOFLAGS=-buildvcs=false
command -v go >/dev/null || fail "Go is needed to build the local cluster's tools (or set HEARTH_TOOLS=official on a machine with a network)"

go_build() { # go_build FOLDER OUTPUT LDFLAGS PACKAGE...
  local folder=$1 output=$2 ldflags=$3
  shift 3
  (cd "$folder" && go build -trimpath -gcflags=all=-dwarf=false -ldflags="-s -w $ldflags" -o "$output" "$@")
}

kubernetes() {
  local flags="" package commit=0000000000000000000000000000000000000000
  # An unstamped kube-apiserver panics at its start, and a kubelet would join with an empty version.
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    flags+=" -X $package.gitVersion=$KUBERNETES_VERSION -X $package.gitMajor=1 -X $package.gitMinor=$(cut -d. -f2 <<<"$KUBERNETES_VERSION")"
    flags+=" -X $package.gitTreeState=clean -X $package.gitCommit=$commit -X $package.buildDate=1970-01-01T00:00:00Z"
  done
  go_build "$here/kubernetes" "$bin/kubernetes" "$flags" ./cmd/kubernetes
  ln -sf kubernetes "$bin/kubectl"
}
kube_router() {
  go_build "$here/kubernetes" "$bin/kube-router" "-X github.com/cloudnativelabs/kube-router/v2/pkg/version.Version=$KUBE_ROUTER_VERSION" \
    github.com/cloudnativelabs/kube-router/v2/cmd/kube-router
}
kind() {
  go_build "$here/kind" "$bin/kind" "" sigs.k8s.io/kind
  # the files of kind's own node image: its entry point, units and containerd configuration
  rm -rf "$bin/kind-node"
  cp -r --no-preserve=mode "$(cd "$here/kind" && go list -m -f '{{.Dir}}' sigs.k8s.io/kind)/images/base/files" "$bin/kind-node"
}
etcd() { go_build "$here/etcd" "$bin/etcd" "" go.etcd.io/etcd/server/v3; }
coredns() { go_build "$here/coredns" "$bin/coredns" "" .; }
local_path() { go_build "$here/local-path" "$bin/local-path-provisioner" "" github.com/rancher/local-path-provisioner; }
cni() {
  local plugins=github.com/containernetworking/plugins/plugins
  mkdir -p "$bin/cni"
  go_build "$here/cni" "$bin/cni/" "" $plugins/main/{bridge,ptp,loopback} $plugins/ipam/host-local $plugins/meta/portmap
}
pulumi() { "$here/pulumi/build.sh" "$bin"; }

# build NAME OUTPUT MINUTES: unless the stamp says that OUTPUT is what these sources and this Go make.
build() {
  local name=$1 output=$2 minutes=$3 folder=$1 stamp=$bin/.stamp/$1 want
  [ "$name" = kube-router ] && folder=kubernetes
  want=$(hash_of "$here/$folder" "$here/build.sh")-$(go env GOVERSION)-$(go env GOARCH)
  if [ -e "$bin/$output" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$want" ]; then return; fi
  say "building $name from Go modules (usually $minutes on two idle cores, seconds when Go's cache is warm)"
  rm -f "$stamp"
  timed "build $name" "${name//-/_}"
  mkdir -p "$bin/.stamp"
  echo "$want" >"$stamp"
}

mkdir -p "$bin"
for name in "$@"; do
  case $name in
    kubernetes) locked tool-kubernetes build kubernetes kubernetes "5 min" ;;
    kube-router) locked tool-kube-router build kube-router kube-router "1 min" ;;
    kind) locked tool-kind build kind kind "10 s" ;;
    cni) locked tool-cni build cni cni/portmap "10 s" ;;
    etcd) locked tool-etcd build etcd etcd "30 s" ;;
    coredns) locked tool-coredns build coredns coredns "1 min" ;;
    local-path) locked tool-local-path build local-path local-path-provisioner "1 min" ;;
    pulumi) locked tool-pulumi build pulumi ../pulumi/plugins/resource-kubernetes-"$PULUMI_KUBERNETES_VERSION"/pulumi-resource-kubernetes "3 min" ;;
    *) fail "no tool is called $name" ;;
  esac
done
