"""Canonical form, digests and signatures."""

import base64
import hashlib
import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearth.canonical import MalformedError, canonical
from hearth.evidence.document import Statement, moment, timestamp
from hearth.evidence.reading import MAXIMUM_BYTES, read_document
from hearth.evidence.reasons import Reason, Verdict
from hearth.evidence.signing import decode, evidence_digest, sign
from hearth.evidence.verify import authenticate, verify
from tests.unit.evidence import samples

GOLDEN_SHA256 = "fe8676575f9f4875b538cdd7144c139cc2171b3312d7ca2b2984c310a34338c8"
GOLDEN_SIGNATURE = "base64:8Tyq1wSsOQQJG6YIr2Q89t93o76Oa6CPXrVUFPtV3YJOrBgx1D9QOfXZ2vRjF9pt5RyJWQ2ye8Z3LnS0mxWPBw=="


def test_golden_vector() -> None:
    """The form is for ever: this fixed document and this fixed key give this digest and this signature."""
    document = json.loads(samples.signed())
    assert evidence_digest(document) == GOLDEN_SHA256
    assert document["signature"] == GOLDEN_SIGNATURE
    content = {key: value for key, value in document.items() if key != "signature"}
    elsewhere = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
    assert hashlib.sha256(elsewhere).hexdigest() == GOLDEN_SHA256
    samples.KEY.public_key().verify(base64.b64decode(GOLDEN_SIGNATURE.removeprefix("base64:")), elsewhere)


def test_signed_evidence_is_valid() -> None:
    verification = verify(samples.signed(), samples.SUBJECT, samples.trust_store(), samples.NOW)
    assert verification.findings == ()
    assert verification.verdict is Verdict.VALID
    assert verification.sha256 == GOLDEN_SHA256


def _shuffled(value: Any, order: random.Random) -> Any:
    if isinstance(value, dict):
        items = list(value.items())
        order.shuffle(items)
        return {key: _shuffled(item, order) for key, item in items}
    if isinstance(value, list):
        return [_shuffled(item, order) for item in value]
    return value


@given(st.randoms(use_true_random=False), st.sampled_from([None, 1, "\t"]), st.booleans())
def test_every_way_of_writing_a_document_has_the_same_digest(
    order: random.Random, indent: int | str | None, ascii_only: bool
) -> None:
    text = json.dumps(_shuffled(json.loads(samples.signed()), order), indent=indent, ensure_ascii=ascii_only)
    assert authenticate(text.encode(), samples.trust_store()).sha256 == GOLDEN_SHA256


def _leaves(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    if isinstance(value, dict) and value:
        return [leaf for key, item in value.items() for leaf in _leaves(item, (*path, key))]
    if isinstance(value, list) and value:
        return [leaf for index, item in enumerate(value) for leaf in _leaves(item, (*path, index))]
    return [path]


LEAVES = _leaves(json.loads(samples.signed()))
REPLACEMENTS = st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.text(max_size=8), st.just({}), st.just([]))


def _place(document: Any, path: tuple[str | int, ...]) -> Any:
    for step in path[:-1]:
        document = document[step]
    return document


@given(st.sampled_from(LEAVES), REPLACEMENTS)
def test_any_changed_field_invalidates(path: tuple[str | int, ...], value: Any) -> None:
    document = json.loads(samples.signed())
    place = _place(document, path)
    if json.dumps(place[path[-1]]) == json.dumps(value):
        return
    place[path[-1]] = value
    verification = authenticate(json.dumps(document).encode(), samples.trust_store())
    assert verification.evidence is None
    assert verification.verdict is Verdict.INVALID


@pytest.mark.parametrize("path", LEAVES, ids=lambda path: ".".join(map(str, path)))
def test_any_removed_field_invalidates(path: tuple[str | int, ...]) -> None:
    document = json.loads(samples.signed())
    del _place(document, path)[path[-1]]
    verification = authenticate(json.dumps(document).encode(), samples.trust_store())
    assert verification.evidence is None
    assert verification.verdict is Verdict.INVALID


def test_an_added_field_invalidates() -> None:
    document = {**json.loads(samples.signed()), "note": "approved"}
    verification = authenticate(json.dumps(document).encode(), samples.trust_store())
    assert verification.findings[0].reason is Reason.SIGNATURE_INVALID


