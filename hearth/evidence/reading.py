"""Reading the JSON of evidence strictly."""

from typing import Any, Final

from hearth.canonical import MalformedError
from hearth.claim.reader import read_json

MAXIMUM_BYTES: Final = 262_144
"""Largest evidence file in bytes."""


def read_document(data: bytes) -> dict[str, Any]:
    """Return the JSON object in `data`.

    A field that stands in an object twice is refused, because two readers could choose different values of it, and
    so are numbers that are not whole, which no document has.

    Raises:
        MalformedError: larger than MAXIMUM_BYTES, not UTF-8, not JSON, or not an object.
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
    return value
