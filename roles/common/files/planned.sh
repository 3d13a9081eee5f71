# planned SECONDS PACKAGE...: bring the package lists up to date, and name the packages that an installation would bring, each with
# `config-files` behind it when an older installation left its settings.
set -e
export LC_ALL=C
# apt waits for dpkg's lock when it is asked to, and never for that of the lists, which a host holds that has just booted
end=$(($(date +%s) + $1))
shift
until
  [ -n "$(find /var/lib/apt/lists -maxdepth 0 -mmin -60)" ] && ls /var/lib/apt/lists/*Packages* >/dev/null 2>&1 ||
    said=$(apt-get --quiet --quiet update 2>&1)
do
  case $said in *"Could not get lock"*) [ "$(date +%s)" -ge "$end" ] || { sleep 5 && continue; } ;; esac
  printf '%s\n' "$said" >&2
  exit 100
done
# not in a pipe, whose end would hide that it failed: then nothing would be remembered, and remove.yml would leave it all
plan=$(apt-get --simulate --no-install-recommends install "$@")
# a line with brackets after the name is of a package that is there in another version
for package in $(printf '%s\n' "$plan" | awk '$1 == "Inst" && $3 !~ /^\[/ {print $2}'); do
  case $(dpkg-query --show --showformat '${db:Status-Status}' "$package" 2>/dev/null || true) in
    config-files) echo "$package config-files" ;;
    *) echo "$package" ;;
  esac
done
