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
say "tests in a real cluster (about fifteen minutes)"
.venv/bin/pytest -q tests/cluster
say "the edge half on two container hosts (about five minutes; make test-edge runs every scenario)"
local/edge-images.sh
local/edge-runtimes.sh
local/edge-scenarios.sh test default
say "all tests passed after $((SECONDS - start)) s"
