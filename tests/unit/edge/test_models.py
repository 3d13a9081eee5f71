"""Which models an Ollama store has: those whose every part is what its name says."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = (Path(__file__).resolve().parents[3] / "roles/ollama/files/models.py").read_text(encoding="utf-8")


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
