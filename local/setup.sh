#!/usr/bin/env bash
# Makes .venv with everything that is Python, from pyproject.toml and uv.lock. Changes nothing when nothing changed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$HEARTH_ROOT"

# Interpreters are tried by running them: a pyenv shim is on PATH for versions that it then refuses to start.
suits() {
  "$1" -c "import sys; sys.exit(not ((${PYTHON_MIN/./,}) <= sys.version_info[:2] <= (${PYTHON_MAX/./,})))" >/dev/null 2>&1
}
find_python() {
  local minor candidate
  for minor in 14 13 12; do
    suits "python3.$minor" && { command -v "python3.$minor"; return; }
  done
  suits python3 && { command -v python3; return; }
  for minor in 14 13 12; do
    for candidate in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3."$minor".*/bin/python3."$minor"; do
      suits "$candidate" && { echo "$candidate"; return; }
    done
  done
  return 1
}

# uv of the pinned version: from PATH, else from a virtual environment outside the tree.
find_uv() {
  local home=$HEARTH_CACHE/uv-$UV_VERSION base=$1
  if [ "$(uv --version 2>/dev/null | cut -d' ' -f2)" = "$UV_VERSION" ]; then
    command -v uv
    return
  fi
  if ! "$home/bin/uv" --version >/dev/null 2>&1; then
    say "installing uv $UV_VERSION into $home" >&2
    rm -rf "$home"
    mkdir -p "$HEARTH_CACHE"
    "$base" -m venv "$home" >&2 || fail "$base cannot make a virtual environment: install its venv module (Debian: apt-get install python3-venv)"
    "$home/bin/python" -m pip install --quiet --disable-pip-version-check "uv==$UV_VERSION" >&2
  fi
  echo "$home/bin/uv"
}

python=$(find_python) || python=
uv=$(find_uv "${python:-python3}")
if [ -z "$python" ]; then
  say "no Python $PYTHON_MIN to $PYTHON_MAX here: asking uv for one"
  "$uv" python install "$PYTHON_MIN" && python=$("$uv" python find "$PYTHON_MIN") ||
    fail "Hearth needs Python $PYTHON_MIN or newer (at most $PYTHON_MAX). Install it (Debian 13 and Ubuntu 24.04 have it as python3; pyenv install $PYTHON_MIN works anywhere) and run make setup again."
fi
UV_COMPILE_BYTECODE=1 "$uv" sync --quiet --frozen --python "$python"
.venv/bin/hearth --help >/dev/null || fail ".venv was made, but .venv/bin/hearth does not start"
say "Python environment: .venv ($("$python" -V 2>&1), uv $UV_VERSION)"
