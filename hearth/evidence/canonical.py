"""Reading JSON strictly, and the one canonical form that digests and signatures are made over (RFC 8785).

There is one canonicaliser, so that every way of writing the same content gives the same digest.
"""

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import rfc8785

from hearth.claim.reader import read_json

MAXIMUM_BYTES: Final = 262_144
"""Largest evidence file in bytes."""


class MalformedError(ValueError):
    """A file is not what its format says; the message never repeats its content."""


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


def canonical(value: Mapping[str, Any]) -> bytes:
    """Return the canonical JSON of `value` (RFC 8785): sorted keys, no white space, one spelling of each value.

    Raises:
        MalformedError: a value has no canonical form, such as an integer above 2**53 - 1.
    """
    try:
        return rfc8785.dumps(dict(value))
    except (rfc8785.CanonicalizationError, RecursionError):
        raise MalformedError("a value in it has no canonical JSON form") from None


def digest(value: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical JSON of `value` as 64 hexadecimal digits.

    Raises:
        MalformedError: a value has no canonical form.
    """
    return hashlib.sha256(canonical(value)).hexdigest()
