#!/bin/sh
# picture.sh FILE: what a host is like, without what every running system changes by itself.
{
  dpkg-query --show --showformat '${Package} ${db:Status-Status}\n'
  cut -d: -f1 /etc/passwd /etc/group | sort
  systemctl list-unit-files --no-legend --plain | awk '{print $1, $2}'
  find /etc /opt /usr/local /srv /var/lib /root -xdev \
    ! -path '/etc/ld.so.cache' ! -path '/etc/passwd*' ! -path '/etc/group*' ! -path '/etc/shadow*' ! -path '/etc/gshadow*' \
    ! -path '/etc/subuid*' ! -path '/etc/subgid*' ! -path '/etc/.pwd.lock' \
    ! -path '/var/lib/apt/*' ! -path '/var/lib/dpkg/*' ! -path '/var/lib/systemd/*' ! -path '/var/lib/private*' \
    ! -path '/root/.ansible*' ! -path '/root/before' ! -path '/root/after' ! -name .cache -printf '%p %y %m %u\n' | sort
  find /etc -xdev -type f ! -path '/etc/ld.so.cache' ! -path '/etc/passwd*' ! -path '/etc/group*' ! -path '/etc/shadow*' \
    ! -path '/etc/gshadow*' ! -path '/etc/sub?id*' ! -path '/etc/.pwd.lock' -exec sha256sum {} + | sort -k 2
  # a folder that is there and empty says nothing: systemd leaves that of transient units
  find /etc/apt/sources.list.d /run/systemd/transient -mindepth 1 2>/dev/null | sort
  ss -Hltn | awk '{print $4}' | sort
  nft list tables 2>/dev/null || true
} >"$1"
