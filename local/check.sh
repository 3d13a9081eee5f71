#!/usr/bin/env bash
# make check: format, lint, types, import directions, pinned versions, and the pure tests. About a minute on two cores.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$HEARTH_ROOT"
export PATH=$HEARTH_ROOT/.venv/bin:$PATH

# Each prints little when it passes; `timed` shows the end of what it printed when it does not.
lint() {
  local failed=0
  timed "check format" ruff format --check . || failed=1
  timed "check lint" ruff check . || failed=1
  timed "check types" mypy || failed=1
  timed "check import directions" lint-imports || failed=1
  timed "check versions" local/check-versions || failed=1
  timed "check edge half (YAML, ansible-lint, READMEs)" local/edge-lint.sh || failed=1
  return $failed
}

lint &
linting=$!
say "pure tests, beside the checks (about a minute)"
failed=0
pytest -q tests/unit tests/program || failed=1
wait $linting || failed=1
[ $failed = 0 ] || fail "make check: what is above has to be mended"
