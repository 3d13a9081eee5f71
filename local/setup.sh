#!/usr/bin/env bash
# Makes .venv with everything that is Python, from pyproject.toml and uv.lock. Changes nothing when nothing changed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
. "$here/python.sh"
cd "$HEARTH_ROOT"

stamp=.venv/.made-from
want="$(hash_of pyproject.toml uv.lock local/setup.sh) uv $UV_VERSION"
if [ "$(cat $stamp 2>/dev/null)" = "$want" ] && .venv/bin/python -c "" 2>/dev/null && [ -x .venv/bin/hearth ]; then
  say "Python environment: .venv, as pyproject.toml and uv.lock say"
  exit
fi
rm -f $stamp
python=$(find_python) || python=
uv=$(find_uv "${python:-python3}")
if [ -z "$python" ]; then
  say "no Python $PYTHON_MIN to $PYTHON_MAX here: asking uv for one"
  "$uv" python install "$PYTHON_MIN" && python=$("$uv" python find "$PYTHON_MIN") ||
    fail "Hearth needs Python $PYTHON_MIN or newer (at most $PYTHON_MAX). Install it (Debian 13 and Ubuntu 24.04 have it as python3; pyenv install $PYTHON_MIN works anywhere) and run make setup again."
fi
UV_COMPILE_BYTECODE=1 "$uv" sync --quiet --frozen --python "$python"
.venv/bin/hearth --help >/dev/null || fail ".venv was made, but .venv/bin/hearth does not start"
echo "$want" >$stamp
say "Python environment: .venv ($("$python" -V 2>&1), uv $UV_VERSION)"
