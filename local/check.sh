#!/usr/bin/env bash
# make check: format, lint, types, import directions, pinned versions, and the pure tests. Under a minute.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$HEARTH_ROOT"
export PATH=$HEARTH_ROOT/.venv/bin:$PATH

# Each prints little when it passes; `timed` shows the end of what it printed when it does not.
timed "check format" ruff format --check .
timed "check lint" ruff check .
timed "check YAML" yamllint --strict .
timed "check types" mypy
timed "check import directions" lint-imports
timed "check versions" local/check-versions
say "pure tests (about half a minute)"
pytest -q tests/unit tests/program
