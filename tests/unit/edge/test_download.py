"""A large file comes by its digest, is resumed, and is not begun where there is no room."""

import hashlib
import http.server
import importlib.util
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.serving import serving

FILE = Path(__file__).parents[3] / "plugins/modules/download.py"
CONTENT = bytes(range(256)) * 4096
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Source(http.server.ThreadingHTTPServer):
    """Serves the content, and breaks the first `breaks` connections after a third of what was asked for."""

    breaks = 0
    ranges = True
    content = CONTENT
    asked: list[str]

    def handle_error(self, *args: object) -> None:
        """A client that goes away while it is answered, as check mode does, is no fault."""


class Handler(http.server.BaseHTTPRequestHandler):
    server: Source

    def do_GET(self) -> None:
        wanted = self.headers.get("Range", "") if self.server.ranges else ""
        self.server.asked.append(wanted)
        begins = int(wanted.removeprefix("bytes=").rstrip("-") or 0)
        if begins >= len(self.server.content):
            self.send_error(416)
            return
        rest = self.server.content[begins:]
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        if self.server.breaks:
            self.server.breaks -= 1
            rest = rest[: len(rest) // 3]
        self.wfile.write(rest)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def module() -> Any:
    spec = importlib.util.spec_from_file_location("download", FILE)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.fixture
def source() -> Iterator[Source]:
    server = Source(("127.0.0.1", 0), Handler)
    server.asked = []
    with serving(server):
        yield server


def bring(module: Any, source: Source, dest: Path, *, spare: int = 0, attempts: int = 3, dry: bool = False) -> int:
    def opener(headers: Mapping[str, str]) -> Any:
        address = f"http://127.0.0.1:{source.server_port}/model.gguf"
        return urllib.request.urlopen(urllib.request.Request(address, headers=dict(headers)), timeout=60)

    size: int = module.download(opener, str(dest), SHA256, spare, attempts, dry)
    return size


def test_a_connection_that_breaks_is_gone_on_with(module: Any, source: Source, tmp_path: Path) -> None:
    source.breaks = 2
    dest = tmp_path / "model"
    assert bring(module, source, dest) == len(CONTENT)
    assert dest.read_bytes() == CONTENT
    assert source.asked == ["", "bytes=349525-", "bytes=582542-"]
    assert [file.name for file in tmp_path.iterdir()] == ["model"]


def test_the_next_run_goes_on_with_what_is_there(module: Any, source: Source, tmp_path: Path) -> None:
    source.breaks = 1
    dest = tmp_path / "model"
    with pytest.raises(module.RefusedError, match="the next run goes on"):
        bring(module, source, dest, attempts=1)
    assert not dest.exists()
    bring(module, source, dest, attempts=1)
    assert source.asked[1] == "bytes=349525-"
    assert dest.read_bytes() == CONTENT


@pytest.mark.parametrize("there", [CONTENT, CONTENT + b"more"])
def test_a_part_that_is_whole_or_too_long_is_begun_anew(
    module: Any, source: Source, tmp_path: Path, there: bytes
) -> None:
    (tmp_path / "model.part").write_bytes(there)
    bring(module, source, tmp_path / "model")
    assert (tmp_path / "model").read_bytes() == CONTENT


def test_a_server_that_cannot_resume_is_asked_for_all_of_it(module: Any, source: Source, tmp_path: Path) -> None:
    source.ranges = False
    source.breaks = 1
    bring(module, source, tmp_path / "model")
    assert (tmp_path / "model").read_bytes() == CONTENT


def test_another_file_is_thrown_away(module: Any, source: Source, tmp_path: Path) -> None:
    source.content = b"another"
    with pytest.raises(module.RefusedError, match="not the declared"):
        bring(module, source, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("dry", [True, False])
def test_no_room_is_said_before_anything_is_written(module: Any, source: Source, tmp_path: Path, dry: bool) -> None:
    with pytest.raises(module.RefusedError, match=r"MiB free, and .* are needed"):
        bring(module, source, tmp_path / "folder/model", spare=1 << 60, dry=dry)
    assert list(tmp_path.iterdir()) == []


def test_check_mode_writes_nothing(module: Any, source: Source, tmp_path: Path) -> None:
    assert bring(module, source, tmp_path / "folder/model", dry=True) == len(CONTENT)
    assert list(tmp_path.iterdir()) == []


def test_the_module_as_ansible_runs_it(source: Source, tmp_path: Path) -> None:
    """Check mode writes nothing, and then it is there."""
    address = f"http://127.0.0.1:{source.server_port}/model.gguf"
    given = ["-m", "hearth.edge.download", "-a", f"url={address} dest={tmp_path}/model sha256={SHA256}"]
    environment = {**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(FILE.parents[2] / "collections")}
    program = Path(sys.executable).with_name("ansible")
    command = [program, "localhost", "-e", f"ansible_python_interpreter={sys.executable}", *given]

    def said(*arguments: str) -> str:
        found = subprocess.run([*command, *arguments], env=environment, cwd=tmp_path, capture_output=True, text=True)
        return found.stdout

    assert "CHANGED" in (shown := said("--check")), shown
    assert not (tmp_path / "model").exists()
    assert "CHANGED" in said()
    assert (tmp_path / "model").read_bytes() == CONTENT
