"""The golden vectors: Hearth, Node and OpenSSL agree about every one of them."""

import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from hearth.canonical import MalformedError
from hearth.evidence.envelope import EnvelopeError, opened
from hearth.evidence.reading import read_document
from hearth.evidence.reasons import Reason
from hearth.evidence.signing import evidence_digest, signature_holds
from hearth.evidence.verify import authenticate, verify
from tests.unit.evidence import samples
from tests.vectors import make

INDEX: list[dict[str, Any]] = json.loads((make.FOLDER / "index.json").read_text())
EACH = pytest.mark.parametrize("vector", INDEX, ids=[vector["file"] for vector in INDEX])


def test_the_vectors_never_change() -> None:
    """When this fails, documents that others have signed no longer verify: give the document a new version instead."""
    assert {path.name: path.read_bytes() for path in make.FOLDER.iterdir()} == make.files()


@EACH
def test_hearth(vector: dict[str, Any]) -> None:
    key: Any = load_pem_public_key((make.FOLDER / vector["publicKey"]).read_bytes())
    data = (make.FOLDER / vector["file"]).read_bytes()
    if vector["outcome"] == "malformed":
        with pytest.raises(MalformedError):
            read_document(data)
        assert authenticate(data, samples.trust_store()).findings[0].reason is Reason.MALFORMED
        return
    document = read_document(data)
    assert signature_holds(document, key) is (vector["outcome"] == "holds")
    assert evidence_digest(document) == vector["sha256"]


def node(vector: dict[str, Any], *more: Path) -> dict[str, Any]:
    program = shutil.which("node")
    assert program is not None, "Node verifies the vectors a second time: install nodejs"
    files = [make.FOLDER / vector["file"], make.FOLDER / vector["publicKey"], *more]
    done = subprocess.run(
        [program, make.FOLDER.parent / "verify.mjs", *files], capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@EACH
def test_node(vector: dict[str, Any]) -> None:
    expected = {"sha256": vector["sha256"], "holds": vector["outcome"] == "holds"}
    assert node(vector) == ({"malformed": True} if vector["outcome"] == "malformed" else expected)


@pytest.mark.parametrize(
    "vector", [vector for vector in INDEX if vector["outcome"] != "malformed"], ids=lambda vector: vector["file"]
)
def test_openssl(vector: dict[str, Any], tmp_path: Path) -> None:
    content, signature = tmp_path / "content", tmp_path / "signature"
    node(vector, content, signature)
    done = subprocess.run(
        [
            *("openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", make.FOLDER / vector["publicKey"]),
            *("-in", content, "-sigfile", signature),
        ],
        capture_output=True,
        text=True,
    )
    # OpenSSL is given bytes, and does not see how the document spelled them.
    expected = vector["outcome"] == "holds" or vector["file"] in (
        "signature-spelled-otherwise.json",
        "signature-without-prefix.json",
        "signature-short.json",
    )
    assert (done.returncode == 0) is expected, done.stdout + done.stderr


ENVELOPE: dict[str, Any] = json.loads((make.FOLDER / "sidecar.dsse.json").read_text())


def test_an_envelope_holds_the_document_whole() -> None:
    data = opened(ENVELOPE, samples.trust_store())
    assert json.loads(data) == json.loads(samples.signed())
    assert verify(data, samples.SUBJECT, samples.trust_store(), samples.NOW).findings == ()


def test_an_envelope_of_another_key_or_content_is_not_opened() -> None:
    signature = ENVELOPE["signatures"][0]
    other = make.envelope_text(samples.evidence(), samples.OTHER_KEY)
    for envelope in (
        json.loads(other),
        {**ENVELOPE, "payload": ENVELOPE["payload"][:-8] + "AAAAAAAA"},
        {**ENVELOPE, "payload": "ü"},
        {**ENVELOPE, "payloadType": "text/plain"},
        {**ENVELOPE, "signatures": []},
        {**ENVELOPE, "signatures": "x"},
        {**ENVELOPE, "signatures": [{**signature, "keyid": "else"}]},
        {**ENVELOPE, "signatures": [{**signature, "keyid": ["home"]}]},
        {**ENVELOPE, "signatures": [{**signature, "sig": signature["sig"][:-4]}]},
    ):
        with pytest.raises(EnvelopeError):
            opened(envelope, samples.trust_store())
    with pytest.raises(EnvelopeError):
        opened(ENVELOPE, samples.trust_store(revoked=True))


def mutated(data: bytes, order: random.Random) -> bytes:
    """Return a document with one to four bytes changed, removed, doubled or put elsewhere."""
    made = bytearray(data)
    for _ in range(order.randint(1, 4)):
        place = order.randrange(len(made))
        match order.randrange(4):
            case 0:
                made[place] = order.randrange(256)
            case 1:
                del made[place : place + order.randint(1, 8)]
            case 2:
                made[place:place] = made[place : place + order.randint(1, 40)]
            case _:
                made[place:place] = bytes([order.randrange(256)])
    return bytes(made)


def mutations(count: int, seed: int) -> dict[str, int]:
    """Verify mutated documents; return how many met which end. One that means the same is another spelling."""
    order, store, found = random.Random(seed), samples.trust_store(), dict[str, int]()
    original = samples.signed()
    meaning = json.loads(original)
    for _ in range(count):
        data = mutated(original, order)
        verification = verify(data, samples.SUBJECT, store, samples.NOW)
        end = verification.findings[0].reason.value if verification.findings else "valid"
        if end == "valid":
            assert json.loads(data) == meaning, data
            end = "the same content"
        found[end] = found.get(end, 0) + 1
    return found


def test_no_mutated_document_verifies() -> None:
    found = mutations(3_000, 1)
    assert set(found) <= {"document_malformed", "signature_invalid", "signer_key_unknown", "the same content"}
    assert found["document_malformed"] > 100
    assert found["signature_invalid"] > 100


@pytest.mark.long
def test_none_of_a_hundred_thousand_mutated_documents_verifies() -> None:
    found = mutations(100_000, 2)
    print(found)
    assert set(found) <= {"document_malformed", "signature_invalid", "signer_key_unknown", "the same content"}
