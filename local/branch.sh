# shellcheck shell=bash
# Sourced after lib.sh and podman.sh: the two ways to a local cluster, decided by trying and then remembered.
#   official  a container engine works and the registries answer: plain kind, kindest/node, official binaries
#   build     else: everything is built on this machine from source packages; podman, as root
# HEARTH_TOOLS=official or HEARTH_TOOLS=build decides by hand.

# choose_branch: sets HEARTH_BRANCH and HEARTH_ENGINE (docker or podman), and the engine's environment.
choose_branch() {
  local memory=$HEARTH_CACHE/branch why=""
  if [ -z "${HEARTH_TOOLS:-}" ] && [ -r "$memory" ]; then
    read -r HEARTH_BRANCH HEARTH_ENGINE <"$memory"
  else
    HEARTH_ENGINE=$(working_engine) || HEARTH_ENGINE=
    case ${HEARTH_TOOLS:-} in
      official)
        [ -n "$HEARTH_ENGINE" ] || fail "HEARTH_TOOLS=official needs a working docker or podman"
        HEARTH_BRANCH=official why="HEARTH_TOOLS says so"
        ;;
      build) HEARTH_BRANCH=build why="HEARTH_TOOLS says so" ;;
      "")
        HEARTH_BRANCH=build
        if [ -z "$HEARTH_ENGINE" ]; then why="no container engine answers yet"
        elif ! answers https://registry-1.docker.io/v2/; then why="no image registry answers"
        elif ! answers https://dl.k8s.io/; then why="the official binaries are out of reach"
        else HEARTH_BRANCH=official why="$HEARTH_ENGINE works and the registries answer"; fi
        ;;
      *) fail "HEARTH_TOOLS is official or build, not '$HEARTH_TOOLS'" ;;
    esac
    [ "$HEARTH_BRANCH" = official ] || HEARTH_ENGINE=podman
    if [ "$(cat "$memory" 2>/dev/null)" != "$HEARTH_BRANCH $HEARTH_ENGINE" ]; then
      mkdir -p "$HEARTH_CACHE"
      echo "$HEARTH_BRANCH $HEARTH_ENGINE" >"$memory"
      case $HEARTH_BRANCH in
        official) say "official tools and images with $HEARTH_ENGINE: $why (remembered in $memory)" ;;
        build) say "tools and images are built on this machine: $why (remembered in $memory)" ;;
      esac
    fi
  fi
  export HEARTH_BRANCH HEARTH_ENGINE
  if [ "$HEARTH_BRANCH" = build ]; then
    [ "$(id -u)" = 0 ] || fail "building the local cluster without a registry needs root (its nodes are privileged podman containers); with a network and docker, HEARTH_TOOLS=official does not"
    podman_environment
  elif [ "$HEARTH_ENGINE" = podman ]; then
    export KIND_EXPERIMENTAL_PROVIDER=podman
  fi
}

working_engine() {
  local engine
  for engine in docker podman; do
    if command -v $engine >/dev/null && $engine info >/dev/null 2>&1; then
      echo $engine
      return
    fi
  done
  return 1
}

# Any HTTP answer counts: the registry says 401 to a stranger.
answers() { [ "$(curl --silent --output /dev/null --max-time 5 --write-out "%{http_code}" "$1" || true)" -gt 0 ]; }
