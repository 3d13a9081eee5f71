# unused FOLDER: the folders in FOLDER that no unit of the roles names. Reads only.
for folder in "$1"/*/; do
  [ -d "$folder" ] || continue
  grep -qsF -e "$folder" /etc/systemd/system/hearth-*.service || echo "$folder"
done
