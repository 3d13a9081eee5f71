# unneeded: what becomes of the packages that the roles brought, one finding a line. Reads only.
# purge=PACKAGE             nothing needs it by now
# remove=PACKAGE (FILE...)  likewise, and its settings were there before or somebody changed them since: these files stay
# used=PACKAGE (UNIT)       somebody turned its own service on, so that it is the host's by now
# stays=PACKAGE (NAME...)   other packages need it or name it as useful
[ -e /var/lib/hearth/packages ] || exit 0
states=$(mktemp)
trap 'rm -f "$states"' EXIT
brought=$(cut -d ' ' -f 1 /var/lib/hearth/packages | sort -u | xargs dpkg-query --show --showformat '${db:Status-Status} ${Package}\n' 2>/dev/null | sed -n 's/^installed //p')
[ -n "$brought" ] || exit 0

# the units of a package that are on; the roles turned off what came with an installation
turned_on() {
  for unit in $(dpkg-query --listfiles "$1" | sed -n 's#^\(/usr\)\{0,1\}/lib/systemd/system/\([^/@]*\.\(service\|socket\|timer\)\)$#\2#p'); do
    case "$(systemctl is-active "$unit" 2>/dev/null) $(systemctl is-enabled "$unit" 2>/dev/null)" in
      active\ * | *\ enabled) echo "$unit" ;;
    esac
  done
}
# the settings that are not as the package brought them; all of them when it left some behind before the roles brought it
settings() {
  dpkg-query --show --showformat '${Conffiles}\n' "$1" | while read -r file sum _; do
    [ -n "$file" ] && [ -e "$file" ] || continue
    if grep -qx "$1 config-files" /var/lib/hearth/packages || [ "$(md5sum <"$file" | cut -d ' ' -f 1)" != "$sum" ]; then echo "$file"; fi
  done
}

unused=
for package in $brought; do
  on=$(turned_on "$package" | paste -s -d ' ')
  if [ -n "$on" ]; then echo "used=$package ($on)"; else unused="$unused $package"; fi
done
[ -n "$unused" ] || exit 0
# as if these were the only ones that nobody asked for; the host's own marks are left alone
for package in $unused; do
  printf 'Package: %s\nArchitecture: %s\nAuto-Installed: 1\n\n' "$package" "$(dpkg --print-architecture)"
done >"$states"
plan=$(apt-get --simulate -o Dir::State::extended_states="$states" autoremove) || exit
unneeded=" $(printf %s "$plan" | awk '$1 == "Remv" {printf "%s ", $2}')"
for package in $unused; do
  case $unneeded in
    *" $package "*)
      kept=$(settings "$package" | paste -s -d ' ')
      if [ -n "$kept" ]; then echo "remove=$package ($kept)"; else echo "purge=$package"; fi
      ;;
    *) echo "stays=$package ($(apt-cache rdepends --installed --no-breaks --no-conflicts --no-replaces --no-enhances "$package" |
      sed -n 's/^ *|\{0,1\}  *//p' | sort -u | paste -s -d ' '))" ;;
  esac
done
