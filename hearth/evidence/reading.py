"""Reading the JSON of evidence strictly."""

from typing import Any, Final

from hearth.canonical import MalformedError
from hearth.claim.reader import read_json

MAXIMUM_BYTES: Final = 262_144
"""Largest evidence file in bytes."""
MAXIMUM_DEPTH: Final = 16
"""Deepest nesting of objects and lists; a document has at most eight."""
_MAXIMUM_INTEGER: Final = 2**53 - 1


def read_document(data: bytes) -> dict[str, Any]:
    """Return the JSON object in `data`.

    A field that stands in an object twice is refused, because two readers could choose different values of it, and
    so are numbers that are not whole, which no document has. What is returned has a canonical form, whoever wrote it.

    Raises:
        MalformedError: larger than MAXIMUM_BYTES, not UTF-8, not JSON, not an object, nested deeper than
            MAXIMUM_DEPTH, or with half a character or an integer above 2**53 - 1 in it.
    """
    if len(data) > MAXIMUM_BYTES:
        raise MalformedError(f"it is larger than {MAXIMUM_BYTES} bytes")
    try:
        value = read_json(data.decode("utf-8"))
    except ValueError:
        # UnicodeDecodeError is one too; which of them it was is of no use to anybody who did not write the file.
        raise MalformedError("it is not the JSON of a document") from None
    if not isinstance(value, dict):
        raise MalformedError("it is not a JSON object")
    _check(value, 1)
    return value


def _check(value: Any, depth: int) -> None:
    """Refuse what could be read and has no canonical form."""
    if depth > MAXIMUM_DEPTH:
        raise MalformedError("it is nested too deeply")
    if isinstance(value, dict):
        for key, item in value.items():
            _check(key, depth)
            _check(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            _check(item, depth + 1)
    elif isinstance(value, str) and not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise MalformedError("it holds half a character") from None
    elif isinstance(value, int) and abs(value) > _MAXIMUM_INTEGER:
        raise MalformedError("it holds too large a number")
