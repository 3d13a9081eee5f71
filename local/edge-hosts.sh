#!/usr/bin/env bash
# What the container hosts of the edge scenarios are made of: their images, llama.cpp and its model (cached).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
"$here/edge-images.sh"
"$here/edge-runtimes.sh"
