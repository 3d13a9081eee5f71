"""Writes the golden vectors of evidence: python -m tests.vectors.make. They are published and never change.

The keys are made for them: their seeds are 0, 1, 2 … 31 and 1, 2, 3 … 32, so that anybody can sign with them.
"""

import json
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from hearth.evidence.envelope import envelope_text
from hearth.evidence.signing import evidence_digest
from tests.unit.evidence import samples

FOLDER = Path(__file__).parent / "evidence"


def _pem(key: Ed25519PrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def _edited(old: str, new: str) -> bytes:
    text = samples.signed().decode()
    assert old in text
    return text.replace(old, new, 1).encode()


def _respelled() -> bytes:
    """The four spare bits at the end of the signature are not zero; the bytes are the same."""
    document = json.loads(samples.signed())
    last = document["signature"][-3]
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    document["signature"] = document["signature"][:-3] + alphabet[alphabet.index(last) + 1] + "=="
    return json.dumps(document).encode()


def _compact() -> bytes:
    document = json.loads(samples.signed())
    return json.dumps(dict(reversed(document.items())), separators=(",", ":"), ensure_ascii=False).encode()


VECTORS: dict[str, tuple[bytes, str, str]] = {
    # name: document, key it is checked with, what comes of it: holds, refused or malformed
    "sidecar": (samples.signed(), "runner", "holds"),
    "native": (samples.signed(samples.native), "runner", "holds"),
    "failed": (samples.signed(lambda v: v.update(state="failed")), "runner", "holds"),
    "other-order": (_compact(), "runner", "holds"),
    "unicode": (samples.signed(lambda v: v.update(runtimeVersion='ü€𝄞 "\\/ דּ')), "runner", "holds"),
    "no-control-characters-left": (
        samples.signed_mapping({"a": "\x7f\u2028\t", "\ue000": 1, "𐀀": -1}),
        "runner",
        "holds",
    ),
    "largest-integer": (samples.signed_mapping({"a": 2**53 - 1, "b": -(2**53) + 1}), "runner", "holds"),
    "another-key": (samples.signed(key=samples.OTHER_KEY), "runner", "refused"),
    "own-key-of-another": (samples.signed(key=samples.OTHER_KEY), "other", "holds"),
    "changed-value": (_edited('"inode": 4026531840', '"inode": 4026531841'), "runner", "refused"),
    "changed-outcome": (_edited('"outcome": "skipped"', '"outcome": "passed"'), "runner", "refused"),
    "added-field": (_edited("{\n", '{\n  "note": "approved",\n'), "runner", "refused"),
    "signature-spelled-otherwise": (_respelled(), "runner", "refused"),
    "signature-without-prefix": (_edited('"base64:', '"'), "runner", "refused"),
    "signature-short": (_edited('=="', '="'), "runner", "refused"),
    "field-twice": (_edited("{\n", '{\n  "kind": "live_endpoint",\n'), "runner", "malformed"),
    "half-a-character": (_edited('"0.17.4"', '"\\ud800"'), "runner", "malformed"),
    "half-a-character-in-a-name": (_edited("{\n", '{\n  "\\udfff": 1,\n'), "runner", "malformed"),
    "fraction": (_edited('"catalogueVersion": 1', '"catalogueVersion": 1.0'), "runner", "malformed"),
    "exponent": (_edited('"catalogueVersion": 1', '"catalogueVersion": 1e0'), "runner", "malformed"),
    "too-large-integer": (
        _edited('"catalogueVersion": 1', '"catalogueVersion": 9007199254740992'),
        "runner",
        "malformed",
    ),
    "not-a-number": (_edited('"catalogueVersion": 1', '"catalogueVersion": NaN'), "runner", "malformed"),
    "not-utf-8": (_edited("0.17.4", "0.17.4").replace(b"0.17.4", b"\xff"), "runner", "malformed"),
    "a-list": (b"[]\n", "runner", "malformed"),
    "cut-off": (samples.signed()[:-20], "runner", "malformed"),
}


def files() -> dict[str, bytes]:
    """Return every file by name."""
    index: list[dict[str, Any]] = []
    found = {"runner.pub.pem": _pem(samples.KEY), "other.pub.pem": _pem(samples.OTHER_KEY)}
    for name, (data, key, outcome) in VECTORS.items():
        found[f"{name}.json"] = data
        sha256 = None if outcome == "malformed" else evidence_digest(json.loads(data))
        index.append({"file": f"{name}.json", "publicKey": f"{key}.pub.pem", "outcome": outcome, "sha256": sha256})
    found["sidecar.dsse.json"] = envelope_text(samples.evidence(), samples.KEY).encode()
    found["index.json"] = (json.dumps(index, indent=2) + "\n").encode()
    return found


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file, content in files().items():
        (FOLDER / file).write_bytes(content)
