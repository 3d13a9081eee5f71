# Brings every file that /etc/llm-snapshot/files lists to $SNAPSHOT, each as fetch.sh does: `<sha256> <bytes> <path>` a
# line. They come from below $BASE_URL, or a container before this one has copied them to $COPIED/files, unless it found
# $COPIED/<name of the snapshot>. A file that was found right once is not read again at the next start, so that a large
# model does not wait for its own digest.
set -eu
umask 027
mkdir -p "$CACHE" "$SNAPSHOTS"
# Room for the new one: only this Pod uses the volume, and an older snapshot can be fetched again.
for other in "$SNAPSHOTS"/*; do
  case $other in
    "$SNAPSHOT" | "$SNAPSHOT.checked" | "$SNAPSHOTS/*") ;;
    *) rm -rf "$other" ;;
  esac
done
mkdir -p "$SNAPSHOT" "$SNAPSHOT.checked"
while read -r sha256 bytes path; do
  file=$SNAPSHOT/$path
  mark=$SNAPSHOT.checked/$sha256-$(echo "$path" | sha256sum | cut -c 1-16)
  if [ -e "$mark" ] && [ -f "$file" ] && [ "$(stat -c %s "$file")" = "$bytes" ]; then
    continue
  fi
  mkdir -p "$(dirname "$file")"
  url=
  if [ -n "${COPIED:-}" ]; then
    if [ ! -e "$COPIED/files/$path" ]; then
      rm -f "$COPIED/${SNAPSHOT##*/}"
      echo "model: $path is not in the image, or was lost from the volume; then the next Pod copies all files again" >&2
      exit 1
    fi
    # Not moved: what wrote it might still have it under another name.
    cp "$COPIED/files/$path" "$file.part"
  else
    url=$BASE_URL/$path
  fi
  MODEL=$file SHA256=$sha256 URL=$url /bin/sh /etc/llm-model/fetch.sh </dev/null
  if [ "$(stat -c %s "$file")" != "$bytes" ]; then
    echo "model: $path has $(stat -c %s "$file") bytes, and $bytes are declared" >&2
    exit 1
  fi
  : >"$mark"
  rm -f "${COPIED:-/nowhere}/files/$path"
done </etc/llm-snapshot/files
if [ -n "${COPIED:-}" ]; then
  rm -rf "$COPIED"
  mkdir "$COPIED"
  : >"$COPIED/${SNAPSHOT##*/}"
fi
