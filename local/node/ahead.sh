#!/usr/bin/env bash
# What the nodes need and the cluster's tools do not make: their root file systems, and the platform's images in the nodes' store.
# Done while the tools are built; cluster.sh makes the rest, and all of it where this was not run.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
refs=()
for variable in $(compgen -v IMAGE_); do refs+=("${!variable}"); done
"$here/../../images/roots.sh" node iptables
"$here/store.sh" "${refs[@]}"
