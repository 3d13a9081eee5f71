# shellcheck shell=bash
# `. local/env.sh` in bash or zsh: kubectl, kind, podman, pulumi and hearth of this shell then mean the local cluster.
eval "$("$(dirname "${BASH_SOURCE[0]:-$0}")/env")"
