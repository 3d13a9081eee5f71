"""A folder that one command owns: it writes there what it made, and touches nothing that it did not make."""

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

from hearth.claim.problems import ClaimError, Problem

MARKER: Final = ".hearth-render.json"
"""File that says which files of the folder were written by `hearth render`."""
_VERSION: Final = "hearth.render/v1"
_OPTION: Final = "-o"


@dataclass(frozen=True)
class Written:
    """What became of a folder."""

    written: tuple[str, ...]
    """Files that are new or have another content now."""
    removed: tuple[str, ...]
    """Files that were written before and are not made any more."""
    unchanged: tuple[str, ...]
    """Files that were left as they are."""


def write_folder(folder: Path, files: Mapping[str, str]) -> Written:
    """Bring a folder to exactly these files, beside whatever else somebody put into it.

    Each file is replaced as a whole, and the marker names every file before it is written and until it is removed,
    so that a run that was interrupted is completed by the next.

    Args:
        folder: made when it is missing. One that is not empty must carry the marker.
        files: text by relative path with `/`.

    Raises:
        ClaimError: the folder holds what this command did not write, or cannot be written.
    """
    try:
        return _write_folder(folder, files)
    except OSError as error:
        raise _refused(f"cannot be written: {error.strerror}", "Check the folder and its permissions") from None


def _write_folder(folder: Path, files: Mapping[str, str]) -> Written:
    before = _owned(folder)
    for path in files:
        _check_place(folder, path, before)
    written = tuple(path for path, text in files.items() if _content(folder / path) != text.encode())
    removed = tuple(sorted(path for path in before - set(files) if (folder / path).is_file()))
    folder.mkdir(parents=True, exist_ok=True)
    _write_marker(folder, before | set(files))
    for path in written:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        _replace(folder / path, files[path])
    for path in removed:
        (folder / path).unlink()
        _remove_empty(folder, (folder / path).parent)
    _write_marker(folder, set(files))
    return Written(written, removed, tuple(path for path in files if path not in written))


def _owned(folder: Path) -> frozenset[str]:
    """Return the paths that the marker names; none when the folder is missing or empty.

    Raises:
        ClaimError: it is not a folder, or it is neither empty nor marked.
    """
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return frozenset()
    if not folder.is_dir():
        raise _refused("is not a folder", "Name a new or empty folder")
    try:
        marker: Any = json.loads((folder / MARKER).read_text(encoding="utf-8"))
        paths = frozenset(marker["files"]) if marker["version"] == _VERSION else None
    except FileNotFoundError:
        raise _refused(
            "holds files that `hearth render` did not write; nothing was changed",
            "Name a new or empty folder, or one that `hearth render` wrote",
        ) from None
    except (ValueError, KeyError, TypeError):
        paths = None
    if paths is None or not all(isinstance(path, str) and _is_inside(path) for path in paths):
        raise _refused(f"has a file {MARKER} that cannot be read; nothing was changed", "Name a new or empty folder")
    return paths


def _is_inside(path: str) -> bool:
    pure = PurePosixPath(path)
    return bool(path) and not pure.is_absolute() and ".." not in pure.parts and str(pure) == path


def _check_place(folder: Path, path: str, before: frozenset[str]) -> None:
    """Refuse to write over a file that somebody else put there, or through a link that leads elsewhere."""
    place = folder
    for part in PurePosixPath(path).parts[:-1]:
        place /= part
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            raise _refused(f"has something else where the folder of {path} belongs", "Remove it, or name a new folder")
    place = folder / path
    if place.is_symlink() or (place.exists() and (path not in before or not place.is_file())):
        raise _refused(f"has a file {path} that `hearth render` did not write", "Remove it, or name a new folder")


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _replace(path: Path, text: str) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:64]}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode())
            # mkstemp permits nobody else; what is rendered is made to be read.
            os.fchmod(file.fileno(), 0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _write_marker(folder: Path, paths: frozenset[str] | set[str]) -> None:
    document = {"version": _VERSION, "files": sorted(paths)}
    _replace(folder / MARKER, json.dumps(document, indent=2) + "\n")


def _remove_empty(folder: Path, inner: Path) -> None:
    """Remove `inner` and the folders above it up to `folder`, as long as they are empty."""
    while inner != folder and not any(inner.iterdir()):
        inner.rmdir()
        inner = inner.parent


def _refused(message: str, remedy: str) -> ClaimError:
    return ClaimError([Problem(_OPTION, message, remedy)])
