# probe FREE_BYTES PORT:UNIT...: what a host is like, one finding a line. Reads only.
wanted=$1
shift
echo "clock=$(date +%s)"
for folder in /etc /opt /var/lib /etc/hearth /opt/hearth /var/lib/hearth; do
  [ -d "$folder" ] || continue
  [ "$(df --output=avail -B1 "$folder" | tail -n 1)" -ge "$wanted" ] || echo "full=$folder"
done
for pair in "$@"; do
  port=${pair%%:*} unit=${pair#*:}
  ss -Hltnp "sport = :$port" | while read -r line; do
    pid=$(printf %s "$line" | sed -n 's/.*pid=\([0-9]*\).*/\1/p')
    owner=$(sed -n 's#.*/\([^/]*\.service\).*#\1#p' "/proc/$pid/cgroup" 2>/dev/null | head -n 1)
    [ "$owner" = "$unit" ] || echo "taken=port $port is in use by $(cat "/proc/$pid/comm" 2>/dev/null) (process $pid${owner:+, $owner})"
  done | sort -u
done
