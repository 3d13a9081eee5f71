# listening PORT...: who listens on these ports, each as PORT ADDRESS UNIT, `-` for no unit. Reads only.
for port in "$@"; do
  ss -Hltnp "sport = :$port" | while read -r _ _ _ address _ owner; do
    pid=$(printf %s "$owner" | sed -n 's/.*pid=\([0-9]*\).*/\1/p')
    unit=$(sed -n 's#.*/\([^/]*\.service\).*#\1#p' "/proc/$pid/cgroup" 2>/dev/null | head -n 1)
    echo "$port $address ${unit:--}"
  done
done
