#!/usr/bin/env bash
# build.sh OUT: the pulumi CLI, its Python language host and the Kubernetes provider into OUT, in one go because they
# share most packages. They are built in HEARTH_CACHE, where _slim/slim.sh puts copies of five modules that lack what
# Hearth does not use (cloud back ends, Helm, Kustomize, YAML components); what is left out says so when asked for.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../../lib.sh"
out=$1
export CGO_ENABLED=0 GOFLAGS=-buildvcs=false

work=$HEARTH_CACHE/build/pulumi
rm -rf "$work"
mkdir -p "$work"
cp -r "$here/." "$work/"
cd "$work"
module_dir() { go mod download -json "$1" | sed -n 's/^[[:space:]]*"Dir": "\(.*\)",*$/\1/p'; }
sdk=github.com/pulumi/pulumi/sdk/v3
provider=$(module_dir github.com/pulumi/pulumi-kubernetes/provider/v4)
version=${PULUMI_KUBERNETES_VERSION#v}

# The provider embeds its schema, which must name the version that programs ask for.
python3 - "$provider/cmd/pulumi-resource-kubernetes" cmd/pulumi-resource-kubernetes "$version" <<'PY'
import json, pathlib, sys
source, target, version = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
for name, extra in (("schema", {"version": version}), ("terraform-mapping", {})):
    document = json.loads((source / f"{name}.json").read_text()) | extra
    (target / f"{name}-embed.json").write_text(json.dumps(document, separators=(",", ":")))
PY
_slim/slim.sh build
go build -modfile=build/slim.mod -trimpath -gcflags=all=-dwarf=false \
  -ldflags="-s -w -X $sdk/go/common/version.Version=$PULUMI_VERSION -X main.version=$version" \
  -o "$work/out/" github.com/pulumi/pulumi/pkg/v3/cmd/pulumi ./cmd/pulumi-language-python ./cmd/pulumi-resource-kubernetes

install -m 755 "$work/out/pulumi" "$work/out/pulumi-language-python" "$out/"
# Python programs are started by the first of these, dynamic providers by the second.
install -m 755 "$(module_dir $sdk)/python/cmd/pulumi-language-python-exec" "$(module_dir $sdk)/python/dist/pulumi-resource-pulumi-python" "$out/"
plugin=$HEARTH_CACHE/pulumi/plugins/resource-kubernetes-$PULUMI_KUBERNETES_VERSION
mkdir -p "$plugin"
install -m 755 "$work/out/pulumi-resource-kubernetes" "$plugin/"
rm -rf "$work"
