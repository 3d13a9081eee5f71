# shellcheck shell=bash
# Sourced by the prepare.sh of an image: versions, and packages for the Python of the image rather than of this machine.
. "$(dirname "${BASH_SOURCE[0]}")/../local/lib.sh"
. "$HEARTH_ROOT/local/python.sh"
python=$(find_python) || fail "no suitable Python: make setup says more"
uv=$(find_uv "$python")

# install_wheels FOLDER ARGUMENT...: as `uv pip install`, into FOLDER, wheels only, each with its pinned hash
install_wheels() {
  "$uv" pip install --quiet --python "$python" --python-version "$IMAGES_PYTHON" --python-platform "$(uname -m)-manylinux_2_40" \
    --only-binary :all: --link-mode copy --require-hashes --target "$@"
}
