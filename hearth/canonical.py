"""The one canonical form of JSON, which digests and signatures are made over (RFC 8785).

There is one canonicaliser, so that every way of writing the same content gives the same digest.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

import rfc8785


class MalformedError(ValueError):
    """A document is not what its format says; the message never repeats its content."""


def canonical(value: Mapping[str, Any]) -> bytes:
    """Return the canonical JSON of `value` (RFC 8785): sorted keys, no white space, one spelling of each value.

    Raises:
        MalformedError: a value has no canonical form, such as an integer above 2**53 - 1 or half a character.
    """
    try:
        return rfc8785.dumps(dict(value))
    except (rfc8785.CanonicalizationError, RecursionError, UnicodeError):
        raise MalformedError("a value in it has no canonical JSON form") from None


def digest(value: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical JSON of `value` as 64 hexadecimal digits.

    Raises:
        MalformedError: a value has no canonical form.
    """
    return hashlib.sha256(canonical(value)).hexdigest()
