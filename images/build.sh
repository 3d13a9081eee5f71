#!/usr/bin/env bash
# build.sh [NAME...]: builds the images of this folder (default: all) under the references IMAGE_… of versions.env, two at a time.
# An image is kept while nothing that goes into it changed: its folder, its root and the versions that its files name.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../local/lib.sh"
. "$here/../local/podman.sh"
. "$here/../local/branch.sh"
choose_branch
[ "$HEARTH_BRANCH" != build ] || "$here/../local/packages.sh"

ref_of() { local variable=IMAGE_${1^^}; variable=${variable//-/_}; [ -n "${!variable:-}" ] && echo "${!variable}"; }
usual_seconds() { case $1 in litellm) echo 150 ;; model-*) echo 60 ;; *) echo 20 ;; esac; }

# The versions that the files of an image name, as KEY=value.
versions_of() {
  local key
  for key in $(sed -n 's/^\([A-Z0-9_]*\)=.*/\1/p' "$HEARTH_ROOT/versions.env"); do
    ! grep -rqw "$key" "$here/$1" || echo "$key=${!key}"
  done
}

# What else goes into an image: paths of the project, one a line.
paths_of() { [ ! -e "$here/$1/inputs" ] || sed "s#^#$HEARTH_ROOT/#" "$here/$1/inputs"; }

build() {
  local name=$1 ref root inputs context
  ref=$(ref_of "$name") || fail "versions.env has no reference for the image $name"
  root=$(sed -n 's/^ARG ROOT=//p' "$here/$name/Containerfile")
  # shellcheck disable=SC2046 # one path a word
  inputs=$( (hash_of "$here/$name" "$here/lib.sh" $(paths_of "$name") && versions_of "$name" && "$here/roots.sh" --ref "$root") | shasum256 | cut -c1-32)
  [ "$("$HEARTH_ENGINE" image inspect --format '{{index .Config.Labels "dev.hearth.inputs"}}' "$ref" 2>/dev/null)" != "$inputs" ] || return 0
  say "image $ref (usually $(usual_seconds "$name") s)"
  context=$(mktemp -d)
  # shellcheck disable=SC2064 # this context, now
  trap "rm -rf '$context'" EXIT
  [ ! -e "$here/$name/prepare.sh" ] || timed "image $name contents" "$here/$name/prepare.sh" "$context"
  "$here/roots.sh" "$root"
  local arguments=(--no-cache --build-arg "ROOT=$("$here/roots.sh" --ref "$root")" --build-arg "POSTGRES_MAJOR=$POSTGRES_MAJOR" --label "dev.hearth.inputs=$inputs")
  [ "$HEARTH_ENGINE" != podman ] || arguments+=(--isolation=chroot --timestamp 0)
  timed "image $name" "$HEARTH_ENGINE" build --quiet "${arguments[@]}" -t "$ref" -f "$here/$name/Containerfile" "$context"
  rm -rf "$context"
}

# The longest first; each in a shell of its own so that its clean-up is its own.
[ $# != 0 ] || set -- litellm model-gemma3-270m llamacpp postgres serve haproxy valkey client
"$here/roots.sh" python base # shared by several
failed=0 running=0
for name in "$@"; do
  locked "image-$name" build "$name" &
  running=$((running + 1))
  if [ $running = 2 ]; then
    wait -n || failed=1
    running=1
  fi
done
while [ $running -gt 0 ]; do
  wait -n || failed=1
  running=$((running - 1))
done
[ $failed = 0 ] || fail "an image was not built"
say "images: all there"
