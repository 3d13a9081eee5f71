"""From bytes to plain values: the part of YAML that a stack file needs, each value with its line and column.

YAML as a whole would accept what a claim must not hold: aliases that expand without bound, tags that build objects,
a key twice, and plain scalars that two programs read as two different values. The events of the parser are read
instead, one after the other, so that memory and time are bounded by the size of the file.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from hearth.claim.problems import ClaimError, Problem
from hearth.claim.scalars import CONSTANTS, INTEGER, NUMBER_OR_DATE, TRUTHS, is_text

MAX_BYTES: Final = 1_048_576
"""Largest stack file in bytes."""
MAX_DEPTH: Final = 24
"""Deepest nesting of mappings and lists."""

Path = tuple[str | int, ...]
"""Where a value stands: mapping keys and list indexes from the root."""


@dataclass
class Document:
    """What a file or a text holds."""

    value: Any = None
    """Plain values: dict, list, str, int, bool and None."""
    places: dict[Path, tuple[int, int]] = field(default_factory=dict)
    """Line and column of each value, both from 1."""
    problems: list[tuple[Path, Problem]] = field(default_factory=list)
    """What is wrong with single values; the rest can still be checked."""


def _refuse(name: str, message: str, remedy: str, mark: Any = None) -> ClaimError:
    location = f"{name}:{mark.line + 1}:{mark.column + 1}" if mark is not None else ""
    return ClaimError([Problem("YAML" if location else name, message, remedy, location)])


def decode(data: bytes, name: str) -> str:
    """Return the text of a stack file.

    Raises:
        ClaimError: it is larger than `MAX_BYTES` or is not UTF-8.
    """
    if len(data) > MAX_BYTES:
        raise _refuse(name, f"is larger than {MAX_BYTES // 1024} KiB", "A stack file holds a claim and nothing else")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = Problem(name, "is not UTF-8", "Save it as UTF-8 text", f"{name}:{line}")
        raise ClaimError([problem]) from None


class _Reader:
    """Builds plain values from parser events."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.document = Document()

    def events(self, text: str) -> Iterator[Any]:
        """Yield the parser's events; a syntax error becomes a `ClaimError` of one line."""
        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            yield from yaml.parse(text, Loader=loader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            lines = text.split("\n")
            line = lines[mark.line] if mark is not None and mark.line < len(lines) else ""
            if "\t" in line[: len(line) - len(line.lstrip())]:
                raise _refuse(self.name, "a tab indents this line", "Indent with spaces", mark) from None
            raise _refuse(
                self.name, "is broken before or at this place", "Check indentation, quotes and brackets", mark
            ) from None
        except yaml.YAMLError:
            raise _refuse(
                self.name, "holds a control character, which YAML does not allow", "Remove it; an editor can show it"
            ) from None

    def read(self, text: str) -> Document:
        """Return the single document of a text."""
        events = self.events(text)
        seen = False
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                if seen:
                    raise _refuse(
                        self.name, "begins a second document", "Keep one document in a file", event.start_mark
                    )
                seen = True
                self.document.value = self.node(next(events), events, ())
        return self.document

    def problem(self, path: Path, mark: Any, message: str, remedy: str) -> None:
        """Note what is wrong with one value."""
        location = f"{self.name}:{mark.line + 1}:{mark.column + 1}"
        self.document.problems.append((path, Problem("", message, remedy, location)))

    def node(self, event: Any, events: Iterator[Any], path: Path) -> Any:
        """Return the value that begins with an event."""
        mark = event.start_mark
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise _refuse(self.name, "uses a YAML anchor or alias", "Write the value out at each place", mark)
        if len(path) > MAX_DEPTH:
            raise _refuse(self.name, "is nested too deeply", "Write the claim as its schema says", mark)
        self.document.places[path] = (mark.line + 1, mark.column + 1)
        if event.tag is not None:
            self.problem(path, mark, "has a YAML tag", "Remove the tag; put a text in quotes instead")
            event.tag = None
        if isinstance(event, yaml.MappingStartEvent):
            return self.mapping(events, path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self.sequence(events, path)
        return self.scalar(event, path)

    def mapping(self, events: Iterator[Any], path: Path) -> dict[str, Any]:
        """Return a mapping; a key twice is a problem and its first value counts."""
        found: dict[str, Any] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            mark = event.start_mark
            if not isinstance(event, yaml.ScalarEvent) or event.anchor is not None:
                raise _refuse(self.name, "has a key that is not a plain text", "Write a text as the key", mark)
            if event.tag is not None:
                self.problem(path, mark, "has a key with a YAML tag", "Remove the tag")
            key = event.value
            if key == "<<" and event.implicit[0]:
                raise _refuse(self.name, "merges a mapping with <<", "Write the values out", mark)
            if len(key) > 512:
                raise _refuse(self.name, "has a key of more than 512 characters", "Write a shorter name", mark)
            if event.implicit[0] and not is_text(key):
                self.problem(
                    (*path, key), mark, "is a name that YAML programs read differently", "Put the name in quotes"
                )
            value = self.node(next(events), events, (*path, key))
            if key in found:
                self.problem((*path, key), mark, "is there twice", "Keep one of the two")
                continue
            found[key] = value
            self.document.places[(*path, key)] = (mark.line + 1, mark.column + 1)
        return found

    def sequence(self, events: Iterator[Any], path: Path) -> list[Any]:
        """Return a list."""
        found: list[Any] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            found.append(self.node(event, events, (*path, len(found))))
        return found

    def scalar(self, event: Any, path: Path) -> Any:
        """Return a scalar: quoted ones are text, plain ones only what every YAML reads alike."""
        text: str = event.value
        if not event.implicit[0]:
            return text
        if text in CONSTANTS:
            return CONSTANTS[text]
        if INTEGER.match(text):
            if len(text) <= 19:
                return int(text)
            self.problem(path, event.start_mark, "is too large a number", "Put it in quotes if it is a text")
            return None
        if NUMBER_OR_DATE.match(text):
            self.problem(
                path,
                event.start_mark,
                "is a number or a date that YAML programs read differently",
                "Put it in quotes, or write a whole number in plain digits",
            )
            return None
        if text in TRUTHS:
            self.problem(
                path,
                event.start_mark,
                "is a word that some YAML programs read as true or false",
                "Write true or false, or put it in quotes if it is a text",
            )
            return None
        return text


def read_yaml(data: bytes, name: str) -> Document:
    """Read a stack file.

    Args:
        data: the file's bytes.
        name: what messages call the file.

    Raises:
        ClaimError: the file as a whole cannot be read. Problems of single values are in `Document.problems`.
    """
    return _Reader(name).read(decode(data, name))


def read_json(text: str) -> Any:
    """Read the JSON text that Pulumi passes for one configuration key.

    Raises:
        ValueError: it is not JSON, has a key twice, or has a number that is not whole.
    """

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) != len(items):
            raise ValueError("a key twice")
        return found

    def refuse(_: str) -> Any:
        raise ValueError("a number that is not whole")

    if len(text) > MAX_BYTES:
        raise ValueError("too large")
    try:
        return json.loads(text, object_pairs_hook=pairs, parse_float=refuse, parse_constant=refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None
