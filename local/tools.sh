#!/usr/bin/env bash
# The tools of the local cluster and Pulumi, into HEARTH_CACHE: official binaries, or our own builds (branch.sh decides).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
. "$here/podman.sh"
. "$here/branch.sh"
choose_branch
if [ "$HEARTH_BRANCH" = official ]; then
  "$here/tools/official.sh"
else
  "$here/packages.sh"
  "$here/tools/build.sh" kubernetes kind cni etcd coredns local-path kube-router pulumi
fi
say "tools: all there"
