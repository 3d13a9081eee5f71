"""`hearth runner-key`: keys and the trust store change together (S4-104)."""

import datetime
import stat
from pathlib import Path

import pytest

from hearth.claim.problems import ClaimError
from hearth.evidence.document import timestamp
from hearth.evidence.keys import read_private_key, trust_store_text, with_ended_key, with_revoked_key
from hearth.evidence.store import evidence_file, read_trust_store
from hearth.evidence.trust import TrustStore, public_key_text
from tests.unit.evidence import samples
from tests.unit.evidence.test_command import run


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / "stacks").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def stored(project: Path) -> TrustStore:
    store = read_trust_store(project, "home")
    assert store is not None
    return store


def new(project: Path, name: str = "home-1") -> Path:
    file = project.parent / f"{name}.pem"
    assert run(["runner-key", "new", name, "-s", "home", "-o", str(file)]) == 0
    return file


def test_a_new_key_is_private_and_its_public_half_is_believed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = new(project)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    key = read_private_key(file)
    assert stored(project).keys["home-1"].public_key == public_key_text(key.public_key())
    assert stored(project).keys["home-1"].not_before <= timestamp(datetime.datetime.now(datetime.UTC))
    written = capsys.readouterr()
    secret = "".join(file.read_text().splitlines()[1:-1])
    assert secret not in (project / "trust" / "home" / "runners.yaml").read_text() + written.out + written.err
    assert "trust/home/runners.yaml has 1 key(s), 1 not revoked." in written.out


@pytest.mark.parametrize("name", ["1e3", "0o7", "2027"])
def test_an_id_that_programs_read_as_a_number_is_a_text_in_the_file(project: Path, name: str) -> None:
    new(project, name)
    assert list(stored(project).keys) == [name]


def test_an_id_is_used_once_and_a_file_is_not_written_over(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = new(project)
    before, store = file.read_bytes(), stored(project)
    other = project.parent / "other.pem"
    for arguments, message in (
        (["home-1", "-o", str(other)], "KEY-ID: was used before"),
        (["home-2", "-o", str(file)], "-o: is there already"),
        (["home-2", "-o", str(project / "key.pem")], "-o: lies in the project's folder"),
        (["home-2", "-o", str(project.parent / "no" / "key.pem")], "-o: cannot be written: No such file"),
        (["Home 2", "-o", str(other)], "KEY-ID: is not well-formed"),
    ):
        capsys.readouterr()
        assert run(["runner-key", "new", *arguments, "-s", "home"]) == 2
        assert message in capsys.readouterr().err
    assert run(["runner-key", "new", "home-2", "-o", str(other), "-s", "../home"]) == 2
    assert (file.read_bytes(), stored(project)) == (before, store)
    assert not other.exists()


def test_rotation_ends_one_key_and_begins_another_in_one_change(project: Path) -> None:
    new(project)
    file = project.parent / "home-2.pem"
    assert run(["runner-key", "rotate", "home-1", "home-2", "-s", "home", "-o", str(file)]) == 0
    keys = stored(project).keys
    assert set(keys) == {"home-1", "home-2"}
    assert keys["home-1"].not_after <= timestamp(datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=2))
    assert not keys["home-1"].revoked
    assert keys["home-2"].not_after > keys["home-1"].not_after
    assert run(["runner-key", "rotate", "nobody", "home-3", "-s", "home", "-o", str(project.parent / "3.pem")]) == 2
    assert not (project.parent / "3.pem").exists()


def test_a_revoked_key_is_believed_no_more_and_whose_evidence_that_was_is_said(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = project / "trust" / "home" / "runners.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(trust_store_text(samples.trust_store(), "home"))
    document = evidence_file(project, "home", "ollama-home")
    document.parent.mkdir(parents=True)
    document.write_bytes(samples.signed())
    assert run(["runner-key", "revoke", samples.KEY_ID, "-s", "home"]) == 0
    assert stored(project).approved_key_ids == ()
    assert "The evidence of ollama-home counts no more" in capsys.readouterr().out
    assert run(["runner-key", "revoke", "nobody", "-s", "home"]) == 2
    assert f"KEY-ID: is not in the trust store. Its keys: {samples.KEY_ID}." in capsys.readouterr().err


def test_ending_a_key_does_not_prolong_it() -> None:
    store = samples.trust_store()
    late = samples.NOW + datetime.timedelta(days=900)
    assert with_ended_key(store, samples.KEY_ID, now=late) == store
    ended = with_ended_key(store, samples.KEY_ID, now=samples.NOW).keys[samples.KEY_ID]
    assert ended.not_after == timestamp(samples.NOW)
    early = samples.NOW - datetime.timedelta(days=900)
    assert with_ended_key(store, samples.KEY_ID, now=early).keys[samples.KEY_ID].not_after == "2026-07-01T00:00:01Z"
    assert with_revoked_key(store, samples.KEY_ID).keys[samples.KEY_ID].revoked


def test_a_private_key_that_others_can_read_is_refused(project: Path) -> None:
    file = new(project)
    file.chmod(0o640)
    with pytest.raises(ClaimError, match="can be read by others"):
        read_private_key(file)
    file.write_text("no key")
    file.chmod(0o600)
    with pytest.raises(ClaimError, match="holds no Ed25519 key"):
        read_private_key(file)
    with pytest.raises(ClaimError, match="cannot be read"):
        read_private_key(project / "nothing.pem")
