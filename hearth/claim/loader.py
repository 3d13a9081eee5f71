"""Reads a claim: from a stack file, or from the values that Pulumi passes."""

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from hearth.claim.base import NAME
from hearth.claim.check import check_values
from hearth.claim.claim import Claim
from hearth.claim.problems import ClaimError, Notice, Problem
from hearth.claim.reader import MAX_BYTES, Document, read_json, read_yaml
from hearth.claim.reader import Path as Place
from hearth.claim.resolver import Resolver
from hearth.claim.translate import nearest, render_path

PREFIX: Final = "hearth:"
"""Namespace of the claim's keys among the configuration keys of a stack."""
KEYS: Final = tuple(field.alias or name for name, field in Claim.model_fields.items())
"""Configuration keys of a claim, without their prefix."""

# Keys whose value is a text, which Pulumi passes as it is.
_TEXTS: Final = ("environment",)
_STACK_FILE_KEYS: Final = ("config", "secretsprovider", "encryptedkey", "encryptionsalt", "environment")
_STACK_NAME = re.compile(rf"{NAME}\Z")
_STACK_FILE = re.compile(r"Pulumi\.(.+)\.ya?ml\Z")
# What Pulumi takes; a name is printed, and names the folder of the evidence.
_ANY_STACK_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}\Z")
# A key is only shown when it can hardly be a secret that somebody put in the wrong place.
_KEY = re.compile(r"(hearth:)?[A-Za-z]{1,32}(\.[A-Za-z]{1,32})*\Z")


@dataclass(frozen=True)
class LoadedClaim:
    """A claim that was accepted, with what it needs beside it."""

    claim: Claim
    """The claim."""
    warnings: tuple[Notice, ...]
    """What the operator should know although the claim is right."""
    base: Path
    """The project's folder, which file names in the claim are relative to."""
    bundles: Mapping[str, str]
    """PEM text by trust bundle id, byte for byte what the digests of the claim cover."""
    stack: str
    """Name of the stack."""
    other_config: Mapping[str, object] = field(default_factory=dict, repr=False)
    """The stack's configuration under other namespaces than `hearth:`, such as `kubernetes:context`."""

    @property
    def environment(self) -> str:
        """Return what everything of this environment is marked with."""
        return self.claim.environment or self.stack


def project_folder(start: Path) -> Path:
    """Return the nearest folder at or above `start` that is a project: it holds `Pulumi.yaml` or `stacks/`.

    Returns `start` itself when there is none.
    """
    start = Path(os.path.abspath(start))
    for folder in (start, *start.parents):
        if (folder / "Pulumi.yaml").is_file() or (folder / "stacks").is_dir():
            return folder
    return start


def stack_file(stack: str, project: Path) -> Path:
    """Return the file of an environment: `stacks/Pulumi.<stack>.yaml` in a project's folder.

    Raises:
        ClaimError: the name is not a stack name, or there is no such file.
    """
    known = sorted(
        match[1]
        for file in (project / "stacks").glob("Pulumi.*.yaml")
        if (match := _STACK_FILE.match(file.name)) and _STACK_NAME.match(match[1])
    )
    there = f"Stacks here: {', '.join(known)}" if known else "There is no stack here; run this in the project's folder"
    if not _STACK_NAME.match(stack) or len(stack) > 64:
        raise ClaimError(
            [Problem("stack", "is not a stack name: lower-case letters, digits and single hyphens", there)]
        )
    file = project / "stacks" / f"Pulumi.{stack}.yaml"
    if not file.is_file():
        guess = nearest(stack, known)
        remedy = f"Did you mean {guess}?" if guess else there
        raise ClaimError([Problem(f"stack {stack}", f"there is no file stacks/Pulumi.{stack}.yaml", remedy)])
    return file


