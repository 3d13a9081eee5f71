#!/usr/bin/env bash
# make test-long: fuzz, client matrices and soak, which `make test` leaves out; at most an hour. Needs no cluster of its own.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$HEARTH_ROOT"
start=$SECONDS
local/prepare.sh
local/test-tools.sh
say "long tests (at most an hour)"
.venv/bin/pytest -q -m long --durations=10 tests/unit tests/wire
say "all long tests passed after $((SECONDS - start)) s"
