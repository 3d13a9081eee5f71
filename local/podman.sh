# shellcheck shell=bash
# Sourced after lib.sh: podman with a store of its own below HEARTH_CACHE, so that neither a user's containers nor
# the machine's defaults meet Hearth's. The images survive `make down`; what belongs to running containers lies
# below /run, which a restored cache never brings along.

podman_environment() {
  local store=$HEARTH_CACHE/podman run
  run=/run/hearth-$(printf %s "$HEARTH_CACHE" | cksum | cut -d' ' -f1)
  mkdir -p "$store"/{storage,volumes,networks} "$run"/{storage,tmp}
  # runc and cgroupfs: crun refuses the hybrid cgroup hierarchy, and nothing here runs systemd on the host.
  # The limits are ones that a process without CAP_SYS_RESOURCE can still be given.
  write_if_changed "$store/containers.conf" <<CONF
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
network_cmd_options = []
tmp_dir = "$run/tmp"
volume_path = "$store/volumes"
num_locks = 2048
[network]
network_backend = "netavark"
network_config_dir = "$store/networks"
[containers]
default_ulimits = ["nofile=20000:20000", "nproc=32768:32768"]
CONF
  write_if_changed "$store/storage.conf" <<CONF
[storage]
driver = "overlay"
graphroot = "$store/storage"
runroot = "$run/storage"
CONF
  export CONTAINERS_CONF=$store/containers.conf CONTAINERS_STORAGE_CONF=$store/storage.conf
  export KIND_EXPERIMENTAL_PROVIDER=podman
}

# image_ids REF...: a line `REF ID` for each of these images, or an error that names those that are not there.
image_ids() {
  local found
  found=$("${HEARTH_ENGINE:-podman}" image inspect --format '{{.Id}}' "$@") || fail "of these images at least one is not there (make images): $*"
  paste -d ' ' <(printf '%s\n' "$@") <(sed 's/^sha256://' <<<"$found")
}

write_if_changed() {
  local content
  content=$(cat)
  [ "$(cat "$1" 2>/dev/null)" != "$content" ] || return 0
  printf '%s\n' "$content" >"$1.$$"
  mv "$1.$$" "$1"
}
