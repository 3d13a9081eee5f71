#!/usr/bin/env bash
# make test-upgrade: an older version deploys the local environment in a cluster of its own, this one updates it and takes it down.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$HEARTH_ROOT"
[ "$HEARTH_CLUSTER" != hearth ] || export HEARTH_CLUSTER=hearth-upgrade
local/setup.sh
. local/podman.sh
. local/branch.sh
choose_branch
[ "$HEARTH_BRANCH" != build ] || local/packages.sh
local/tools.sh
say "updating an environment of an older version (about eight minutes)"
.venv/bin/pytest -q -s tests/upgrade
