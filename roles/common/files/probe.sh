# probe FREE_BYTES NOW PORT:UNIT...: what a host is like, one finding a line. Reads only, and needs listening.sh before it.
# NOW is the control host's time, in seconds of the epoch, when it asked this host.
wanted=$1
echo "ahead=$(($(date +%s) - $2))"
shift 2
for folder in /etc /opt /var/lib /etc/hearth /opt/hearth /var/lib/hearth; do
  [ -d "$folder" ] || continue
  [ "$(df --output=avail -B1 "$folder" | tail -n 1)" -ge "$wanted" ] || echo "full=$folder"
done
# whether a unit is the roles' own and the host is not to keep it
leaves() {
  case $1 in hearth-sidecar-*.service | hearth-ollama-*.service | hearth-llama-cpp-*.service) ;; *) return 1 ;; esac
  case " $planned " in *":$1 "*) return 1 ;; esac
  grep -qs '^# Managed by Ansible (hearth\.edge)' "/etc/systemd/system/$1"
}
planned=$*
heard=$(listening)
for pair in "$@"; do
  port=${pair%%:*} unit=${pair#*:}
  printf '%s\n' "$heard" | while read -r address _ pid owner; do
    [ "${address##*:}" = "$port" ] || continue
    if [ "$owner" = "$unit" ]; then
      :
    elif leaves "$owner"; then
      echo "displaced=$unit $owner"
    else
      echo "taken=$unit port $port is in use by $(cat "/proc/$pid/comm" 2>/dev/null) (process $pid$([ "$owner" = - ] || echo ", $owner"))"
    fi
  done | sort -u
  for folder in /etc/systemd/system /etc/systemd/system.control /run/systemd/system /run/systemd/system.control /usr/local/lib/systemd/system; do
    for file in "$folder/$unit.d"/*; do
      case ${file#/etc/systemd/system/"$unit".d/} in 10-hardening.conf | 20-revision.conf | 30-limits.conf) continue ;; esac
      [ ! -e "$file" ] || echo "settings=$file"
    done
  done
done