@pytest.mark.parametrize("bit", range(0, 512, 7))
def test_any_flipped_bit_of_the_signature_invalidates(bit: int) -> None:
    document = json.loads(samples.signed())
    raw = bytearray(decode(document["signature"].removeprefix("base64:"), 64))
    raw[bit // 8] ^= 1 << bit % 8
    changed = base64.b64encode(bytes(raw)).decode()
    document["signature"] = f"base64:{changed}"
    verification = authenticate(json.dumps(document).encode(), samples.trust_store())
    assert [finding.reason for finding in verification.findings] == [Reason.SIGNATURE_INVALID]


def test_a_second_spelling_of_the_signature_is_refused() -> None:
    """The last base64 character of 64 bytes has four spare bits; a lenient decoder would accept sixteen spellings."""
    document = json.loads(samples.signed())
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    last = document["signature"][-3]
    document["signature"] = document["signature"][:-3] + alphabet[alphabet.index(last) + 1] + "=="
    verification = authenticate(json.dumps(document).encode(), samples.trust_store())
    assert [finding.reason for finding in verification.findings] == [Reason.SIGNATURE_INVALID]


def test_no_tool_version_is_signed() -> None:
    """A new release of Hearth must not move a digest: the document has no place for its version (AICR#2786)."""
    schema = Statement.model_json_schema(by_alias=True)
    shapes = [schema, *schema["$defs"].values()]
    versions = {name for shape in shapes for name in shape.get("properties", {}) if "version" in name.lower()}
    assert versions == {"version", "profileVersion", "runtimeVersion", "catalogueVersion"}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b'"text"',
        b"\xff\xfe{}",
        b"[" * 100_000,
        b'{"a": 1, "a": 1}',
        b'{"nested": {"a": 1, "a": 2}}',
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b'{"a": ' + b"9" * 5_000 + b"}",
        b'{"\\ud800": 1}',
        b'{"a": [{"b": "\\udfff"}]}',
        b'{"signerKeyId": "\\ud800"}',
        b'{"a": 9007199254740992}',
        b'{"a": ' + b"[" * 20 + b"]" * 20 + b"}",
        b'{"a": ' * 900 + b"1" + b"}" * 900,
        b"{}" + b" " * MAXIMUM_BYTES,
    ],
    ids=lambda data: f"{data[:12]!r}-{len(data)}",
)
def test_what_is_not_a_json_object_is_malformed(data: bytes) -> None:
    with pytest.raises(MalformedError):
        read_document(data)
    assert authenticate(data, samples.trust_store()).findings[0].reason is Reason.MALFORMED


@pytest.mark.parametrize("value", [{"a": 2**53}, {"a": "\ud800"}, {"\ud800": 1}, {"a": float("inf")}])
def test_what_has_no_canonical_form_is_malformed(value: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        canonical(value)


@pytest.mark.parametrize("field", [b'"a": 9007199254740993', b'"a": "\\ud800"'])
def test_a_document_without_canonical_form_is_malformed(field: bytes) -> None:
    data = samples.signed().rstrip()[:-1] + b", " + field + b"}"
    assert authenticate(data, samples.trust_store()).findings[0].reason is Reason.MALFORMED


@pytest.mark.parametrize("field", ["certificateSha256", "previousSha256", "sidecar", "probes", "runtimeVersion"])
def test_every_field_has_to_be_written(field: str) -> None:
    values = samples.altered()
    del values[field]
    with pytest.raises(ValueError, match=field):
        Statement.model_validate_json(json.dumps(values))


@pytest.mark.parametrize("field", sorted(samples.STATEMENT))
def test_floats_and_free_text_have_no_place(field: str) -> None:
    with pytest.raises(ValueError, match=field):
        Statement.model_validate_json(json.dumps({**samples.STATEMENT, field: 1.5}))


def test_a_reason_is_a_code_and_never_a_message() -> None:
    def leak(values: dict[str, Any]) -> None:
        values["deployments"]["gemma-home"]["operations"]["chat"]["tools"]["reason"] = (
            "upstream said: Authorization: Bearer sk-secret"
        )

    with pytest.raises(ValueError, match="reason") as refusal:
        samples.signed(leak)
    assert "sk-secret" not in str(refusal.value)


def test_signing_twice_gives_the_same_document() -> None:
    statement = Statement.model_validate_json(json.dumps(samples.STATEMENT))
    assert sign(statement, samples.KEY) == sign(statement, samples.KEY)


def test_timestamps_round_trip_and_need_a_zone() -> None:
    assert timestamp(moment("2026-08-08T16:00:00Z")) == "2026-08-08T16:00:00Z"
    with pytest.raises(ValueError, match="zone"):
        timestamp(moment("2026-08-08T16:00:00Z").replace(tzinfo=None))
    with pytest.raises(ValueError, match="testedAt"):
        samples.signed(lambda values: values.update(testedAt="2026-02-30T00:00:00Z"))
