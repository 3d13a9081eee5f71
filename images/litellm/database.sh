# shellcheck shell=bash
# Sourced: LiteLLM's way to its database without Prisma's native programs, the same in the image and on a test machine.

# install_engine FOLDER: the query engine with its packages; npm is on PATH.
install_engine() {
  cp -r "$(dirname "${BASH_SOURCE[0]}")/engine" "$1"
  (cd "$1" && npm ci --ignore-scripts --no-audit --no-fund --silent)
}

# generate_client ENVIRONMENT ENGINE SCHEMA: the generated code of the database client, into the package `prisma` of a virtual
# environment. Naming the engine's programs keeps the generator from downloading native ones.
generate_client() {
  local home status=0
  home=$(mktemp -d)
  PATH=$1/bin:$PATH HOME=$home PRISMA_QUERY_ENGINE_BINARY=$2/query-engine PRISMA_SCHEMA_ENGINE_BINARY=$2/query-engine \
    "$1/bin/python" -m prisma generate --schema "$3" || status=$?
  rm -rf "$home"
  return $status
}
