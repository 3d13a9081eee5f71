"""Which models an Ollama store has: those whose every part is what its name says."""

import hashlib
import json
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).resolve().parents[3] / "roles/ollama/files/models.py"
PROGRAM = FILE.read_text(encoding="utf-8")


def run(*arguments: str | Path) -> list[str]:
    command = [sys.executable, "-I", "-c", PROGRAM, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """A store with the model `m`, of one layer and its configuration."""
    parts = {}
    for kind in ("layer", "config"):
        digest = hashlib.sha256(kind.encode()).hexdigest()
        (tmp_path / "blobs").mkdir(exist_ok=True)
        (tmp_path / f"blobs/sha256-{digest}").write_text(kind)
        parts[kind] = {"digest": f"sha256:{digest}"}
    manifest = tmp_path / "manifests/registry.ollama.ai/library/m/latest"
    manifest.parent.mkdir(parents=True)
    manifest.write_text(json.dumps({"layers": [parts["layer"]], "config": parts["config"]}))
    return tmp_path


def blob(models: Path, kind: str) -> Path:
    return models / "blobs" / f"sha256-{hashlib.sha256(kind.encode()).hexdigest()}"


def test_a_whole_model(models: Path) -> None:
    manifest = models / "manifests/registry.ollama.ai/library/m/latest"
    names = [hashlib.sha256(kind.encode()).hexdigest() for kind in ("layer", "config")]
    assert run("stored", models, "m") == [hashlib.sha256(manifest.read_bytes()).hexdigest(), *names]
    assert run("stored", models, "other") == []


@pytest.mark.parametrize("kind", ["layer", "config"])
def test_a_part_that_was_changed_or_is_missing(models: Path, kind: str) -> None:
    blob(models, kind).write_text("changed")
    assert run("stored", models, "m") == []
    blob(models, kind).unlink()
    assert run("stored", models, "m") == []


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"layers": [{}]}', '{"layers": [{"digest": 1}]}'])
def test_a_manifest_that_lost_its_content(models: Path, text: str) -> None:
    """It is no model, and what it named is not needed."""
    (models / "manifests/registry.ollama.ai/library/m/latest").write_text(text)
    assert run("stored", models, "m") == []
    assert len(run("undeclared", models, "m")) == 2


def test_what_no_declared_model_needs(models: Path) -> None:
    (models / "blobs/sha256-0").touch()
    assert run("undeclared", models, "m") == [str(models / "blobs/sha256-0")]
    assert len(run("undeclared", models)) == 4


OLLAMA = """#!{python}
import os, pathlib, signal, socket, sys

models = pathlib.Path(os.environ["OLLAMA_MODELS"])
if sys.argv[1] == "serve":
    assert os.environ["OLLAMA_NOPRUNE"] == "1"
    host, port = os.environ["OLLAMA_HOST"].split(":")
    server = socket.create_server((host, int(port)))
    signal.pause()
part = models / "blobs/sha256-0-partial"
if not part.exists():
    part.parent.mkdir()
    part.touch()
    sys.exit("Error: the connection broke")
sys.exit("Error: gone on with what was there, through " + os.environ["https_proxy"])
"""


def test_a_pull_that_broke_is_gone_on_with(tmp_path: Path) -> None:
    """A stand-in for Ollama, whose first pull leaves a part behind."""
    home, program = tmp_path / "home", tmp_path / "ollama"
    (home / "models").mkdir(parents=True)
    (home / "incoming-of-another-model").mkdir()
    program.write_text(OLLAMA.replace("{python}", sys.executable))
    program.chmod(0o755)
    command = [sys.executable, "-I", "-c", PROGRAM, "provide", str(program), str(home), "m", "0" * 64]
    environment = {"PATH": "/usr/bin:/bin", "https_proxy": "http://127.0.0.1:9"}
    said = [subprocess.run(command, capture_output=True, text=True, env=environment).stderr for _ in range(2)]
    assert "the connection broke" in said[0]
    assert "gone on with what was there, through http://127.0.0.1:9" in said[1]
    assert len(list(home.glob("incoming-*"))) == 1


def manifest(*sizes: int) -> dict[str, object]:
    config, *layers = [{"digest": f"sha256:{number}", "size": size} for number, size in enumerate(sizes)]
    return {"config": config, "layers": layers}


def test_a_model_of_the_library_that_does_not_fit_is_refused_with_by_how_much(tmp_path: Path) -> None:
    """What an earlier attempt has brought counts as there, and so does a part that two layers share."""
    incoming = tmp_path / "home/incoming-m"
    (incoming / "blobs").mkdir(parents=True)
    check = runpy.run_path(str(FILE))["check_room"]
    free = shutil.disk_usage(incoming).free
    with pytest.raises(SystemExit) as refused:
        check(incoming, manifest(0, free + (10 << 30)))
    assert str(refused.value).startswith(f"{incoming.parent} has ")
    assert f"({(free + (10 << 30)) >> 20} to download, 256 to spare). Free some space there" in str(refused.value)
    with pytest.raises(SystemExit):
        check(incoming, manifest(0, free))
    check(incoming, manifest(0, 1 << 20))
    shared = manifest(0, free * 2 // 3)
    shared["layers"] = [shared["layers"][0]] * 2  # type: ignore[index]
    check(incoming, shared)


def test_a_part_that_is_there_needs_no_room_again(tmp_path: Path) -> None:
    (tmp_path / "blobs").mkdir()
    (tmp_path / "blobs/sha256-1-partial").write_bytes(b"x" * (32 << 20))
    check = runpy.run_path(str(FILE))["check_room"]
    free = shutil.disk_usage(tmp_path).free
    whole = free - (256 << 20)
    check(tmp_path, manifest(0, whole + (16 << 20)))
    with pytest.raises(SystemExit):
        check(tmp_path, manifest(0, whole + (512 << 20)))


@pytest.mark.parametrize("wrong", [None, [], {}, {"layers": [], "config": {}}, {"layers": 1, "config": {"digest": 1}}])
def test_what_is_no_manifest_is_left_to_ollama(tmp_path: Path, wrong: object) -> None:
    runpy.run_path(str(FILE))["check_room"](tmp_path, wrong)
