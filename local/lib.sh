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
# COMMAND may be a function of several steps: the first that fails ends it. (Behind `||` bash would go on.)
timed() {
  local what=$1 start=$EPOCHSECONDS log status
  shift
  log=$HEARTH_CACHE/log/$(printf %s "$what" | tr -c 'A-Za-z0-9.\n' '-').log
  mkdir -p "$HEARTH_CACHE/log"
  set +e
  (set -e; "$@") >"$log" 2>&1
  status=$?
  set -e
  if [ "$status" != 0 ]; then
    say "$what: failed after $((EPOCHSECONDS - start)) s; the end of $log:"
    tail -n 30 "$log" | sed 's/^/    /'
    return "$status"
  fi
  say "$what: done in $((EPOCHSECONDS - start)) s"
  note_phase "$start" "$what"
}

# note_phase START WHAT: adds to the file HEARTH_PHASES, where there is one, that WHAT took the time from START (a date in seconds) till now.
note_phase() { [ -z "${HEARTH_PHASES:-}" ] || printf '%s %s %s\n' "$1" "$EPOCHSECONDS" "$2" >>"$HEARTH_PHASES"; }

# locked NAME COMMAND...: run it while nobody else has NAME in this HEARTH_CACHE. The lock is the kernel's: COMMAND's own children hold it
# too, and it is gone with the last of them, however they end, so that what a killed run left behind is not built a second time beside it.
# `locked --alone NAME`: the children do not hold it, for a COMMAND that leaves processes behind.
locked() {
  local alone="" lock descriptor status
  [ "$1" != --alone ] || { alone=yes && shift; }
  lock=$HEARTH_CACHE/lock/$1
  shift
  mkdir -p "${lock%/*}"
  exec {descriptor}>>"$lock"
  if ! flock --nonblock "$descriptor"; then
    say "waiting for another run, which holds $lock" >&2
    flock "$descriptor"
  fi
  set +e
  (
    set -e
    [ -z "$alone" ] || exec {descriptor}>&-
    "$@"
  )
  status=$?
  set -e
  exec {descriptor}>&-
  return "$status"
}

# hash_of PATH...: one SHA-256 over the names and contents of files and folders.
hash_of() {
  local path
  for path in "$@"; do
    if [ -d "$path" ]; then
      (cd "$path" && find . -type f -not -path "*/__pycache__/*" | LC_ALL=C sort | while read -r file; do shasum256 "$file"; done)
    else
      shasum256 "$path" | sed "s#$HEARTH_ROOT/##"
    fi
  done | shasum256 | cut -d' ' -f1
}
shasum256() { if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi; }

# kept STORE NAME HASH: says that STORE/NAME-HASH was used now, and deletes what NAME was under other hashes two weeks ago and longer:
# another checkout may still use a younger one.
kept() {
  local mark
  touch "$1/$2-$3/.complete"
  for mark in "$1/$2"-????????????/.complete; do
    [ -z "$(find "$mark" -mtime +13)" ] || rm -rf "${mark%/*}"
  done
}

# idle_share BEFORE AFTER: the share of the processors' time that was idle between two first lines of /proc/stat, in percent.
idle_share() {
  printf '%s\n' "$1" "$2" | awk '{ all = 0; for (i = 2; i <= 9; i++) all += $i; idle[NR] = $5; total[NR] = all }
    END { spent = total[2] - total[1]; print (spent > 0 ? int(100 * (idle[2] - idle[1]) / spent) : 0) }'
}
