#!/usr/bin/env bash
# start.sh PREFIX NETWORK FOLDER CACHE REPOSITORY INSTALLED: start container hosts, and wait until each answers on its SSH port.
# Standard input has a line for each host: its name, its image, and further words for `podman run`. FOLDER gets the key of the
# connections and the folders of the project; with INSTALLED `yes` the hosts are those that scenario `default` installed
# (local/edge-installed.sh), and FOLDER gets the authority and the tokens that belong to them.
# Prints the network's range, its gateway, and each host's address, as JSON.
# One program, because a module for each step takes most of a scenario's start.
set -euo pipefail
prefix=$1 network=$2 folder=$3 cache=$4 repository=$5 installed=$6

[ -e "$folder/id" ] || ssh-keygen -q -t ed25519 -N "" -f "$folder/id"
mkdir -p "$folder/site/stacks"
podman network exists "$network" || podman network create "$network" >/dev/null
[ "$installed" != yes ] || "$repository/local/edge-installed.sh" site "$folder"

names=()
while read -r name image more; do
  [ -n "$name" ] || continue
  if [ "$installed" = yes ]; then reference=$("$repository/local/edge-installed.sh" image "$image"); else reference=$("$repository/local/edge-images.sh" --ref "$image"); fi
  # Few CPU shares: beside a cluster, hosts take what its nodes leave, however low the priority of this process is.
  # systemd is PID 1 without podman's own preparation, which expects a host with systemd
  # shellcheck disable=SC2086 # further words
  podman run --detach --name="$prefix-${name%%.*}" --hostname="${name%%.*}" --network="$network" --network-alias="$name" \
    --systemd=false --cgroupns=private --cpu-shares=256 \
    --cap-add=SYS_ADMIN,NET_ADMIN,SYS_NICE,SYS_PTRACE,NET_RAW,SYSLOG,IPC_LOCK,AUDIT_WRITE,BPF,PERFMON \
    --security-opt=unmask=ALL --security-opt=seccomp=unconfined \
    --tmpfs=/run --tmpfs=/run/lock --tmpfs=/tmp:rw,exec,mode=1777 \
    --volume="$folder/id.pub:/root/.ssh/authorized_keys:ro" --volume="$cache/model.gguf:/srv/models/model.gguf:ro" \
    $more "$reference" >/dev/null </dev/null
  names+=("$name")
done

says_ssh() { timeout 5 bash -c "exec 3<>/dev/tcp/$1/22 && read -r -t 5 line <&3 && [[ \$line == *OpenSSH* ]]" 2>/dev/null; }

addresses=
for name in "${names[@]}"; do
  address=$(podman inspect --format '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' "$prefix-${name%%.*}")
  for attempt in $(seq 300); do
    ! says_ssh "$address" || break
    [ "$attempt" -lt 300 ] || { echo "$name: no SSH server answers at $address" >&2 && exit 1; }
    sleep 0.2
  done
  addresses+="${addresses:+, }\"$name\": \"$address\""
done
podman network inspect "$network" --format '{{(index .Subnets 0).Subnet}} {{(index .Subnets 0).Gateway}}' | {
  read -r range gateway
  echo "{\"range\": \"$range\", \"gateway\": \"$gateway\", \"addresses\": {$addresses}}"
}
