# services: the units that came turned on with the packages of an installation that is not finished. Reads only.
while read -r package _; do
  for unit in $(dpkg-query --listfiles "$package" 2>/dev/null | sed -n 's#^\(/usr\)\{0,1\}/lib/systemd/system/\([^/@]*\.\(service\|socket\|timer\)\)$#\2#p'); do
    ! systemctl is-enabled --quiet "$unit" 2>/dev/null || echo "$unit"
  done
done </var/lib/hearth/packages.new
