#!/usr/bin/env bash
# prepare.sh CONTEXT: the package `hearth` and the packages that it needs in a cluster, as uv.lock has them.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
home=$1/opt/hearth
mkdir -p "$home/bin"

requirements=$(mktemp)
trap 'rm -f "$requirements"' EXIT
# nothing that deploys runs in a cluster
(cd "$HEARTH_ROOT" && "$uv" export --quiet --frozen --no-dev --no-emit-project --prune pulumi --output-file "$requirements" --python "$python")
install_wheels "$home/site" -r "$requirements"
rm -rf "$home/site/bin"
(cd "$HEARTH_ROOT" && tar c --exclude __pycache__ hearth) | tar x -C "$home/site"
cp "$HEARTH_ROOT/versions.env" "$home/site/hearth/"
install -m 755 "$here/hearth" "$home/bin/hearth"
