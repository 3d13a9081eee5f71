#!/usr/bin/env bash
# The edge half as text: yamllint, ansible-lint in its production profile, the roles' READMEs and specifications.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
cd "$HEARTH_ROOT"
export PATH=$HEARTH_ROOT/.venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1
yamllint --strict .ansible-lint .config .yamllint changelogs galaxy.yml inventories meta molecule playbooks roles
ansible-lint -q --offline --nocolor
python local/edge_readmes.py --check
say "edge lint: nothing found"
