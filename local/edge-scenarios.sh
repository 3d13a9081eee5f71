#!/usr/bin/env bash
# edge-scenarios.sh test [SCENARIO...]   run Molecule's scenarios, all of them when none is named; HEARTH_EDGE_LANES at once,
#                                        as many as there are processors when that is not set
# edge-scenarios.sh bench [HOSTS]        one host and many, as a table for docs/benchmarks.md
# edge-scenarios.sh up | down            start or delete two hosts for trying the playbooks by hand
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
. "$here/podman.sh"
podman_environment
cd "$HEARTH_ROOT"
export PATH=$HEARTH_ROOT/.venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1

case ${1:-} in
  test)
    shift
    # backwards, because the long ones are late in the alphabet and would end alone
    [ $# -gt 0 ] || set -- $(cd molecule && for folder in */molecule.yml; do dirname "$folder"; done | sort -r)
    for scenario in "$@"; do
      [ -e "molecule/$scenario/molecule.yml" ] || fail "there is no scenario $scenario; those there are: $(cd molecule && dirname */molecule.yml | xargs)"
    done
    # made here, because two scenarios that both find it missing would both make it
    podman network exists hearth-edge || podman network create hearth-edge >/dev/null
    printf '%s\n' "$@" | xargs -n 1 -P "${HEARTH_EDGE_LANES:-$(nproc)}" "$here/edge-scenarios.sh" one || fail "a scenario failed; its name and log are above"
    ;;
  one)
    timed "molecule test -s $2" molecule test -s "$2"
    ;;
  up | down)
    export MOLECULE_EPHEMERAL_DIRECTORY=$HEARTH_CACHE/edge/local
    if [ "$1" = down ]; then
      timed "container hosts away" molecule destroy -s default
      rm -rf "$MOLECULE_EPHEMERAL_DIRECTORY"
      exit
    fi
    "$here/edge-images.sh"
    "$here/edge-runtimes.sh"
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
