#!/usr/bin/env bash
# roots.sh NAME...: the root file systems that the images stand on, as images localhost/hearth/root-NAME:<hash of its recipe>.
# With a registry they are Debian's image and apt-get; without one, Debian packages by mmdebstrap from the machine's own apt sources.
# NAME: base, python, haproxy, postgres (Debian of IMAGES_DEBIAN); node, iptables (Debian of NODE_DEBIAN, for the cluster);
# haproxy-SUITE (for the tests).
# `roots.sh --ref NAME` prints the reference and builds nothing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../local/lib.sh"
. "$here/../local/podman.sh"
. "$here/../local/branch.sh"

BASE=libc6,libc-bin,dash,coreutils,ca-certificates,tzdata,base-files,netbase
IPTABLES=iptables,nftables,ipset,conntrack,kmod,iproute2
# Each container of the platform runs as a number of its own; PostgreSQL insists on finding that number in passwd.
USERS="litellm:10001 postgres:10002 valkey:10003 haproxy:10004 llama:10005 client:20001"

describe() { # sets suite, variant, packages, options
  suite=$IMAGES_DEBIAN variant=extract options=()
  case $1 in
    base) packages=$BASE ;;
    python) packages=$BASE,python3,libgomp1,libstdc++6,libexpat1,zlib1g,libffi8,libsqlite3-0,curl ;;
    haproxy) packages=$BASE,haproxy ;;
    # only for tests: a mirror may lag behind a Debian that is not released, and signatures are checked all the same
    haproxy-*) suite=${1#haproxy-} packages=$BASE,haproxy options=(--aptopt='Acquire::Check-Valid-Until "false"') ;;
    postgres) packages=$BASE,postgresql-$POSTGRES_MAJOR,postgresql-client-$POSTGRES_MAJOR ;;
    iptables) suite=$NODE_DEBIAN packages=$BASE,$IPTABLES,mount ;;
    node) suite=$NODE_DEBIAN variant=essential packages=systemd,systemd-sysv,libnss-systemd,dbus,$IPTABLES,ethtool,util-linux,mount,e2fsprogs,ca-certificates,curl,jq,procps,socat,containerd,runc,containernetworking-plugins,netbase ;;
    *) fail "no root is called $1" ;;
  esac
}

# After unpacking: what the maintainer scripts of the packages would have done, and less to carry about.
finish_extracted() {
  cd "$1"
  ln -sf dash bin/sh
  mkdir -p etc/ssl/certs tmp run var/tmp
  chmod 1777 tmp var/tmp
  (cd usr/share/ca-certificates && find . -name '*.crt' | LC_ALL=C sort | xargs cat) >etc/ssl/certs/ca-certificates.crt
  {
    echo "root:x:0:0:root:/root:/bin/sh"
    for user in $USERS; do echo "${user%:*}:x:${user#*:}:${user#*:}::/tmp:/bin/sh"; done
    echo "nobody:x:65534:65534::/nonexistent:/bin/false"
  } >etc/passwd
  { echo "root:x:0:"; for user in $USERS; do echo "${user%:*}:x:${user#*:}:"; done; echo "nogroup:x:65534:"; } >etc/group
  printf 'hosts: files dns\npasswd: files\ngroup: files\n' >etc/nsswitch.conf
  if [ -e usr/sbin/xtables-legacy-multi ]; then
    for name in ip{,6}tables{,-save,-restore}; do ln -sf xtables-legacy-multi "usr/sbin/$name"; done
  fi
  rm -rf usr/share/{doc,man,locale,info,lintian,bash-completion,i18n} usr/share/perl* usr/bin/perl* usr/lib/*/perl* usr/lib/*/gconv \
    usr/lib/*/libLLVM* usr/lib/llvm* usr/lib/postgresql/*/lib/bitcode usr/lib/postgresql/*/lib/llvmjit* \
    var/lib/apt/* var/cache/apt/* var/lib/dpkg etc/resolv.conf
}
finish_essential() {
  cd "$1"
  rm -rf var/lib/apt/lists/* var/cache/apt/* var/log/* etc/resolv.conf
}

# The machine's own Debian sources with the wanted suite in place of its own; mmdebstrap's default mirror where there are none.
sources() {
  local file=/etc/apt/sources.list.d/debian.sources own
  own=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  [ ! -e "$file" ] || [ -z "$own" ] || sed "s/\b$own\b/$1/g" "$file"
}

ref() {
  local suite variant packages options
  describe "$1"
  echo "localhost/hearth/root-$1:$(printf '%s\n' "$suite $variant $packages $USERS" "$(declare -f finish_extracted finish_essential)" | shasum256 | cut -c1-12)"
}

install_on_debian_image() { # SUITE PACKAGES REF
  local user users=""
  for user in $USERS; do users+=" && echo '${user%:*}:x:${user#*:}:${user#*:}::/tmp:/bin/sh' >>/etc/passwd && echo '${user%:*}:x:${user#*:}:' >>/etc/group"; done
  "$HEARTH_ENGINE" build --quiet -t "$3" - <<FILE
FROM docker.io/library/debian:$1-slim
RUN apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends ${2//,/ } \\
 && rm -rf /var/lib/apt/lists/* $users
FILE
}

make_root() {
  local name=$1 ref suite variant packages options hook list
  ref=$(ref "$name")
  describe "$name"
  "$HEARTH_ENGINE" image inspect "$ref" >/dev/null 2>&1 && return
  if [ "$HEARTH_BRANCH" = official ]; then
    say "root $name: Debian $suite by apt-get (usually 1 min)"
    timed "root $name" install_on_debian_image "$suite" "$packages" "$ref"
    return
  fi
  say "root $name: Debian $suite by mmdebstrap (usually 1 min)"
  hook=$(mktemp)
  printf '#!/bin/bash\nset -eu\nUSERS="%s"\n%s\nfinish_%s "$1"\n' "$USERS" "$(declare -f "finish_extracted" "finish_essential")" \
    "$([ "$variant" = extract ] && echo extracted || echo essential)" >"$hook"
  chmod +x "$hook"
  list=$(sources "$suite")
  # `extract` knows no customize hook, and `essential` runs its maintainer scripts only after the extract hook
  import() {
    mmdebstrap --quiet --mode=root --variant="$variant" "${options[@]}" --aptopt=APT::Install-Recommends=false \
      --dpkgopt=path-exclude=/usr/share/man/* --dpkgopt=path-exclude=/usr/share/doc/* --dpkgopt=path-exclude=/usr/share/locale/* \
      --include="$packages" "--$([ "$variant" = extract ] && echo extract || echo customize)-hook=$hook" \
      "$suite" - ${list:+-} <<<"$list" | podman import --quiet - "$ref"
  }
  # podman makes an image of what it read even when mmdebstrap failed, and the next run would take it for a root
  timed "root $name" import || { "$HEARTH_ENGINE" rmi --ignore "$ref" >/dev/null; fail "root $name was not made"; }
  rm -f "$hook"
}

if [ "${1:-}" = --ref ]; then
  ref "$2"
  exit
fi
choose_branch
for name in "$@"; do locked "root-$name" make_root "$name"; done
