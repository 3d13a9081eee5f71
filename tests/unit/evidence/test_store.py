"""Reading evidence files and the trust store from the project's folder."""

import os
from pathlib import Path

import pytest

from hearth.claim.problems import ClaimError
from hearth.evidence.reading import MAXIMUM_BYTES
from hearth.evidence.reasons import Reason
from hearth.evidence.store import (
    MOST_DOCUMENTS,
    StoredEvidence,
    evidence_file,
    evidence_folder,
    read_evidence,
    read_trust_store,
)
from hearth.evidence.trust import public_key_text
from hearth.evidence.verify import authenticate
from tests.unit.evidence import samples

PUBLIC = public_key_text(samples.KEY.public_key())
STORE = f"""\
version: hearth.trust-store/v1
keys:
  {samples.KEY_ID}:
    publicKey: {PUBLIC}
    notBefore: "2026-07-01T00:00:00Z"
    notAfter: "2026-10-01T00:00:00Z"
"""


def refusal(base: Path, text: str) -> str:
    write(base, text)
    with pytest.raises(ClaimError) as refused:
        read_trust_store(base, "home")
    return str(refused.value)


def write(base: Path, text: str) -> None:
    (base / "trust" / "home").mkdir(parents=True)
    (base / "trust" / "home" / "runners.yaml").write_text(text)


def test_a_trust_store_is_read(tmp_path: Path) -> None:
    write(tmp_path, STORE)
    store = read_trust_store(tmp_path, "home")
    assert store == samples.trust_store()
    assert read_trust_store(tmp_path, "production") is None
    assert authenticate(samples.signed(), store).findings == ()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("v1\n", "v2\n", "version must be one of hearth.trust-store/v1"),
        ("publicKey: ", "publikKey: ", "publikKey is not a field of the trust store. Did you mean publicKey"),
        (PUBLIC, "A" * 43 + "=", "is a placeholder that anybody can sign for"),
        (PUBLIC, PUBLIC[:-2] + "h=", "is not the base64 of 32 bytes"),
        (PUBLIC, PUBLIC[:-2] + "=", "is not base64"),
        ('"2026-07-01T00:00:00Z"', "2026-07-01T00:00:00Z", "Put it in quotes"),
        ('"2026-07-01T00:00:00Z"', '"2026-13-01T00:00:00Z"', "is a time that does not exist"),
        ('"2026-07-01T00:00:00Z"', '"2027-07-01T00:00:00Z"', "has a notBefore that is not before its notAfter"),
        ('"2026-07-01T00:00:00Z"', '"July"', "It must be a time in UTC in quotes"),
        ("keys:", "keys: [", "is broken"),
        (STORE, "", "must be a mapping"),
    ],
)
def test_a_wrong_trust_store_says_what_to_do(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = refusal(tmp_path, STORE.replace(old, new))
    assert message in text
    assert "trust/home/runners.yaml" in text


def test_everything_wrong_is_said_at_once(tmp_path: Path) -> None:
    text = refusal(tmp_path, STORE.replace(PUBLIC, "x").replace("2026-10", "2026-99").replace("v1", "v9"))
    assert len(text.splitlines()) == 3


def test_no_refused_value_is_repeated(tmp_path: Path) -> None:
    text = refusal(tmp_path, STORE.replace(PUBLIC, "sk-canary").replace("notAfter: ", "sk canary: "))
    assert "sk-canary" not in text
    assert "sk canary" not in text
    assert len(text.splitlines()) == 3


def put(base: Path, name: str, data: bytes) -> Path:
    file = evidence_folder(base, "home") / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file


def test_evidence_is_read_by_endpoint(tmp_path: Path) -> None:
    file = evidence_file(tmp_path, "home", "ollama-home")
    assert file == tmp_path / "evidence" / "home" / "ollama-home.json"
    put(tmp_path, file.name, samples.signed())
    put(tmp_path, "ollama-home.previous.json", b"{}")
    put(tmp_path, "README.md", b"not evidence")
    put(tmp_path, "Not An Endpoint.json", b"{}")
    put(tmp_path, os.fsdecode(b"\xff.json"), b"{}")
    (file.parent / "folder.json").mkdir()
    assert read_evidence(tmp_path, "home") == StoredEvidence({"ollama-home": (samples.signed(), b"{}")}, frozenset())
    assert read_evidence(tmp_path, "production") == StoredEvidence({}, frozenset())


def test_a_folder_full_of_documents_costs_no_more_than_a_few(tmp_path: Path) -> None:
    put(tmp_path, "ollama-home.json", samples.signed())
    for number in range(MOST_DOCUMENTS + 5):
        put(tmp_path, f"ollama-home.{number}.json", b"{}")
    found = read_evidence(tmp_path, "home").documents["ollama-home"]
    assert len(found) == MOST_DOCUMENTS
    assert samples.signed() in found


def test_a_huge_file_is_not_read_whole(tmp_path: Path) -> None:
    put(tmp_path, "ollama-home.json", b"{" + b" " * (4 * MAXIMUM_BYTES))
    [data] = read_evidence(tmp_path, "home").documents["ollama-home"]
    assert len(data) == MAXIMUM_BYTES + 1
    assert authenticate(data, samples.trust_store()).findings[0].reason is Reason.MALFORMED


def test_a_file_that_cannot_be_opened_concerns_its_endpoint(tmp_path: Path) -> None:
    (evidence_folder(tmp_path, "home") / "other.json").parent.mkdir(parents=True)
    (evidence_folder(tmp_path, "home") / "other.json").symlink_to("other.json")
    put(tmp_path, "ollama-home.json", samples.signed())
    found = read_evidence(tmp_path, "home")
    assert (set(found.documents), found.unreadable) == ({"ollama-home"}, {"other"})


def test_a_trust_store_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    (tmp_path / "trust" / "home" / "runners.yaml").mkdir(parents=True)
    with pytest.raises(ClaimError, match=r"trust/home/runners\.yaml: cannot be read: Is a directory"):
        read_trust_store(tmp_path, "home")
