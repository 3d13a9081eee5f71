"""Every pinned version and image, read from `versions.env`, the one file that names them."""

from functools import cache
from pathlib import Path


@cache
def versions() -> dict[str, str]:
    """Return every `KEY=value` of versions.env.

    The file stands beside the package in an installed Hearth and at the root of a checkout.

    Raises:
        FileNotFoundError: neither place has the file, so the installation is broken.
    """
    here = Path(__file__).resolve().parent
    file = next((path for path in (here / "versions.env", here.parent / "versions.env") if path.is_file()), None)
    if file is None:
        raise FileNotFoundError(f"versions.env is neither in {here} nor in {here.parent}; reinstall Hearth")
    pairs = (
        line.split("=", 1)
        for line in file.read_text(encoding="utf-8").splitlines()
        if "=" in line and not line.startswith("#")
    )
    return {key: value.strip("\"'") for key, value in pairs}
