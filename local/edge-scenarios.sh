#!/usr/bin/env bash
# edge-scenarios.sh test [SCENARIO...]   run Molecule's scenarios, all of them when none is named; HEARTH_EDGE_LANES at once,
#                                        as many as there are processors when that is not set; with HEARTH_EDGE_MORE_AFTER,
#                                        a file, all but one of them wait until something else has made it, or until the
#                                        processors have nothing to do
# edge-scenarios.sh bench [HOSTS]        one host and many, as a table for docs/benchmarks.md
# edge-scenarios.sh up | down            start or delete two hosts for trying the playbooks by hand
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
. "$here/podman.sh"
podman_environment
cd "$HEARTH_ROOT"
export PATH=$HEARTH_ROOT/.venv/bin:$PATH PYTHONPYCACHEPREFIX=$HEARTH_CACHE/pycache

# `default` makes the installed hosts that others begin with, and `ollama` beside it needs none of them; of the others the longest
# is first, so that none of them ends alone
ORDER="default ollama upgrade two_endpoints hostile removal rotation plaintext"
IDLE_PERCENT=25 # of all processors
IDLE_SECONDS=10

scenarios() {
  local scenario
  for scenario in $ORDER $(cd molecule && dirname */molecule.yml); do echo "$scenario"; done | awk '!seen[$0]++'
}

# How a scenario begins with the hosts that `default` installed, which is nothing but faster: `true` when these are its own
# endpoints, `other` when it installs others of its own in their place.
begins_installed() { ! "$here/edge-installed.sh" there || sed -n 's/^    installed: \(true\|other\)$/\1/p' "molecule/$1/molecule.yml" | head -n 1; }

# Run Molecule without colours, each line with the second that it came in.
molecule_test() {
  local start=$SECONDS
  set -o pipefail
  NO_COLOR=1 PY_COLORS=0 ANSIBLE_FORCE_COLOR=0 ANSIBLE_NOCOLOR=1 molecule test -s "$1" 2>&1 </dev/null |
    while IFS= read -r line; do printf '%4d %s\n' $((SECONDS - start)) "$line"; done
}

one() {
  local scenario=$1 log status=0
  log=$HEARTH_CACHE/log/molecule-$scenario.log
  mkdir -p "$HEARTH_CACHE/log"
  export HEARTH_EDGE_SKIP=nothing HEARTH_EDGE_INSTALLED_THERE=no
  case $(begins_installed "$scenario") in
    true) HEARTH_EDGE_SKIP=installation HEARTH_EDGE_INSTALLED_THERE=yes ;;
    other) HEARTH_EDGE_INSTALLED_THERE=yes ;;
  esac
  local start=$SECONDS
  molecule_test "$scenario" >"$log" || status=$?
  # Molecule passes a scenario whose tests it does not find
  ! grep -q 'no tests found' "$log" || status=1
  local seconds=$((SECONDS - start))
  if [ "$status" != 0 ]; then
    say "scenario $scenario: failed after $seconds s; the end of $log:"
    tail -n 60 "$log" | sed 's/^/    /'
    return 1
  fi
  say "scenario $scenario: passed in $seconds s ($(phases "$log"))"
  echo "$seconds $scenario" >>"$work/seconds"
}

# The seconds of each phase, out of a log whose lines begin with the second that they came in.
phases() {
  awk '
    / Running | Executing$/ && match($0, /> [a-z_]+/) { name = substr($0, RSTART + 2, RLENGTH - 2); if (name != last) { if (last) print last, $1 - began; last = name; began = $1 } }
    { end = $1 }
    END { if (last) print last, end - began }' "$1" | awk '{printf "%s%s %s", (NR > 1 ? ", " : ""), $1, $2}'
}

# Whether others leave the processors to us. It takes IDLE_SECONDS to say so.
processors_are_idle() {
  local before
  before=$(head -n 1 /proc/stat)
  sleep "$IDLE_SECONDS"
  [ "$(idle_share "$before" "$(head -n 1 /proc/stat)")" -ge "$IDLE_PERCENT" ]
}

# Take the next scenario from the list until it is empty; the lock is held only for that. Any lane but the first may have to
# wait until others need the processors no more.
lane() {
  local next
  until [ "$1" = 1 ] || [ -z "${HEARTH_EDGE_MORE_AFTER:-}" ] || [ -e "$HEARTH_EDGE_MORE_AFTER" ] || [ ! -s "$work/list" ] || processors_are_idle; do :; done
  while next=$(flock "$work/lock" sh -c 'head -n 1 "$1"; sed -i 1d "$1"' take "$work/list") && [ -n "$next" ]; do
    one "$next" || echo "$next" >>"$work/failed"
  done
}

# Nothing that this run started outlives it, whatever ends it.
clean_up() {
  local pid
  trap - EXIT INT TERM HUP
  for pid in $(cat "$work/lanes" 2>/dev/null); do kill -TERM -- "-$pid" 2>/dev/null || true; done
  [ -e "$work/finished" ] || for scenario in $(cat "$work/all"); do
    podman ps --all --quiet --filter "name=^hearth-edge-$scenario-" | xargs -r podman rm --force --time 0 >/dev/null 2>&1 || true
  done
  rm -rf "$work"
}

case ${1:-} in
  test)
    shift
    [ $# -gt 0 ] || set -- $(scenarios)
    for scenario in "$@"; do
      [ -e "molecule/$scenario/molecule.yml" ] || fail "there is no scenario $scenario; those there are: $(scenarios | xargs)"
    done
    # made here, because two scenarios that both find it missing would both make it
    podman network exists hearth-edge || podman network create hearth-edge >/dev/null
    HEARTH_EDGE_INSTALLED=$("$here/edge-installed.sh" key)
    export HEARTH_EDGE_INSTALLED
    work=$(mktemp -d) start=$SECONDS
    printf '%s\n' "$@" | tee "$work/all" >"$work/list"
    trap clean_up EXIT
    trap 'exit 143' INT TERM HUP
    # each lane is a process group of its own, which can be ended with everything in it
    set -m
    for number in $(seq "${HEARTH_EDGE_LANES:-$(nproc)}"); do
      lane "$number" </dev/null &
      echo $! >>"$work/lanes"
    done
    set +m
    wait
    touch "$work/finished"
    [ ! -e "$work/failed" ] || fail "failed after $((SECONDS - start)) s, with their logs above: $(xargs <"$work/failed")"
    say "edge scenarios: $# passed in $((SECONDS - start)) s ($(sort -rn "$work/seconds" | awk '{printf "%s%s %s", (NR > 1 ? ", " : ""), $2, $1}'))"
    ;;
  up | down)
    export MOLECULE_EPHEMERAL_DIRECTORY=$HEARTH_CACHE/edge/local
    if [ "$1" = down ]; then
      timed "container hosts away" molecule destroy -s default
      rm -rf "$MOLECULE_EPHEMERAL_DIRECTORY"
      exit
    fi
    "$here/edge-hosts.sh"
    timed "two container hosts" molecule create -s default
    say "install them: .venv/bin/ansible-playbook -i inventories/local playbooks/edge.yml"
    say "the CA: $MOLECULE_EPHEMERAL_DIRECTORY/site/trust/edge-ca.v1.pem; tokens: $MOLECULE_EPHEMERAL_DIRECTORY/state/credentials/"
    ;;
  bench)
    shift
    exec python -m tests.bench.edge_fleet "$@"
    ;;
  *) fail "test, up, down or bench" ;;
esac
