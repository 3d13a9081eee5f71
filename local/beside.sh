# shellcheck shell=bash
# Sourced after lib.sh: parts of a run that go on side by side, each in a process group of its own that ends with this shell.
declare -A beside=()

# part NAME COMMAND...: run it, and note how long it took.
part() {
  local from=$EPOCHSECONDS
  "${@:2}"
  note_phase "$from" "$1"
}

# start NAME COMMAND...: the same in the background; `join NAME...` waits for it, and stops when it failed.
start() {
  set -m
  part "$@" &
  beside[$1]=$!
  set +m
}
join() {
  local name failed=""
  for name in "$@"; do
    wait "${beside[$name]}" || failed+=", $name"
    unset "beside[$name]"
  done
  [ -z "$failed" ] || fail "failed: ${failed#, }; what is above says why. The same command goes on where it stopped"
}

end_parts() {
  local group
  for group in "${beside[@]}"; do kill -TERM -- "-$group" 2>/dev/null || true; done
}
trap end_parts EXIT
