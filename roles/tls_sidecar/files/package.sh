# package MINIMUM: "old" when the installed haproxy is below it.
version=$(dpkg-query --show --showformat '${Version}' haproxy 2>/dev/null) || exit 0
dpkg --compare-versions "$version" ge "$1" || echo old
