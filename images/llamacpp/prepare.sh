#!/usr/bin/env bash
# prepare.sh CONTEXT: the wheel, unpacked, and the server's start.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
mkdir -p "$1/opt/llama"
install_wheels "$1/opt/llama/site" -r "$here/requirements.txt"
cp "$here/server.py" "$1/opt/llama/"
