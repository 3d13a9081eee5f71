# Brings one model file to $MODEL and lets it through only with the declared digest. It is downloaded from $URL, or a
# container before this one has copied it to $MODEL.part.
set -eu
umask 027
part=$MODEL.part

has_digest() {
  [ -f "$1" ] && echo "$SHA256  $1" | sha256sum --check --status -
}

if has_digest "$MODEL"; then
  rm -f "$part"
  exit 0
fi
if [ -n "${URL:-}" ]; then
  : >/tmp/headers
  if [ -s /etc/hub-credentials/token ]; then
    # Not an argument: those can be read by everyone in the Pod. curl does not carry it to another host.
    printf 'Authorization: Bearer %s\n' "$(cat /etc/hub-credentials/token)" >/tmp/headers
  fi
  curl --fail --silent --show-error --location --proto =https --proto-redir =https --max-redirs 5 \
    --retry 8 --retry-all-errors --connect-timeout 20 --speed-limit 1024 --speed-time 60 \
    --continue-at - --header @/tmp/headers --output "$part" "$URL"
fi
if ! has_digest "$part"; then
  rm -f "$part"
  echo "model: the file does not have the declared SHA-256 $SHA256; it was deleted" >&2
  exit 1
fi
mv "$part" "$MODEL"