def _read(path: Path, name: str) -> bytes:
    """Return at most one byte more than the bound of a regular file."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ClaimError([Problem(name, "is not a file", "Name a stack file, such as stacks/Pulumi.home.yaml")])
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise ClaimError([Problem(name, "there is no such file", "Check the name and the folder")]) from None
    except (OSError, ValueError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "its name is not valid"
        raise ClaimError([Problem(name, f"cannot be read: {reason}", "Check the name and its permissions")]) from None


def _key_problem(key: str, place: str) -> Problem:
    """Return why a configuration key is refused."""
    shown = key if _KEY.match(key) else "a key that is not shown"
    if ":" not in key:
        remedy = f"Write {PREFIX}{key}" if key in KEYS else f"A claim's keys begin with {PREFIX}"
        return Problem(shown, "has no namespace", remedy, place)
    guess = nearest(key.removeprefix(PREFIX).split(".")[0], KEYS)
    remedy = f"Did you mean {PREFIX}{guess}?" if guess else f"Known keys: {', '.join(PREFIX + known for known in KEYS)}"
    return Problem(shown, "is not a configuration key of Hearth", remedy, place)


@dataclass(frozen=True)
class _StackFile:
    """What a stack file says, apart from what the claim means."""

    config: Mapping[str, Any]
    """Values by configuration key."""
    places: Mapping[Place, tuple[int, int]]
    """Line and column of each value below `config`."""
    unread: tuple[tuple[Place, Problem], ...]
    """Values below `config` that could not be read."""
    problems: tuple[Problem, ...]
    """What is wrong beside `config`."""
    notices: tuple[Notice, ...]
    """What to know about the file."""


def _parse_stack_file(document: Document, name: str) -> _StackFile:
    """Return what a stack file says.

    Raises:
        ClaimError: it is not a stack file at all.
    """
    root = document.value
    if not isinstance(root, dict) or not isinstance(root.get("config"), dict):
        what = "is empty" if root is None else "is not a stack file: a mapping with a mapping `config`"
        raise ClaimError([Problem(name, what, "Begin with `config:` and put hearth:llm and the other keys below it")])
    problems = []
    for key in root:
        if key not in _STACK_FILE_KEYS:
            shown = key if _KEY.match(key) else "a key that is not shown"
            guess = nearest(shown, _STACK_FILE_KEYS)
            remedy = f"Did you mean {guess}?" if guess else "The claim stands below `config:`"
            line, column = document.places[(key,)]
            problems.append(Problem(shown, "is not a key of a stack file", remedy, f"{name}:{line}:{column}"))
    twice = [(path, problem) for path, problem in document.problems if path == ("config",)]
    problems += [Problem("config", problem.message, problem.remedy, problem.location) for _, problem in twice]
    notices = []
    if "environment" in root:
        notices.append(
            Notice("environment", "Pulumi alone reads this; what it sets under hearth: is not checked in this file")
        )
    below = {path[1:]: place for path, place in document.places.items() if path[:1] == ("config",) and len(path) > 1}
    unread = [(path[1:], item) for path, item in document.problems if path[:1] == ("config",) and len(path) > 1]
    return _StackFile(root["config"], below, tuple(unread), tuple(problems), tuple(notices))


def load_claim_file(path: Path, *, resolver: Resolver | None = None, deployed: Claim | None = None) -> LoadedClaim:
    """Read and check a stack file.

    Args:
        path: the file, such as `stacks/Pulumi.home.yaml`.
        resolver: looks up the addresses of public hosts that are new (S3-24); without it none is looked up, and a
            notice says so.
        deployed: the claim that was deployed last, whose addresses are not looked up again (S3-25).

    Raises:
        ClaimError: the claim is refused; it lists everything that is wrong.
    """
    whole = Path(os.path.abspath(path))
    base = project_folder(whole.parent)
    inside = whole.relative_to(base).as_posix()
    name = inside if inside.isprintable() else "the stack file"
    read = _parse_stack_file(read_yaml(_read(path, name), name), name)
    match = _STACK_FILE.match(path.name)
    stack = match[1] if match else path.stem
    if not _ANY_STACK_NAME.match(stack):
        remedy = "Call it Pulumi.<stack>.yaml, with letters, digits, _, - and . in the name of the stack"
        raise ClaimError([Problem(name, "has a name that is not that of a stack file", remedy)])
    return _load(
        read.config,
        base=base,
        stack=stack,
        resolver=resolver,
        deployed=deployed,
        name=name,
        places=read.places,
        unread=read.unread,
        beside=read.problems,
        notices=read.notices,
    )


def load_claim_values(
    values: Mapping[str, object],
    *,
    base: Path,
    stack: str,
    resolver: Resolver | None = None,
    deployed: Claim | None = None,
) -> LoadedClaim:
    """Check the values that Pulumi passes.

    Args:
        values: by configuration key (`hearth:llm`, …), as plain values or as the JSON text that Pulumi keeps.
        base: the project's folder.
        stack: name of the environment.
        resolver: as for `load_claim_file`.
        deployed: as for `load_claim_file`.

    Raises:
        ClaimError: the claim is refused; it lists everything that is wrong.
    """
    unread: list[tuple[Place, Problem]] = []
    plain: dict[str, Any] = {}
    for key, value in values.items():
        plain[key] = value
        if isinstance(value, str) and key.startswith(PREFIX) and key.removeprefix(PREFIX) not in _TEXTS:
            try:
                plain[key] = read_json(value)
            except ValueError:
                message = "is not JSON of text, whole numbers, lists and mappings"
                unread.append(((key,), Problem("", message, "Write it in the stack file")))
    return _load(plain, base=base, stack=stack, resolver=resolver, deployed=deployed, unread=tuple(unread))


def _load(
    config: Mapping[str, Any],
    *,
    base: Path,
    stack: str,
    resolver: Resolver | None,
    deployed: Claim | None,
    name: str = "",
    places: Mapping[Place, tuple[int, int]] | None = None,
    unread: tuple[tuple[Place, Problem], ...] = (),
    beside: tuple[Problem, ...] = (),
    notices: tuple[Notice, ...] = (),
) -> LoadedClaim:
    """Check the configuration of a stack, and give every problem its place in the file."""

    def location(path: Place) -> str:
        while path and path not in (places or {}):
            path = path[:-1]
        place = (places or {}).get(path)
        return f"{name}:{place[0]}:{place[1]}" if place else ""

    problems: list[Problem] = [*beside]
    values: dict[str, Any] = {}
    for key, value in config.items():
        if key.startswith(PREFIX) and key.removeprefix(PREFIX) in KEYS:
            values[key.removeprefix(PREFIX)] = value
        elif ":" not in key or key.startswith(PREFIX):
            problems.append(_key_problem(key, location((key,))))
    own = [(_claim_path(path), problem) for path, problem in unread if str(path[0]).removeprefix(PREFIX) in values]
    if "environment" not in values:
        values["environment"] = stack
    checked = check_values(
        values, base=base, resolver=resolver, deployed=deployed, unread=frozenset(path for path, _ in own)
    )
    for path, problem in own:
        problems.append(Problem(render_path(path), problem.message, problem.remedy, problem.location))
    for path, problem in checked.problems:
        where = location((PREFIX + str(path[0]), *path[1:])) if path else ""
        problems.append(Problem(problem.path, problem.message, problem.remedy, where))
    if problems or checked.claim is None:
        raise ClaimError(sorted(set(problems), key=_order))
    other = {key: value for key, value in config.items() if not key.startswith(PREFIX)}
    return LoadedClaim(checked.claim, (*notices, *checked.notices), base, checked.bundles, stack, other)


def _claim_path(path: Place) -> Place:
    """Return a path below `config` as a path in the claim: `hearth:llm` becomes `llm`."""
    return (str(path[0]).removeprefix(PREFIX), *path[1:])


def _order(problem: Problem) -> tuple[int, int, str, str]:
    """Sort by line, then by column; what has no place comes first."""
    numbers = problem.location.rsplit(":", 2)[1:]
    line, column = (int(number) for number in numbers) if len(numbers) == 2 else (0, 0)
    return line, column, problem.path, problem.message


__all__ = [
    "KEYS",
    "LoadedClaim",
    "load_claim_file",
    "load_claim_values",
    "project_folder",
    "stack_file",
]
