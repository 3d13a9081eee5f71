#!/usr/bin/env bash
# Ollama for the Molecule scenarios, in the layout of its release archives: HEARTH_CACHE/edge/ollama.tar.gz and ollama.env.
# It is built from its Go module, for the processor alone: about 8 minutes of processor time, once. Module archives leave
# out every folder called vendor/, so the headers that llama.cpp has there come from Debian and from another module.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"

edge=$HEARTH_CACHE/edge
source=$here/tools/ollama
version=$(cd "$source" && go list -m -f '{{.Version}}' github.com/ollama/ollama)
wanted=$(hash_of "$source" "${BASH_SOURCE[0]}")-$(go env GOVERSION)-$(go env GOARCH)
mkdir -p "$edge"

headers() { # the folder that the headers are put together in
  local folder=$1 modules
  if ! dpkg-query -W nlohmann-json3-dev libstb-dev g++ >/dev/null 2>&1; then
    [ "$(id -u)" = 0 ] || fail "run this once as root: apt-get install --no-install-recommends nlohmann-json3-dev libstb-dev g++"
    apt-get update -q
    DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends nlohmann-json3-dev libstb-dev g++
  fi
  modules=$(cd "$source" && go mod download github.com/gen2brain/malgo && go list -m -f '{{.Dir}}' github.com/gen2brain/malgo)
  mkdir -p "$folder/miniaudio"
  cp "$modules/miniaudio.h" "$folder/miniaudio/"
}

build() {
  local work
  work=$(mktemp -d)
  headers "$work/include"
  mkdir -p "$work/root/bin" "$work/root/lib/ollama"
  (
    cd "$source"
    # a processor of the last ten years; the release has a library for each kind instead
    export CGO_ENABLED=1 GOFLAGS=-buildvcs=false CGO_CPPFLAGS="-I$work/include"
    export CGO_CFLAGS="-O3 -march=x86-64-v3" CGO_CXXFLAGS="-O3 -march=x86-64-v3"
    [ "$(go env GOARCH)" = amd64 ] || export CGO_CFLAGS=-O3 CGO_CXXFLAGS=-O3
    nice go build -trimpath -ldflags "-s -w -X=github.com/ollama/ollama/version.Version=${version#v} -X=github.com/ollama/ollama/server.mode=release" \
      -o "$work/root/bin/ollama" github.com/ollama/ollama
  )
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -C "$work/root" -cf - bin lib | gzip -n1 >"$edge/ollama.tar.gz.part"
  mv "$edge/ollama.tar.gz.part" "$edge/ollama.tar.gz"
  rm -rf "$work"
}

if [ ! -e "$edge/ollama.tar.gz" ] || [ "$(cat "$edge/ollama-built" 2>/dev/null)" != "$wanted" ]; then
  say "building Ollama $version from its Go module (usually 8 minutes of processor time, seconds when Go's cache is warm)"
  timed "build ollama" build
  printf 'EDGE_OLLAMA_VERSION=%s\nEDGE_OLLAMA_SHA256=%s\n' "${version#v}" "$(shasum256 "$edge/ollama.tar.gz" | cut -d' ' -f1)" >"$edge/ollama.env"
  echo "$wanted" >"$edge/ollama-built"
fi
say "Ollama $version: $edge/ollama.tar.gz"
