#!/usr/bin/env bash
# make test: from a bare machine to every test passed. Makes a cluster of its own and takes it down again.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$HEARTH_ROOT"

local/setup.sh
. local/podman.sh
. local/branch.sh
choose_branch
edge=(--edge)
if [ "$HEARTH_BRANCH" != build ]; then
  edge=()
  say "the edge half: left out, because its hosts are containers of Debian that root makes on Debian (make test-edge)"
fi
exec .venv/bin/python local/run_tests.py "${edge[@]}"
