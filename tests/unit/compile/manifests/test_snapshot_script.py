"""The script that brings all files of an instance's model, on this machine, with a stand-in for curl (U-22)."""

import hashlib
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.unit.compile.manifests.test_scripts import Sandbox

FILES = {"config.json": b"{}", "model-1.safetensors": b"weights" * 1_000, "sub/tokenizer.json": b"words"}


class Snapshot(Sandbox):
    """A sandbox for snapshot.sh: what is on the network is in a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.served, self.volume = folder / "served", folder / "volume"
        for path, content in FILES.items():
            file = self.served / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        for name in ("llm-model", "llm-snapshot", "hub-credentials"):
            (folder / "etc" / name).mkdir()
        fetch = Path("hearth/compile/manifests/files/fetch.sh").read_text(encoding="utf-8")
        (folder / "etc/llm-model/fetch.sh").write_text(fetch.replace("/tmp/", f"{folder}/tmp/"))
        # Continues a partial file as curl does.
        body = 'while [ $# -gt 1 ]; do [ "$1" = --output ] && out=$2; shift; done; path=${1#https://hub.example/m/}\n'
        body += (
            f'have=$(stat -c %s "$out" 2>/dev/null || echo 0); tail -c +$((have + 1)) "{self.served}/$path" >>"$out"'
        )
        self.program("curl", body)
        self.listing()

    def listing(self, **sizes: int) -> None:
        lines = [
            f"{hashlib.sha256(content).hexdigest()} {sizes.get(path, len(content))} {path}\n"
            for path, content in FILES.items()
        ]
        (self.folder / "etc/llm-snapshot/files").write_text("".join(lines))

    def bring(self, name: str = "one", **more: str) -> subprocess.CompletedProcess[str]:
        snapshots = self.volume / "snapshots"
        return self.run(
            "snapshot.sh",
            CACHE=str(self.volume / "cache"),
            SNAPSHOTS=str(snapshots),
            SNAPSHOT=str(snapshots / name),
            **({"BASE_URL": "https://hub.example/m"} if "COPIED" not in more else {}),
            **more,
        )

    def found(self, name: str = "one") -> Mapping[str, bytes]:
        folder = self.volume / "snapshots" / name
        return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}

    def downloads(self) -> int:
        return self.calls.read_text().count("curl ")


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    return Snapshot(tmp_path)


def test_every_file_is_brought_once(snapshot: Snapshot) -> None:
    done = snapshot.bring()
    assert (done.returncode, done.stderr) == (0, "")
    assert snapshot.found() == FILES
    assert (snapshot.volume / "cache").is_dir()
    assert snapshot.downloads() == 3
    assert snapshot.bring().returncode == 0
    assert snapshot.downloads() == 3


def test_a_file_with_another_digest_stops_it_and_is_deleted(snapshot: Snapshot) -> None:
    (snapshot.served / "model-1.safetensors").write_bytes(b"poison" * 1_000)
    done = snapshot.bring()
    assert done.returncode == 1
    assert "does not have the declared SHA-256" in done.stderr
    assert "model-1.safetensors" not in snapshot.found()
    # The rest is there at the next start, and the right file is taken.
    (snapshot.served / "model-1.safetensors").write_bytes(FILES["model-1.safetensors"])
    before = snapshot.downloads()
    assert snapshot.bring().returncode == 0
    assert snapshot.found() == FILES
    assert snapshot.downloads() == before + 2


def test_an_interrupted_download_goes_on(snapshot: Snapshot) -> None:
    part = snapshot.volume / "snapshots/one/model-1.safetensors.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(FILES["model-1.safetensors"][:100])
    assert snapshot.bring().returncode == 0
    assert snapshot.found() == FILES


def test_a_wrong_size_is_said(snapshot: Snapshot) -> None:
    snapshot.listing(**{"config.json": 3})
    done = snapshot.bring()
    assert done.returncode == 1
    assert "model: config.json has 2 bytes, and 3 are declared" in done.stderr


def test_a_file_that_was_cut_off_since_is_fetched_again(snapshot: Snapshot) -> None:
    snapshot.bring()
    (snapshot.volume / "snapshots/one/model-1.safetensors").write_bytes(b"short")
    assert snapshot.bring().returncode == 0
    assert snapshot.found() == FILES


def test_another_snapshot_makes_room_first(snapshot: Snapshot) -> None:
    snapshot.bring()
    assert snapshot.bring("two").returncode == 0
    assert snapshot.found("two") == FILES
    assert sorted(file.name for file in (snapshot.volume / "snapshots").iterdir()) == ["two", "two.checked"]


def copy_of_the_image(snapshot: Snapshot) -> Path:
    """Do what the container before it does, by its own command."""
    copied = snapshot.volume / "copied"
    copied.mkdir(parents=True, exist_ok=True)
    command = ["/bin/sh", "-c", 'test -e "$1" || cp -r "$2/." "$3"', "copy"]
    subprocess.run([*command, str(copied / "one"), str(snapshot.served), str(copied / "files")], check=True)
    return copied


def test_files_out_of_an_image_are_checked_too(snapshot: Snapshot) -> None:
    copied = copy_of_the_image(snapshot)
    (copied / "files/config.json").write_bytes(b"[]")
    assert snapshot.bring(COPIED=str(copied)).returncode == 1
    copy_of_the_image(snapshot)
    assert snapshot.bring(COPIED=str(copied)).returncode == 0
    assert snapshot.found() == FILES
    assert snapshot.downloads() == 0
    assert [file.name for file in copied.iterdir()] == ["one"], "the volume holds the files twice"


def test_files_out_of_an_image_are_copied_once(snapshot: Snapshot) -> None:
    copied = copy_of_the_image(snapshot)
    assert snapshot.bring(COPIED=str(copied)).returncode == 0
    copy_of_the_image(snapshot)
    assert not (copied / "files").exists()
    assert snapshot.bring(COPIED=str(copied)).returncode == 0


def test_a_file_lost_from_the_volume_is_said_and_copied_by_the_next_pod(snapshot: Snapshot) -> None:
    copied = copy_of_the_image(snapshot)
    snapshot.bring(COPIED=str(copied))
    (snapshot.volume / "snapshots/one/config.json").unlink()
    done = snapshot.bring(COPIED=str(copied))
    assert done.returncode == 1
    assert "config.json is not in the image, or was lost" in done.stderr
    copy_of_the_image(snapshot)
    assert snapshot.bring(COPIED=str(copied)).returncode == 0
    assert snapshot.found() == FILES


def test_what_was_checked_is_no_file_that_the_image_still_has(snapshot: Snapshot) -> None:
    copied = copy_of_the_image(snapshot)
    kept = copied / "kept"
    kept.hardlink_to(copied / "files/config.json")
    inode = kept.stat().st_ino
    assert snapshot.bring(COPIED=str(copied)).returncode == 0
    assert (snapshot.volume / "snapshots/one/config.json").stat().st_ino != inode
