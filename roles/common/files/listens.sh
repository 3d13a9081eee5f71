# listens UNIT: the TCP addresses that the unit's processes listen at. Reads only.
ss -Hltnp | while read -r _ _ _ address _ owner; do
  for pid in $(printf %s "$owner" | grep -o 'pid=[0-9]*' | cut -d= -f2); do
    ! grep -qs "/$1\$" "/proc/$pid/cgroup" || echo "$address"
  done
done | sort -u
