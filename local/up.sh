#!/usr/bin/env bash
# make up: from a bare machine to an answered request. What does not need another part's result is made beside it: images and Python
# beside the cluster's tools, Pulumi beside the cluster. The seconds of each part stand at the end.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$HEARTH_ROOT"
. local/podman.sh
. local/branch.sh
. local/beside.sh
began=$EPOCHSECONDS
HEARTH_PHASES=$(mktemp)
export HEARTH_PHASES
trap 'end_parts; rm -f "$HEARTH_PHASES"' EXIT

# Images, and on the nodes' disks before there are nodes.
images_and_stores() {
  images/build.sh
  [ "$HEARTH_BRANCH" != build ] || part "node store" local/node/ahead.sh
}

choose_branch
start "tools of the cluster" local/tools.sh cluster
start "Python environment" local/setup.sh
[ "$HEARTH_BRANCH" != build ] || part "Debian packages" local/packages.sh
start "images" images_and_stores
join "tools of the cluster"
start "Pulumi" nice local/tools.sh pulumi
join "images"
part "cluster" local/cluster.sh
join "Python environment" "Pulumi"
part "deployment" local/deploy.sh
part "qualification" local/qualify.sh
part "question" local/ask.sh

say "seconds of each part (those that began before another ended went on side by side):"
sort -n "$HEARTH_PHASES" | while read -r from to what; do
  [ "$from" = "$to" ] || printf '  %5d s, from second %4d: %s\n' $((to - from)) $((from - began)) "$what"
done
say "up after $((EPOCHSECONDS - began)) s. Your shell, for pulumi and kubectl: . local/env.sh    Take it down: make down"
