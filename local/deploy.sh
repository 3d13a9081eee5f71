#!/usr/bin/env bash
# Deploys the local environment onto the local cluster: the stack is made when it does not exist, then `pulumi up`.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$HEARTH_ROOT/local/env.sh"
cd "$HEARTH_ROOT"

# Pulumi adds a salt to the stack file that it is given. The checkout stays as it is: the file that Pulumi gets is a
# copy beside the state, and the stack is made in a project folder there.
project=$HEARTH_CACHE/clusters/$HEARTH_CLUSTER/project
file=$project/Pulumi.local.yaml
mkdir -p "$project"
printf 'name: hearth\nruntime: python\n' >"$project/Pulumi.yaml"
pulumi -C "$project" stack select local >/dev/null 2>&1 || pulumi -C "$project" stack init local >/dev/null
salt=$(grep '^encryptionsalt:' "$file" || true)
{ printf '%s\n' "$salt" && cat stacks/Pulumi.local.yaml; } >"$file.new"
mv "$file.new" "$file"

say "pulumi up -s local (the first time about two minutes; without a change about ten seconds)"
pulumi up -s local --config-file "$file" --yes --skip-preview --non-interactive --color never
