# devices PROGRAM GPU: what llama.cpp says about the GPUs that it finds, asked as its unit is run. Reads only.
groups=video
[ "$2" = nvidia ] || groups='video render'
exec systemd-run --quiet --wait --pipe --collect --uid=hearth-llama-cpp --gid=hearth-llama-cpp \
  --property=SupplementaryGroups="$groups" --setenv=HOME=/tmp "$1" --list-devices
