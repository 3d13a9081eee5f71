"""The trust store."""

import base64
import json
from typing import Any

import pytest
from pydantic import ValidationError

from hearth.evidence.trust import TrustStore, public_key_text
from tests.unit.evidence import samples

GOOD: dict[str, Any] = {
    "publicKey": public_key_text(samples.KEY.public_key()),
    "notBefore": "2026-07-01T00:00:00Z",
    "notAfter": "2026-10-01T00:00:00Z",
}


def store(keys: dict[str, Any]) -> TrustStore:
    return TrustStore.model_validate_json(json.dumps({"version": "hearth.trust-store/v1", "keys": keys}))


def test_a_store_names_the_keys_that_are_not_revoked() -> None:
    other = {**GOOD, "publicKey": public_key_text(samples.OTHER_KEY.public_key()), "revoked": True}
    assert store({"b": GOOD, "a": other}).approved_key_ids == ("b",)


@pytest.mark.parametrize(
    "change",
    [
        {"publicKey": "x"},
        {"publicKey": base64.b64encode(bytes(31)).decode()},
        {"publicKey": GOOD["publicKey"][:-1]},
        {"publicKey": GOOD["publicKey"] + "\n"},
        {"notBefore": "2026-07-01"},
        {"notBefore": "2026-10-01T00:00:00Z"},
        {"notAfter": "2026-10-01T00:00:00+02:00"},
        {"revoked": "yes"},
        {"privateKey": "x"},
    ],
    ids=str,
)
def test_a_wrong_key_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        store({"home": {**GOOD, **change}})


@pytest.mark.parametrize("sign_bit", [0, 0x80])
@pytest.mark.parametrize("first", [0, 1, 0xEC, 0xED, 0xEE])
def test_a_key_that_anybody_can_sign_for_is_refused(first: int, sign_bit: int) -> None:
    """All zeros is what a placeholder looks like, and a point of small order: signatures for it can be made up."""
    middle, last = (b"\x00", 0) if first < 2 else (b"\xff", 0x7F)
    raw = bytes([first]) + middle * 30 + bytes([last | sign_bit])
    with pytest.raises(ValidationError):
        store({"home": {**GOOD, "publicKey": base64.b64encode(raw).decode()}})


def test_one_key_under_two_ids_is_refused() -> None:
    with pytest.raises(ValidationError, match="two ids"):
        store({"a": GOOD, "b": GOOD})
