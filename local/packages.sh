#!/usr/bin/env bash
# Installs the Debian packages that building and running the local cluster and the edge scenarios need, and only those that are missing.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

install_missing() {
  # program:package
  local pair helper missing="" needed
  needed="podman:podman runc:runc mmdebstrap:mmdebstrap iptables:iptables nft:nftables ipset:ipset conntrack:conntrack
newuidmap:uidmap musl-gcc:musl-tools gcc:gcc node:nodejs npm:npm curl:curl ip:iproute2
ssh:openssh-client openssl:openssl systemd-analyze:systemd"
  for pair in $needed; do
    command -v "${pair%%:*}" >/dev/null || PATH=$PATH:/usr/sbin:/sbin command -v "${pair%%:*}" >/dev/null || missing+=" ${pair##*:}"
  done
  # netavark and aardvark-dns are helpers that podman starts, not programs on PATH
  for helper in netavark aardvark-dns; do
    [ -x "/usr/lib/podman/$helper" ] || [ -x "/usr/libexec/podman/$helper" ] || missing+=" $helper"
  done
  [ -n "$missing" ] || return 0
  command -v apt-get >/dev/null || fail "these are missing and only Debian's apt-get is known here:$missing"
  [ "$(id -u)" = 0 ] || fail "run this once as root: apt-get install --no-install-recommends$missing"
  say "installing Debian packages:$missing"
  export DEBIAN_FRONTEND=noninteractive
  timed "apt-get update" apt-get update -q
  # shellcheck disable=SC2086 # a list of names
  timed "apt-get install" apt-get install -q -o DPkg::Lock::Timeout=600 -y --no-install-recommends $missing
}
locked packages install_missing
