# listening: who listens for TCP, each as ADDRESS:PORT loopback|network PID UNIT, `-` for none; of several processes of a unit
# one. Reads only.
listening() {
  ss -Hltnp | while read -r _ _ _ address _ owner; do
    case $address in 127.* | \[::1\]:* | \[::ffff:127.*) reach=loopback ;; *) reach=network ;; esac
    pids=$(printf %s "$owner" | grep -o 'pid=[0-9]*' | cut -d= -f2)
    for pid in ${pids:--}; do
      unit=$(sed -n 's#.*/\([^/]*\.service\).*#\1#p' "/proc/$pid/cgroup" 2>/dev/null | head -n 1)
      echo "$address $reach $pid ${unit:--}"
    done
  done | sort -u -k 1,2 -k 4
}
