#!/usr/bin/env bash
# make test: from a bare machine to every test passed. Makes a cluster of its own and takes it down again.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$HEARTH_ROOT"
start=$SECONDS

local/setup.sh
local/check.sh
local/prepare.sh
say "tests of the proxies, on loopback (about two minutes)"
.venv/bin/pytest -q tests/wire
. local/podman.sh
. local/branch.sh
choose_branch
# the host images and runtimes first: a test of the cluster has a host beside it
if [ "$HEARTH_BRANCH" = build ]; then
  local/edge-images.sh
  local/edge-runtimes.sh
  local/edge-ollama.sh
fi
say "tests in a real cluster (about twenty minutes)"
.venv/bin/pytest -q tests/cluster
if [ "$HEARTH_BRANCH" = build ]; then
  say "the edge half: every scenario on container hosts, as many at once as there are processors (about 35 minutes with two)"
  local/edge-scenarios.sh test
else
  say "the edge half: left out, because its hosts are containers of Debian that root makes on Debian (make test-edge)"
fi
say "all tests passed after $((SECONDS - start)) s"
