#!/usr/bin/env bash
# Measures the endpoints of the local environment whose evidence does not hold, and deploys again, which publishes their routes.
# The runner's key is made when there is none; it lies beside Pulumi's state and goes with the cluster.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$HEARTH_ROOT/local/env.sh"
cd "$HEARTH_ROOT"
key=$HEARTH_CACHE/clusters/$HEARTH_CLUSTER/runner.pem
id_file=$key.id
trust=trust/local/runners.yaml

if .venv/bin/hearth evidence verify -s local >/dev/null 2>&1 && [ -e "$key" ]; then
  say "evidence of the local environment holds (hearth evidence verify -s local)"
  exit
fi
echo "$HEARTH_ROOT" >"$HEARTH_CACHE/clusters/$HEARTH_CLUSTER/measured"
if [ ! -e "$key" ] || ! grep -q "^ *$(cat "$id_file" 2>/dev/null || echo none):" "$trust" 2>/dev/null; then
  # a key that the trust store of this checkout does not know is of another checkout
  rm -rf "$key" "$id_file" trust/local
  id=local-$(date +%s)
  .venv/bin/hearth runner-key new "$id" -s local -o "$key"
  echo "$id" >"$id_file"
fi
say "hearth qualify --all -s local (about a minute: a Job in the cluster asks the model)"
.venv/bin/hearth qualify --all -s local --key "$key" --key-id "$(cat "$id_file")"
local/deploy.sh
