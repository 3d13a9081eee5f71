# orphans UNIT...: the units of the roles that are not in the list, and the files that belong to them. Reads only.
# A unit is the roles' own by its name and by its first line; its own file is the last to go, so that a killed run is done again.
units=/etc/systemd/system
cd "$units" || exit
for unit in hearth-sidecar-*.service hearth-ollama-*.service hearth-llama-cpp-*.service hearth-firewall.service; do
  grep -qs '^# Managed by Ansible (hearth\.edge)' "$unit" || continue
  case " $* " in *" $unit "*) continue ;; esac
  echo "unit=$unit"
  name=${unit%.service}
  case $name in
    hearth-sidecar-*) own=/etc/hearth/sidecar/${name#hearth-sidecar-} ;;
    hearth-llama-cpp-*) own=/etc/hearth/llama-cpp/${name#hearth-llama-cpp-}.key ;;
    *) own= ;;
  esac
  for path in ${own:+"$own"} "$units/$unit.d" "$units/$unit"; do
    [ ! -e "$path" ] || echo "path=$path"
  done
done
