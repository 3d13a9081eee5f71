#!/bin/sh
# The container hosts that `make edge-up` started on this machine.
folder=${HEARTH_CACHE:-$HOME/.cache/hearth}/edge/local
if [ ! -e "$folder/inventory" ]; then
  echo "there is no container host: make edge-up starts two" >&2
  exit 1
fi
exec ansible-inventory --inventory "$folder/inventory" --list
