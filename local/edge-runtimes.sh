#!/usr/bin/env bash
# What the Molecule scenarios install on their hosts, kept below HEARTH_CACHE/edge:
#   llama-cpp.tar.gz   llama.cpp's own server in the layout of its release archives, out of the wheel of images/llamacpp,
#                      because no release can be downloaded where there are only package registries
#   model.gguf         the small real model of images/model-gemma3-270m
#   runtimes.env       their SHA-256 digests, as shell assignments
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"

edge=$HEARTH_CACHE/edge
images=$HEARTH_ROOT/images
mkdir -p "$edge"

llama_cpp() {
  local work top=llama-$XLLAMACPP_VERSION
  work=$(mktemp -d)
  "$images/llamacpp/prepare.sh" "$work"
  mkdir -p "$work/$top"
  mv "$work/opt/llama/site" "$work/opt/llama/server.py" "$work/$top/"
  cat >"$work/$top/llama-server" <<'LAUNCHER'
#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
export PYTHONPATH="$here/site" PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
exec python3 "$here/server.py" "$@"
LAUNCHER
  chmod 755 "$work/$top/llama-server"
  # same bytes for the same content: the digest is part of what a scenario declares
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -C "$work" -cf - "$top" | gzip -n1 >"$edge/llama-cpp.tar.gz.part"
  mv "$edge/llama-cpp.tar.gz.part" "$edge/llama-cpp.tar.gz"
  rm -rf "$work"
}

model() {
  local work
  work=$(mktemp -d)
  "$images/model-gemma3-270m/prepare.sh" "$work"
  mv "$work/model/model.gguf" "$edge/model.gguf"
  rm -rf "$work"
}

wanted=$(hash_of "$images/llamacpp" "$images/model-gemma3-270m" "${BASH_SOURCE[0]}")
if [ "$(cat "$edge/built" 2>/dev/null)" != "$wanted" ]; then
  timed "edge runtime llama.cpp" llama_cpp
  timed "edge model" model
  {
    echo "EDGE_LLAMA_CPP_SHA256=$(shasum256 "$edge/llama-cpp.tar.gz" | cut -d' ' -f1)"
    echo "EDGE_MODEL_SHA256=$MODEL_GEMMA3_270M_SHA256"
  } >"$edge/runtimes.env"
  echo "$wanted" >"$edge/built"
fi
say "edge runtimes: $edge"
