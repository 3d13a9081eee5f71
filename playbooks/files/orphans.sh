# orphans UNIT...: the units of the roles that are not in the list, and the files that belong to them. Reads only.
for file in /etc/systemd/system/hearth-*.service; do
  [ -e "$file" ] || continue
  unit=${file##*/}
  case " $* " in *" $unit "*) continue ;; esac
  echo "unit=$unit"
  name=${unit%.service}
  for path in "$file" "$file.d" "/etc/hearth/sidecar/${name#hearth-sidecar-}" "/etc/hearth/llama-cpp/${name#hearth-llama-cpp-}.key"; do
    [ ! -e "$path" ] || echo "path=$path"
  done
done
