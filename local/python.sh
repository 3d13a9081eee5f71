# shellcheck shell=bash
# Sourced after lib.sh: finds a Python that Hearth runs on, and uv.

# Interpreters are tried by running them: a pyenv shim is on PATH for versions that it then refuses to start.
suits() {
  "$1" -c "import sys; sys.exit(not ((${PYTHON_MIN/./,}) <= sys.version_info[:2] <= (${PYTHON_MAX/./,})))" >/dev/null 2>&1
}
path_of() { "$1" -c "import sys; print(sys.executable)"; }
# find_python [MINOR]: the path of a Python that Hearth runs on; with MINOR, of 3.MINOR.
find_python() {
  local minor candidate minors=${1:-14 13 12}
  for minor in $minors; do
    suits "python3.$minor" && { path_of "python3.$minor"; return; }
  done
  [ -n "${1:-}" ] || ! suits python3 || { path_of python3; return; }
  for minor in $minors; do
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
  locked uv install_uv "$base" "$home" >&2
  echo "$home/bin/uv"
}
install_uv() { # install_uv PYTHON FOLDER, unless it is there
  ! "$2/bin/uv" --version >/dev/null 2>&1 || return 0
  say "installing uv $UV_VERSION into $2"
  rm -rf "$2"
  mkdir -p "$HEARTH_CACHE"
  "$1" -m venv "$2" || fail "$1 cannot make a virtual environment: install its venv module (Debian: apt-get install python3-venv)"
  "$2/bin/python" -m pip install --quiet --disable-pip-version-check "uv==$UV_VERSION"
}
