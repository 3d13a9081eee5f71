"""The trust store: which runner keys an environment believes (S4-102, S4-104).

It is a file of its own with owners of its own, at a place that nothing moves. Evidence names a key in it; neither
evidence nor a claim can add one.
"""

import base64
from typing import Annotated, Final, Literal, Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from pydantic import AfterValidator, Field, model_validator

from hearth.claim.base import Shape
from hearth.evidence.document import KeyId, Timestamp, moment
from hearth.evidence.signing import decode

_WEAK: Final = frozenset(
    bytes.fromhex(point)
    for point in (
        "00" * 32,
        "01" + "00" * 31,
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "ec" + "ff" * 30 + "7f",
        "ed" + "ff" * 30 + "7f",
        "ee" + "ff" * 30 + "7f",
    )
)
"""Points of small order, sign bit cleared. Anybody can sign for them, and the placeholder of all zeros is one."""


def _public_key(text: str) -> str:
    raw = decode(text, 32)
    if raw[:31] + bytes([raw[31] & 0x7F]) in _WEAK:
        raise ValueError("is a placeholder that anybody can sign for")
    return text


class RunnerKey(Shape):
    """One runner's public key."""

    public_key: Annotated[str, AfterValidator(_public_key)]
    """Raw Ed25519 public key in base64, 44 characters."""
    not_before: Timestamp
    """First moment at which an endpoint may have been tested with it."""
    not_after: Timestamp
    """Last moment at which an endpoint may have been tested with it."""
    revoked: bool = False
    """Whether nothing that it ever signed is believed any more: its holder could write any date into a document."""

    @model_validator(mode="after")
    def _period(self) -> Self:
        if moment(self.not_before) >= moment(self.not_after):
            raise ValueError("has a notBefore that is not before its notAfter")
        return self

    @property
    def ed25519(self) -> Ed25519PublicKey:
        """Return the key."""
        return Ed25519PublicKey.from_public_bytes(decode(self.public_key, 32))


class TrustStore(Shape):
    """The runner keys that an environment believes."""

    version: Literal["hearth.trust-store/v1"]
    """Version of the format."""
    keys: Annotated[dict[KeyId, RunnerKey], Field(max_length=256)]
    """Keys by key id. An id is used once: a new key gets a new id."""

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        if len({key.public_key for key in self.keys.values()}) != len(self.keys):
            raise ValueError("has one public key under two ids, so that revoking one would leave the other")
        return self

    @property
    def approved_key_ids(self) -> tuple[str, ...]:
        """Return the ids of the keys that are not revoked, sorted: what a snapshot may name (S4-131)."""
        return tuple(sorted(name for name, key in self.keys.items() if not key.revoked))


def public_key_text(key: Ed25519PublicKey) -> str:
    """Return a public key as the trust store spells it."""
    return base64.b64encode(key.public_bytes(Encoding.Raw, PublicFormat.Raw)).decode()
