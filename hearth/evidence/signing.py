"""Ed25519 signatures over evidence (S4-102, S4-103)."""

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from hearth.canonical import canonical, digest
from hearth.evidence.document import Evidence, Statement

PREFIX: Final = "base64:"
"""What a signature begins with."""
SIGNATURE_FIELD: Final = "signature"
"""The one field that the signature does not cover."""


def decode(text: str, length: int) -> bytes:
    """Return the bytes that `text` spells in base64, accepting the one canonical spelling only.

    Base64 has several spellings of the same bytes; accepting them would make two documents with one signature.

    Raises:
        ValueError: not canonical base64 of exactly `length` bytes.
    """
    try:
        raw = base64.b64decode(text.encode("ascii"), validate=True)
    except (UnicodeEncodeError, binascii.Error):
        raise ValueError("is not base64") from None
    if len(raw) != length or base64.b64encode(raw).decode() != text:
        raise ValueError(f"is not the base64 of {length} bytes")
    return raw


def signed_part(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the signature of a document covers: everything but the signature."""
    return {key: value for key, value in document.items() if key != SIGNATURE_FIELD}


def sign(statement: Statement, key: Ed25519PrivateKey) -> Evidence:
    """Return the statement with its signature. The same statement and key always give the same signature.

    Raises:
        MalformedError: a value has no canonical form.
    """
    content = statement.model_dump(mode="json", by_alias=True)
    signature = PREFIX + base64.b64encode(key.sign(canonical(content))).decode()
    return Evidence.model_validate_json(json.dumps({**content, SIGNATURE_FIELD: signature}))


def signature_holds(document: Mapping[str, Any], key: Ed25519PublicKey) -> bool:
    """Return whether the signature of a document, as it was read, is the key's.

    Raises:
        MalformedError: a value has no canonical form.
    """
    signature = document.get(SIGNATURE_FIELD)
    if not isinstance(signature, str) or not signature.startswith(PREFIX):
        return False
    try:
        raw = decode(signature.removeprefix(PREFIX), 64)
    except ValueError:
        return False
    content = canonical(signed_part(document))
    try:
        key.verify(raw, content)
    except InvalidSignature:
        return False
    return True


def evidence_digest(document: Mapping[str, Any]) -> str:
    """Return the digest that names a document: SHA-256 over the canonical JSON of its signed part.

    It proves integrity and nothing about who wrote it (S4-103).
    """
    return digest(signed_part(document))


def evidence_text(evidence: Evidence) -> str:
    """Return the document as it is stored: sorted and indented, so that a change can be read in a review."""
    return json.dumps(evidence.model_dump(mode="json", by_alias=True), indent=2, sort_keys=True) + "\n"
