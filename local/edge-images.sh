#!/usr/bin/env bash
# The hosts that the Molecule scenarios install: Debian 12 and Debian 13 with systemd, an SSH server and Python, nothing else.
# Made of Debian packages by mmdebstrap from the machine's own apt sources, because such an image has to be bootable and is
# on no registry. Ubuntu 24.04 is made only where EDGE_UBUNTU_MIRROR names an archive that can be reached.
# `edge-images.sh --ref NAME` prints the reference of debian12, debian13 or ubuntu2404 and builds nothing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
. "$here/podman.sh"

# What a fresh server has: the roles install the rest themselves.
PACKAGES=systemd,systemd-sysv,dbus,libnss-systemd,openssh-server,python3,ca-certificates,iproute2,procps,sudo

suite_of() {
  case $1 in
    debian12) echo bookworm ;;
    debian13) echo trixie ;;
    ubuntu2404) echo noble ;;
    *) fail "no host image is called $1" ;;
  esac
}

# Written into the root: the entry point makes the container's cgroups usable for the systemd that follows.
init_script() {
  cat <<'INIT'
#!/bin/sh
# A host with cgroup v2 alone needs nothing. On a hybrid one, systemd up to 255 gets its own v1 hierarchies writable and
# a later one, which refuses v1, gets the v2 hierarchy alone (without controllers).
if [ -d /sys/fs/cgroup/systemd ]; then
  if [ "$(/usr/lib/systemd/systemd --version | sed -n '1s/systemd \([0-9]*\).*/\1/p')" -ge 256 ]; then
    umount -R /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup
  else
    for mount in $(awk '$9=="cgroup"||$9=="cgroup2"||$8=="cgroup"{print $5}' /proc/self/mountinfo); do
      mount -o remount,rw,bind "$mount" 2>/dev/null || mount -o remount,rw "$mount"
    done
  fi
fi
ssh-keygen -A >/dev/null
exec /sbin/init
INIT
}

customize() { # in the new root $1
  cd "$1"
  printf '%s\n' "$INIT" >usr/local/sbin/container-init
  chmod 755 usr/local/sbin/container-init
  # kernel log and consoles belong to the machine; the audit socket does not exist here
  rm -rf etc/systemd/system/getty.target.wants etc/machine-id
  ln -sf /dev/null etc/systemd/system/systemd-journald-audit.socket
  ln -sf /dev/null etc/systemd/system/systemd-udevd.service
  ln -sf /dev/null etc/systemd/system/console-getty.service
  touch etc/machine-id
  # every container has host keys of its own
  rm -f etc/ssh/ssh_host_*
  mkdir -p root/.ssh
  chmod 700 root/.ssh
  rm -rf var/lib/apt/lists/* var/cache/apt/* etc/resolv.conf
}

# The machine's own Debian sources with the wanted suite in place of its own.
sources() {
  local file=/etc/apt/sources.list.d/debian.sources own
  if [ "$1" = noble ]; then
    printf 'deb %s noble main universe\ndeb %s noble-updates main universe\n' "$EDGE_UBUNTU_MIRROR" "$EDGE_UBUNTU_MIRROR"
    return
  fi
  own=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  [ ! -e "$file" ] || [ -z "$own" ] || sed "s/\b$own\b/$1/g" "$file"
}

ref() { echo "localhost/hearth/edge-$1:$(printf '%s\n' "$(suite_of "$1") $PACKAGES" "$(declare -f init_script customize)" | shasum256 | cut -c1-12)"; }

build() {
  local ref suite hook list
  ref=$(ref "$1") suite=$(suite_of "$1")
  podman image exists "$ref" && return
  say "host image $1: $suite by mmdebstrap (usually 1 min)"
  hook=$(mktemp)
  # shellcheck disable=SC2016 # $1 is the hook's own
  printf '#!/bin/bash\nset -eu\nINIT=%q\n%s\ncustomize "$1"\n' "$(init_script)" "$(declare -f customize)" >"$hook"
  chmod +x "$hook"
  list=$(sources "$suite")
  import() {
    mmdebstrap --quiet --mode=root --variant=minbase --aptopt=APT::Install-Recommends=false \
      --dpkgopt=path-exclude=/usr/share/man/* --dpkgopt=path-exclude=/usr/share/doc/* --dpkgopt=path-exclude=/usr/share/locale/* \
      --include="$PACKAGES" --customize-hook="$hook" "$suite" - ${list:+-} <<<"$list" |
      podman import --quiet --change 'ENTRYPOINT ["/usr/local/sbin/container-init"]' --change STOPSIGNAL=SIGRTMIN+3 - "$ref"
  }
  timed "host image $1" import
  rm -f "$hook"
}

if [ "${1:-}" = --ref ]; then
  ref "$2"
  exit
fi
"$here/packages.sh"
podman_environment
build debian12
build debian13
if [ -n "${EDGE_UBUNTU_MIRROR:-}" ]; then build ubuntu2404; else say "host image ubuntu2404: left out (EDGE_UBUNTU_MIRROR names no archive)"; fi
