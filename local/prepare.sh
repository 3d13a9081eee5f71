#!/usr/bin/env bash
# Python, tools and images: everything that a cluster and the tests need. Tools and images are built side by side.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$HEARTH_ROOT"
local/setup.sh
. local/podman.sh
. local/branch.sh
choose_branch
[ "$HEARTH_BRANCH" != build ] || local/packages.sh
local/tools.sh &
tools=$!
images/build.sh &
images=$!
failed=0
wait $tools || failed=1
wait $images || failed=1
[ $failed = 0 ] || fail "a tool or an image was not built; what is above says why. Run the same command again to go on"
