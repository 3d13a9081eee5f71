# validate FOLDER STAGED: let HAProxy check the staged set as its own user, mounted where it will lie, then write its digests.
set -eu
export folder=$1 staged=$2
unshare --mount --propagation private /bin/sh -eu -c '
  mount --bind "$staged" /mnt
  mount -t tmpfs -o mode=0755 tmpfs "$folder"
  mkdir "$folder/current"
  mount --bind /mnt "$folder/current"
  cd /
  exec setpriv --reuid hearth-sidecar --regid hearth-sidecar --clear-groups /usr/sbin/haproxy -c -f "$folder/current/sidecar.cfg"
'
cd "$staged"
rm -f SHA256SUMS
sha256sum -- * >/run/hearth-sums.$$
install -o root -g hearth-sidecar -m 0640 /run/hearth-sums.$$ SHA256SUMS
rm -f /run/hearth-sums.$$
