"""From the validator's errors to messages of our own, which never hold a refused value (S3-72)."""

import difflib
import re
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from hearth.claim.base import MEANINGS
from hearth.claim.problems import Problem, shown
from hearth.claim.reader import Path

_PLAIN_KEY = re.compile(r"[A-Za-z]{1,32}(256)?\Z")
_DECLARED_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*\Z")
_REQUIREMENTS = re.compile(r" \([CSU][0-9]*-[^)]*\)")
_FIELD_NAME = re.compile(r"[A-Za-z]{1,32}\Z")

_AT_LEAST: Final = {"greater_than": "gt", "greater_than_equal": "ge"}
_AT_MOST: Final = {"less_than": "lt", "less_than_equal": "le"}


def render_path(path: Iterable[str | int]) -> str:
    """Return a path as messages show it: `hearth:llm.providers[1].apiBase`.

    Keys that are neither field names nor well-formed names are not shown: somebody may have put a secret there.
    """
    text = ""
    for index, part in enumerate(path):
        if isinstance(part, int):
            text += f"[{part}]"
        elif index == 0:
            text = f"hearth:{part}"
        elif _PLAIN_KEY.match(part) or (_DECLARED_NAME.match(part) and len(part) <= 40 and shown(part)):
            text += f".{part}"
        elif shown(part):
            text += f'["{part}"]'
        else:
            text += "[a name that is not shown]"
    return text or "hearth"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that a misspelt one most likely means, if any."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    name = name[:64].lower()
    longer = [candidate for candidate in by_lower if len(name) > 3 and candidate.startswith(name)]
    match = longer or difflib.get_close_matches(name, by_lower, n=1, cutoff=0.6)
    return by_lower[match[0]] if match else None


def _without_annotations(kind: Any) -> Any:
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    return kind


def _alternatives(kind: Any) -> Iterator[Any]:
    """Yield what a type may be, without `None` and with unions resolved."""
    kind = _without_annotations(kind)
    if get_origin(kind) in (Union, types.UnionType):
        for member in get_args(kind):
            yield from _alternatives(member)
    elif kind is not type(None):
        yield kind


def _fields(kind: type[BaseModel]) -> dict[str, Any]:
    return {field.alias or name: field for name, field in kind.model_fields.items()}


def _kinds_below(kinds: list[Any], key: str | int) -> list[Any]:
    """Return what may stand under a key of any of the given types."""
    found: list[Any] = []
    for kind in kinds:
        origin, arguments = get_origin(kind), get_args(kind)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            known = _fields(kind).get(str(key))
            if known is not None:
                found.extend(_alternatives(known.annotation))
        elif origin is dict:
            found.extend(_alternatives(arguments[1]))
        elif origin is tuple:
            found.extend(_alternatives(arguments[0]))
    return found


def _models(kinds: Iterable[Any]) -> list[type[BaseModel]]:
    return [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)]


def _walk(root: type[BaseModel], values: Any, location: tuple[str | int, ...]) -> tuple[Path, list[Any], Any]:
    """Return the path, the possible types and the value at a validator's location.

    The validator puts the tag of a union and `[key]` into its locations; neither is part of the claim.
    """
    path: list[str | int] = []
    kinds: list[Any] = [root]
    here: Any = values
    for index, part in enumerate(location):
        last = index == len(location) - 1
        if part == "[key]" and last:
            break
        tagged = len(_models(kinds)) > 1 and isinstance(part, str) and isinstance(here, Mapping)
        if tagged and part in _tags(kinds):
            kinds = [kind for kind in kinds if part in _tags([kind])]
            continue
        here = _below(here, part)
        path.append(part)
        kinds = _kinds_below(kinds, part)
    return tuple(path), kinds, here


def _below(value: Any, part: str | int) -> Any:
    """Return the value under a key or an index, or `None`."""
    if isinstance(value, Mapping):
        return value.get(part)
    return value[part] if isinstance(value, list) and isinstance(part, int) and part < len(value) else None


def _tags(kinds: list[Any]) -> list[str]:
    """Return the values of `mode` that choose one of several shapes."""
    return [tag for kind in _models(kinds) for tag in get_args(_without_annotations(_fields(kind)["mode"].annotation))]


def _what_yaml_read(value: Any) -> str | None:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a text"
    return "a mapping" if isinstance(value, Mapping) else "a list"


