"""JSON as two programs cannot read differently: UTF-8, every key once, finite numbers, bounded depth and size.

The standard library's parser accepts more (duplicate keys, NaN, lone surrogates, numbers without end), and where two
parsers differ a caller decides which of them is deceived.
"""

import json
import math
from typing import Any, Final, NoReturn

MOST_DEPTH: Final = 64
"""Arrays and objects inside each other."""
MOST_CONTAINERS: Final = 100_000
"""Arrays and objects in one body; brackets inside texts count too."""
MOST_ITEMS: Final = 1_000_000
"""Commas in one body, those inside texts too: what bounds the longest time that the parser holds the interpreter."""
MOST_DIGITS: Final = 19
"""Digits of a whole number: what 64 bits hold."""


class InvalidJsonError(ValueError):
    """The text is not strict JSON; the message says why and repeats nothing of it."""


def parse(text: bytes) -> Any:
    """Return the value of a JSON text.

    Raises:
        InvalidJsonError: it is not UTF-8 or not JSON, has a key twice, a number that is no finite 64-bit one, a NUL or
            half a surrogate pair in a text, or more depth, containers or items than permitted.
    """
    containers = text.count(b"[") + text.count(b"{")
    if containers > MOST_CONTAINERS or text.count(b",") > MOST_ITEMS:
        raise InvalidJsonError("It has too many arrays, objects or items.")
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidJsonError("It is not UTF-8.") from None
    try:
        value = _DECODER.decode(decoded)
    except json.JSONDecodeError as error:
        raise InvalidJsonError(f"It is no JSON from byte {len(decoded[: error.pos].encode())} on.") from None
    except RecursionError:
        raise InvalidJsonError(f"It is nested deeper than {MOST_DEPTH}.") from None
    if containers > MOST_DEPTH:
        _check_depth(value)
    if any(escape in decoded for escape in ("\\u0000", "\\ud", "\\uD")):
        _check_texts(value)
    return value


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MOST_DEPTH):
        level = [
            item
            for container in level
            if isinstance(container, dict | list)
            for item in (container.values() if isinstance(container, dict) else container)
            if isinstance(item, dict | list)
        ]
        if not level:
            return
    raise InvalidJsonError(f"It is nested deeper than {MOST_DEPTH}.")


def _check_texts(value: Any) -> None:
    """Refuse what an escape can spell and no program after this one should have to carry."""
    open_values = [value]
    while open_values:
        one = open_values.pop()
        if isinstance(one, dict):
            open_values += one
            open_values += one.values()
        elif isinstance(one, list):
            open_values += one
        elif isinstance(one, str):
            if "\x00" in one:
                raise InvalidJsonError("A text has a NUL character.")
            if not one.isascii():
                try:
                    one.encode("utf-8")
                except UnicodeEncodeError:
                    raise InvalidJsonError("A text has half of a surrogate pair.") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise InvalidJsonError("An object has a key twice.")
    return found


def _whole(digits: str) -> int:
    if len(digits.lstrip("-")) > MOST_DIGITS:
        raise InvalidJsonError("A whole number has too many digits.")
    return int(digits)


def _fraction(digits: str) -> float:
    number = float(digits)
    if len(digits) > 64 or not math.isfinite(number):
        raise InvalidJsonError("A number is too large or has too many digits.")
    return number


def _constant(_name: str) -> NoReturn:
    raise InvalidJsonError("NaN and Infinity are no JSON.")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_whole, parse_float=_fraction, parse_constant=_constant
)
