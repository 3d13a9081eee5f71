#!/bin/sh
# The container hosts that `make edge-up` started on this machine.
folder=${HEARTH_CACHE:-$HOME/.cache/hearth}/edge/local
if [ ! -e "$folder/inventory" ]; then
  echo "there is no container host: make edge-up starts two" >&2
  exit 1
fi
# .venv/bin/ansible-playbook works without .venv/bin on PATH
PATH=$(cd "$(dirname "$0")/../.." && pwd)/.venv/bin:$PATH exec ansible-inventory --inventory "$folder/inventory" --list
