"""What a run reads of a sidecar's folder, and what it calls edited (S4-82)."""

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

FILES = Path(__file__).resolve().parents[3] / "roles/tls_sidecar/files"


@pytest.fixture
def current(tmp_path: Path) -> Path:
    """A whole set of files, as the role writes it."""
    folder = tmp_path / "releases/one"
    folder.mkdir(parents=True)
    (tmp_path / "current").symlink_to("releases/one")
    (folder / "sidecar.cfg").write_text("global\n")
    (folder / "tls.crt").write_text("certificate\n")
    sums = "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in folder.iterdir())
    (folder / "SHA256SUMS").write_text(sums)
    return tmp_path / "current"


def present(current: Path) -> dict[str, Any]:
    script = (FILES / "present.sh").read_text()
    said = subprocess.run(["/bin/sh", "-c", script, "present", current.parent], capture_output=True, check=True).stdout
    found: dict[str, Any] = json.loads(said)
    return found


def test_a_whole_set(current: Path) -> None:
    assert present(current) == {"release": "one", "certificate": "certificate\n", "tokens": [], "edited": []}


def test_nothing_is_there(tmp_path: Path) -> None:
    assert present(tmp_path / "current") == {"release": "", "certificate": "", "tokens": [], "edited": []}


@pytest.mark.parametrize("line", ["garbage", "", "0123", "\xff\xfe"])
def test_a_malformed_list_of_digests_is_an_edit(current: Path, line: str) -> None:
    with (current / "SHA256SUMS").open("ab") as file:
        file.write(f"{line}\n".encode("latin-1"))
    assert present(current)["edited"] == [str(current / "SHA256SUMS")]


def test_a_list_of_digests_that_is_empty_or_no_text(current: Path) -> None:
    for content in (b"", b"\x00\xff\n"):
        (current / "SHA256SUMS").write_bytes(content)
        assert {str(current / "sidecar.cfg"), str(current / "tls.crt")} <= set(present(current)["edited"])


def test_a_certificate_that_is_no_text_is_an_edit(current: Path) -> None:
    (current / "tls.crt").write_bytes(b"\xff\xfe")
    assert present(current)["edited"] == [str(current / "tls.crt")]


def test_the_digests_of_the_tokens_that_it_accepts(current: Path) -> None:
    (current / "tokens.map").write_text("0a1b gateway-0a\n\n2c3d gateway-2c\n")
    assert present(current)["tokens"] == ["0a1b", "2c3d"]
