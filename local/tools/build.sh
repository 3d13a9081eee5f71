#!/usr/bin/env bash
# build.sh NAME...: builds tools from Go modules into HEARTH_CACHE/bin; what is there in the right version is kept.
#   cluster  kubernetes (with kubectl and the rest in it), kube-router, etcd, coredns, kind, local-path-provisioner
#   pulumi   the pulumi CLI, its Python language host and the Kubernetes provider
# The programs of a cluster are one Go module, and Pulumi's module names the same versions of what both need (local/check-versions
# holds them to it): so a package that several of them use is compiled once. That is half of the processor time, and leaving out
# debug information a fifth of the rest.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
bin=$HEARTH_CACHE/bin
export CGO_ENABLED=0 GOFLAGS=-buildvcs=false
command -v go >/dev/null || fail "Go is needed to build the local cluster's tools (or set HEARTH_TOOLS=official on a machine with a network)"

go_build() { # go_build OUTPUT LDFLAGS PACKAGE...
  go build -trimpath -gcflags=all=-dwarf=false -ldflags="-s -w $2" -o "$1" "${@:3}"
}

cluster() {
  local out=$HEARTH_CACHE/build/cluster flags="" package commit=0000000000000000000000000000000000000000
  # An unstamped kube-apiserver panics at its start, and a kubelet would join with an empty version.
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    flags+=" -X $package.gitVersion=$KUBERNETES_VERSION -X $package.gitMajor=1 -X $package.gitMinor=$(cut -d. -f2 <<<"$KUBERNETES_VERSION")"
    flags+=" -X $package.gitTreeState=clean -X $package.gitCommit=$commit -X $package.buildDate=1970-01-01T00:00:00Z"
  done
  flags+=" -X github.com/cloudnativelabs/kube-router/v2/pkg/version.Version=$KUBE_ROUTER_VERSION"
  rm -rf "$out"
  mkdir -p "$out"
  cd "$here/kubernetes"
  go_build "$out/" "$flags" ./cmd/kubernetes ./cmd/coredns github.com/cloudnativelabs/kube-router/v2/cmd/kube-router sigs.k8s.io/kind go.etcd.io/etcd/server/v3
  mv "$out/server" "$out/etcd"
  # by itself: it imports the logging library under another spelling, which one command may not mix
  go_build "$out/local-path-provisioner" "" github.com/rancher/local-path-provisioner
  mv "$out"/* "$bin/"
  ln -sf kubernetes "$bin/kubectl"
  # the files of kind's own node image: its entry point, units and containerd configuration
  rm -rf "$bin/kind-node" "$out"
  cp -r --no-preserve=mode "$(go list -m -f '{{.Dir}}' sigs.k8s.io/kind)/images/base/files" "$bin/kind-node"
}
pulumi() { "$here/pulumi/build.sh" "$bin"; }

# build NAME FOLDER MINUTES: unless the stamp says that these sources and this Go made what is there.
build() {
  local name=$1 folder=$2 minutes=$3 stamp=$bin/.stamp/$1 want
  want=$(hash_of "$here/$folder" "$here/build.sh")-$(go env GOVERSION)-$(go env GOARCH)
  [ "$(cat "$stamp" 2>/dev/null)" != "$want" ] || return 0
  say "building $name from Go modules (usually $minutes min on two idle cores, seconds when Go's cache is warm)"
  mkdir -p "$bin/.stamp"
  rm -f "$stamp"
  timed "build $name" "$name"
  echo "$want" >"$stamp"
}

for name in "$@"; do
  case $name in
    cluster) locked tools-cluster build cluster kubernetes 5 ;;
    pulumi) locked tools-pulumi build pulumi pulumi 2 ;;
    *) fail "no tool is called $name" ;;
  esac
done
