#!/usr/bin/env bash
# The tools of the local cluster and Pulumi, into HEARTH_CACHE: official binaries, or our own builds (branch.sh decides).
# `tools.sh cluster` and `tools.sh pulumi` build one half; official binaries come as a whole.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
. "$here/podman.sh"
. "$here/branch.sh"
choose_branch
if [ "$HEARTH_BRANCH" = official ]; then
  "$here/tools/official.sh"
else
  [ "${1:-cluster}" != cluster ] || "$here/tools/build.sh" cluster
  [ "${1:-pulumi}" != pulumi ] || "$here/tools/build.sh" pulumi
fi
say "tools: ${1:-all} there"
