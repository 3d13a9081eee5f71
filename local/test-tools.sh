#!/usr/bin/env bash
# test-tools.sh [NAME...]: the real programs that tests/wire starts on loopback, each kept below HEARTH_CACHE under a hash of what
# made it, and linked from .tools/ of this checkout, where the tests look. Default: all of them. What no run used for two weeks goes.
#   litellm-image, litellm-published   LiteLLM of the image built here, and of the published image: a virtual environment each
#   postgres, valkey                   its database and its cache
#   clients                            the libraries of tests/clients/node
#   haproxy-SERIES                     HAProxy, one for each HAPROXY_…_DEBIAN of versions.env
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
store=$HEARTH_CACHE/test-tools
mkdir -p "$store" "$HEARTH_ROOT/.tools"

# keep NAME INPUTS SCRIPT ARGUMENT...: runs `SCRIPT FOLDER ARGUMENT...` unless that was done; a second caller waits for the first.
keep() {
  local name=$1 hash folder script=$3
  hash=$(printf %s "$2" | shasum256 | cut -c1-12)
  folder=$store/$name-$hash
  shift 3
  (
    flock 9
    if [ ! -e "$folder/.complete" ]; then
      rm -rf "$folder"
      timed "test tool $name" "$script" "$folder" "$@" 9>&-
    fi
    kept "$store" "$name" "$hash"
  ) 9>"$store/$name.lock"
  ln -sfn "$folder" "$HEARTH_ROOT/.tools/$name"
}

keep_litellm() { # NAME REQUIREMENTS
  local script=$here/test-tools/litellm.sh inputs
  inputs="$store $IMAGES_PYTHON $(hash_of "$script" "$2" "$HEARTH_ROOT"/images/litellm/{engine,prisma,litellm,database.sh})"
  keep "$1" "$inputs" "$script" "$2"
}

keep_postgres() {
  local script=$here/test-tools/postgres.sh node=$HEARTH_ROOT/.tools/litellm-image
  [ -e "$node/.complete" ] || keep_litellm litellm-image "$HEARTH_ROOT/images/litellm/requirements.txt"
  keep postgres "$(uname -m) $(hash_of "$script" "$here/test-tools/postgres")" "$script" "$node"
}

keep_clients() {
  local script=$here/test-tools/clients.sh node=$HEARTH_ROOT/.tools/litellm-image
  [ -e "$node/.complete" ] || keep_litellm litellm-image "$HEARTH_ROOT/images/litellm/requirements.txt"
  keep clients "$(uname -m) $(hash_of "$script" "$HEARTH_ROOT"/tests/clients/node/package*.json)" "$script" "$node"
}

keep_valkey() {
  local image=$HEARTH_ROOT/images/valkey
  keep valkey "$(uname -m) $(hash_of "$image/prepare.sh" "$image/requirements.txt" "$HEARTH_ROOT/images/lib.sh")" "$image/prepare.sh"
}

haproxy_series() { sed -nE 's/^HAPROXY_([0-9]+)_([0-9]+)_DEBIAN=.*/\1.\2/p' "$HEARTH_ROOT/versions.env"; }
keep_haproxy() { # SERIES
  local script=$here/test-tools/haproxy.sh debian=HAPROXY_${1/./_}_DEBIAN root
  [ -n "${!debian:-}" ] || fail "versions.env names no Debian with HAProxy $1"
  root=haproxy-${!debian}
  [ "${!debian}" != "$IMAGES_DEBIAN" ] || root=haproxy # which the image stands on
  keep "haproxy-$1" "$(uname -m) $(hash_of "$script") $("$HEARTH_ROOT/images/roots.sh" --ref "$root")" "$script" "$1" "$root"
}

if [ $# = 0 ]; then
  # two at a time: the first row mostly downloads and compiles, the second mostly unpacks
  "$0" litellm-image litellm-published &
  # shellcheck disable=SC2046 # names without spaces
  "$0" valkey $(haproxy_series | sed 's/^/haproxy-/') postgres clients || failed=1
  wait $! || failed=1
  [ -z "${failed:-}" ] || fail "a program for the tests is missing; what is above says why"
  say "test tools: all there"
  exit
fi
for name in "$@"; do
  case $name in
    litellm-image) keep_litellm "$name" "$HEARTH_ROOT/images/litellm/requirements.txt" ;;
    litellm-published) keep_litellm "$name" "$here/test-tools/litellm-published/requirements.txt" ;;
    postgres) keep_postgres ;;
    clients) keep_clients ;;
    valkey) keep_valkey ;;
    haproxy-*) keep_haproxy "${name#haproxy-}" ;;
    *) fail "no test tool is called $name" ;;
  esac
done
