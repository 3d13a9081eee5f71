# shellcheck shell=bash
# Sourced by every script of local/ and images/: the pinned versions, the folders, and how progress is said.
# Environment: HEARTH_CACHE (default ~/.cache/hearth), HEARTH_CLUSTER (default hearth).

HEARTH_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
HEARTH_CACHE=${HEARTH_CACHE:-$HOME/.cache/hearth}
HEARTH_CLUSTER=${HEARTH_CLUSTER:-hearth}
export HEARTH_CACHE HEARTH_CLUSTER
set -a
# shellcheck source=../versions.env
. "$HEARTH_ROOT/versions.env"
set +a

say() { printf '%s %s\n' "$(date +%H:%M:%S)" "$*"; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# timed WHAT COMMAND...: run it with its output in a log file; say how long it took, or show the log's end.
timed() {
  local what=$1 start=$SECONDS log status=0
  shift
  log=$HEARTH_CACHE/log/$(printf %s "$what" | tr -c 'A-Za-z0-9.\n' '-').log
  mkdir -p "$HEARTH_CACHE/log"
  "$@" >"$log" 2>&1 || status=$?
  if [ "$status" != 0 ]; then
    say "$what: failed after $((SECONDS - start)) s; the end of $log:"
    tail -n 30 "$log" | sed 's/^/    /'
    return "$status"
  fi
  say "$what: done in $((SECONDS - start)) s"
}

# hash_of PATH...: one SHA-256 over the names and contents of files and folders.
hash_of() {
  local path
  for path in "$@"; do
    if [ -d "$path" ]; then
      (cd "$path" && find . -type f | LC_ALL=C sort | while read -r file; do shasum256 "$file"; done)
    else
      shasum256 "$path" | sed "s#$HEARTH_ROOT/##"
    fi
  done | shasum256 | cut -d' ' -f1
}
shasum256() { if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi; }
