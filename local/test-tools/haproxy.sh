#!/usr/bin/env bash
# haproxy.sh FOLDER SERIES ROOT: HAProxy out of a root file system of images/roots.sh, with the libraries of that Debian, as FOLDER/haproxy.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
. "$here/../podman.sh"
. "$here/../branch.sh"
home=$1 series=$2
choose_branch
[ "$HEARTH_BRANCH" != build ] || "$here/../packages.sh"
"$HEARTH_ROOT/images/roots.sh" "$3"

container=$("$HEARTH_ENGINE" create "$("$HEARTH_ROOT/images/roots.sh" --ref "$3")" true)
mkdir -p "$home/root"
"$HEARTH_ENGINE" export "$container" | tar -x --no-same-owner -C "$home/root" --exclude='dev/*' --exclude='etc/*' || failed=1
"$HEARTH_ENGINE" rm "$container" >/dev/null
[ -z "${failed:-}" ] || fail "the root file system of HAProxy $series could not be read"

# It runs outside a container, so with its own loader; the name lets the master process start it again.
loader=$(find "$home/root" -name 'ld-linux-*.so.*' -type f | head -n 1)
libraries=$(find "$home/root" -name 'lib*.so.*' -printf '%h\n' | sort -u | paste -s -d :)
cat >"$home/haproxy" <<PROGRAM
#!/bin/sh
exec "$loader" --argv0 "\$0" --library-path "$libraries" "$home/root/usr/sbin/haproxy" "\$@"
PROGRAM
chmod +x "$home/haproxy"
said=$("$home/haproxy" -v)
echo "$said"
[[ $said = "HAProxy version $series."* ]] ||
  fail "this Debian's HAProxy is not of the series $series any more: HAPROXY_${series/./_}_DEBIAN in versions.env has to name another"
