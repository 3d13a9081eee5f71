#!/usr/bin/env bash
# Python, tools and images: everything that a cluster and the tests need. Tools and images are built side by side.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$HEARTH_ROOT"
. local/podman.sh
. local/branch.sh
. local/beside.sh
choose_branch
start "tools" local/tools.sh
start "Python environment" local/setup.sh
[ "$HEARTH_BRANCH" != build ] || part "Debian packages" local/packages.sh
part "images" images/build.sh
[ "$HEARTH_BRANCH" != build ] || part "node store" local/node/ahead.sh
join "tools" "Python environment"
