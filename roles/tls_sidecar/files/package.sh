# package MINIMUM: "old" when the installed haproxy is below it; "unwanted" when its own service runs only because a role installed it.
version=$(dpkg-query --show --showformat '${Version}' haproxy 2>/dev/null) || exit 0
dpkg --compare-versions "$version" ge "$1" || echo old
if grep -qxs haproxy /var/lib/hearth/packages && systemctl is-enabled --quiet haproxy.service 2>/dev/null; then echo unwanted; fi
