#!/usr/bin/env bash
# make up: from a bare machine to an answered request.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$HEARTH_ROOT"
start=$SECONDS

local/prepare.sh
local/cluster.sh
local/deploy.sh
local/ask.sh
say "up after $((SECONDS - start)) s. Your shell, for pulumi and kubectl: . local/env.sh    Take it down: make down"
