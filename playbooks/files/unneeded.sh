# unneeded: of the packages that the roles brought, those that nothing else needs by now, and those that stay. Reads only.
[ -e /var/lib/hearth/packages ] || exit 0
states=$(mktemp)
trap 'rm -f "$states"' EXIT
brought=$(sort -u /var/lib/hearth/packages | xargs dpkg-query --show --showformat '${db:Status-Status} ${Package}\n' 2>/dev/null | sed -n 's/^installed //p')
[ -n "$brought" ] || exit 0
# as if these were the only ones that nobody asked for; the host's own marks are left alone
for package in $brought; do
  printf 'Package: %s\nArchitecture: %s\nAuto-Installed: 1\n\n' "$package" "$(dpkg --print-architecture)"
done >"$states"
plan=$(apt-get --simulate -o Dir::State::extended_states="$states" autoremove) || exit
unneeded=" $(printf %s "$plan" | awk '$1 == "Remv" {printf "%s ", $2}')"
for package in $brought; do
  case $unneeded in
    *" $package "*) echo "purge=$package" ;;
    *) echo "stays=$package ($(apt-cache rdepends --installed --no-breaks --no-conflicts --no-replaces --no-enhances "$package" |
      sed -n 's/^ *|\{0,1\}  *//p' | sort -u | paste -s -d ' '))" ;;
  esac
done