def _wrong_type(wanted: str, value: Any) -> tuple[str, str]:
    message = f"must be {wanted}, and is {_what_yaml_read(value)}"
    if wanted == "a text" and isinstance(value, bool | int | float):
        return message, "Put it in quotes"
    if isinstance(value, str) and wanted in ("a whole number", "true or false"):
        return message, f"Write {wanted} without quotes"
    if value is None:
        return message, "Write a value, or leave the field out where it is optional"
    return message, f"Write {wanted}"


def _unknown_field(name: str, owners: list[type[BaseModel]]) -> tuple[str, str]:
    known = sorted({field for owner in owners for field in _fields(owner)})
    guess = nearest(name, known)
    if guess is not None:
        return "is not a field of this part of the claim", f"Did you mean {guess}?"
    return "is not a field of this part of the claim", f"Known fields: {', '.join(known)}"


def _meaning(description: str | None) -> str:
    """Return the first sentence of a field's description, without the numbers of requirements."""
    text = _REQUIREMENTS.sub("", " ".join((description or "").split()))
    first = text.split(". ")[0].rstrip(".")
    return first[:1].lower() + first[1:]


def _choices(kinds: list[Any]) -> list[str]:
    found = [str(value) for kind in kinds if get_origin(kind) is Literal for value in get_args(kind)]
    return found or _tags(kinds)


def _explain(error: Mapping[str, Any], kinds: list[Any], value: Any) -> tuple[str, str]:
    """Return what is wrong and what to do for one error of the validator."""
    kind, context = error["type"], error.get("ctx", {})
    if kind in _AT_LEAST:
        bound = context[_AT_LEAST[kind]] + (1 if kind == "greater_than" else 0)
        return f"must be at least {bound}", "Write a larger number"
    if kind in _AT_MOST:
        bound = context[_AT_MOST[kind]] - (1 if kind == "less_than" else 0)
        return f"must be at most {bound}", "Write a smaller number"
    if kind == "string_pattern_mismatch":
        return "is not well-formed", f"It must be {MEANINGS[context['pattern']]}"
    if kind == "string_too_short":
        return "is empty", "Write a value"
    if kind == "string_too_long":
        return f"is longer than {context['max_length']} characters", "Write a shorter one"
    if kind == "too_short":
        return "is an empty list", "Name at least one"
    if kind == "value_error":
        # Of a validator of our own, whose text holds no value.
        return error["msg"].removeprefix("Value error, "), "Write another value"
    if kind in ("literal_error", "union_tag_invalid", "union_tag_not_found"):
        choices = _choices(kinds)
        guess = nearest(value, choices) if isinstance(value, str) else None
        return f"must be one of {', '.join(choices)}", f"Did you mean {guess}?" if guess else "Write one of these"
    wanted = {"string": "a text", "int": "a whole number", "bool": "true or false", "tuple": "a list"}
    return _wrong_type(wanted.get(kind.split("_")[0], "a mapping"), value)


def translate(root: type[BaseModel], values: Any, errors: Iterable[Mapping[str, Any]]) -> list[tuple[Path, Problem]]:
    """Return the problems behind a validator's errors, each with the path of what is wrong.

    Args:
        root: the shape that was validated.
        values: what it was validated from.
        errors: `ValidationError.errors(include_input=False, include_url=False)`.
    """
    found: list[tuple[Path, Problem]] = []
    for error in errors:
        location = error["loc"]
        path, kinds, value = _walk(root, values, location)
        if error["type"] == "too_short" and value:
            continue  # the list is short only because of entries that have problems of their own
        if error["type"] == "missing":
            _, owners, _ = _walk(root, values, location[:-1])
            known = [_fields(owner)[path[-1]] for owner in _models(owners) if path[-1] in _fields(owner)]
            message, remedy = "is missing", f"Add it: {_meaning(known[0].description)}" if known else "Add it"
        elif error["type"] == "extra_forbidden":
            _, owners, _ = _walk(root, values, location[:-1])
            name = str(path[-1])
            message, remedy = _unknown_field(name, _models(owners))
            if not _FIELD_NAME.match(name):
                problem = Problem(f"{render_path(path[:-1])}[a name that is not shown]", message, remedy)
                found.append((path, problem))
                continue
        elif location and location[-1] == "[key]":
            message, remedy = _explain(error, kinds, None)
            message = "is not a well-formed name" if error["type"] == "string_pattern_mismatch" else message
        else:
            if error["type"] in ("union_tag_invalid", "union_tag_not_found") and isinstance(value, Mapping):
                path, value = (*path, "mode"), value.get("mode")
            message, remedy = _explain(error, kinds, value)
        found.append((path, Problem(render_path(path), message, remedy)))
    return found
