# unreadable FILE: what keeps the roles' units from reading the file, if anything does. Reads only.
path=$(readlink -f "$1") && [ -e "$path" ] || exit 0
# ProtectHome and PrivateTmp
for folder in /home /root /run/user /tmp /var/tmp; do
  case $path in "$folder"/*) echo "lies below $folder, which the units do not see" ;; esac
done
bit=r
while [ "$path" != / ]; do
  # the units' users are others, unless somebody gave them the file
  case $bit$(stat --format '%A %U %G' "$path") in
    r???????r* | x?????????[xt]* | *" hearth-"*) ;;
    r*) echo "may not be read by others ($path)" ;;
    *) echo "lies in a folder that others may not enter ($path)" ;;
  esac
  bit=x
  path=$(dirname "$path")
done
