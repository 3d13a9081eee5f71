#!/usr/bin/env bash
# prepare.sh CONTEXT: the SDK and its packages.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
mkdir -p "$1/opt/client"
install_wheels "$1/opt/client/site" -r "$here/requirements.txt"
rm -rf "$1/opt/client/site/bin"
