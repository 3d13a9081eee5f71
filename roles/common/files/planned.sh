# planned PACKAGE...: bring the package lists up to date, and name the packages that an installation would bring.
set -e
[ -n "$(find /var/lib/apt/lists -maxdepth 0 -mmin -60)" ] && ls /var/lib/apt/lists/*Packages* >/dev/null 2>&1 ||
  apt-get --quiet --quiet update -o DPkg::Lock::Timeout=300 >&2
# a line with brackets after the name is of a package that is there in another version
apt-get --simulate --no-install-recommends install "$@" | awk '$1 == "Inst" && $3 !~ /^\[/ {print $2}'
