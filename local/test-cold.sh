#!/usr/bin/env bash
# make test-cold: `make up`, again from nothing running, again without a change, and `make down`, with caches of its own that are empty at
# first. Debian packages that the machine has already are the one thing that is not cold.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$HEARTH_ROOT"
folder=$(mktemp -d "${TMPDIR:-/var/tmp}/hearth-cold-XXXXXX")
export HEARTH_CACHE=$folder/hearth HEARTH_CLUSTER=hearth-cold
export GOCACHE=$folder/go-build GOMODCACHE=$folder/go-mod UV_CACHE_DIR=$folder/uv PIP_CACHE_DIR=$folder/pip NPM_CONFIG_CACHE=$folder/npm

clean() {
  local/cluster-down.sh || true
  # module caches are read-only
  chmod -R u+w "$folder/go-mod" 2>/dev/null || true
  rm -rf "$folder"
}
trap clean EXIT
trap 'exit 130' INT TERM

seconds() { # seconds WHAT COMMAND...
  local start=$SECONDS
  "${@:2}"
  figures+=("$(printf '%-32s %5d s' "$1" $((SECONDS - start)))")
}
figures=()
seconds "make up, nothing there" local/up.sh
local/cluster-down.sh
seconds "make up, nothing running" local/up.sh
seconds "make up, again" local/up.sh
printf '%s\n' "${figures[@]}"
