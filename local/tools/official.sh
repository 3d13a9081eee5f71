#!/usr/bin/env bash
# Official binaries of kind, kubectl and Pulumi into HEARTH_CACHE/bin, each checked against the checksum file that its
# release publishes. Kept when the stamp names the pinned versions.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
bin=$HEARTH_CACHE/bin
want="official $KIND_VERSION $KUBECTL_OFFICIAL_VERSION $PULUMI_VERSION $PULUMI_KUBERNETES_VERSION"
os=$(uname -s | tr '[:upper:]' '[:lower:]')
case $(uname -m) in
  x86_64) machine=amd64 pulumi_machine=x64 ;;
  aarch64 | arm64) machine=arm64 pulumi_machine=arm64 ;;
  *) fail "no official binaries for $(uname -m): HEARTH_TOOLS=build" ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fetch() { curl --fail --silent --show-error --location --retry 3 --output "$1" "$2"; }
check() { # check FILE CHECKSUM: stop unless FILE has it
  [ -n "$2" ] && [ "$(shasum256 "$1" | cut -d' ' -f1)" = "$2" ] || fail "$1 does not have the checksum that its release publishes"
}

download() {
  fetch kind "https://kind.sigs.k8s.io/dl/$KIND_VERSION/kind-$os-$machine"
  fetch kind.sum "https://kind.sigs.k8s.io/dl/$KIND_VERSION/kind-$os-$machine.sha256sum"
  check kind "$(cut -d' ' -f1 kind.sum)"
  fetch kubectl "https://dl.k8s.io/release/$KUBECTL_OFFICIAL_VERSION/bin/$os/$machine/kubectl"
  fetch kubectl.sum "https://dl.k8s.io/release/$KUBECTL_OFFICIAL_VERSION/bin/$os/$machine/kubectl.sha256"
  check kubectl "$(cut -d' ' -f1 kubectl.sum)"
  local archive=pulumi-$PULUMI_VERSION-$os-$pulumi_machine.tar.gz releases=https://github.com/pulumi/pulumi/releases/download/$PULUMI_VERSION
  fetch "$archive" "$releases/$archive"
  fetch pulumi.sum "$releases/pulumi-${PULUMI_VERSION#v}-checksums.txt"
  check "$archive" "$(sed -n "s/ .*$archive\$//p" pulumi.sum)"
  tar -xzf "$archive"
  mkdir -p "$bin"
  install -m 755 kind kubectl pulumi/* "$bin/"
  PULUMI_HOME=$HEARTH_CACHE/pulumi "$bin/pulumi" plugin install resource kubernetes "$PULUMI_KUBERNETES_VERSION"
}
official() { # unless they are there
  [ "$(cat "$bin/.official" 2>/dev/null)" != "$want" ] || return 0
  say "downloading kind, kubectl and Pulumi (some 250 MB)"
  timed "official tools" download
  echo "$want" >"$bin/.official"
}
locked tools-official official
