"""`hearth render`, as it is typed."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from hearth.claim.problems import ClaimError
from hearth.cli.folder import MARKER, write_folder
from hearth.cli.main import main
from hearth.compile.rendering import rendered_files
from hearth.topology.resolve import resolve
from tests.support.compiling import all_manifests, compiled
from tests.unit.claim import examples

STACKS = ("local", "home", "dev", "production")


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["hearth", "render", *arguments])
    monkeypatch.chdir(examples.PROJECT)
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != MARKER
    }


@pytest.mark.parametrize("stack", STACKS)
def test_the_same_bytes_each_time(
    stack: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    canaries = {name: f"canary-{name}" for name in ("LITELLM_MASTER_KEY", "REDIS_PASSWORD", "PULUMI_CONFIG_PASSPHRASE")}
    assert run(monkeypatch, "-s", stack, "-o", str(tmp_path / "first")) == 0
    for name, value in canaries.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", "/nonexistent")
    assert run(monkeypatch, "-s", stack, "-o", str(tmp_path / "second")) == 0
    first, second = contents(tmp_path / "first"), contents(tmp_path / "second")
    assert first == second
    assert {"catalogue.json", "snapshot.json", "litellm/config.yaml", "guard/guard.cfg", "front/front.cfg"} <= set(
        first
    )
    shown = "".join(capsys.readouterr())
    for value in canaries.values():
        assert value not in shown
        assert not [path for path, data in second.items() if value.encode() in data]


@pytest.mark.parametrize("stack", STACKS)
def test_manifests_are_files_of_their_own_and_hold_no_secret(
    stack: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(monkeypatch, "-s", stack, "-o", str(tmp_path)) == 0
    for path, data in contents(tmp_path / "manifests").items():
        manifest = yaml.safe_load(data)
        assert manifest["kind"] != "Secret", path
        namespace = manifest["metadata"].get("namespace")
        middle = f"{manifest['kind'].lower()}-{namespace + '--' if namespace else ''}"
        name = path[3:].removeprefix(middle).removesuffix(".yaml")
        assert path[3:] == f"{middle}{name}.yaml"
        # The name without the digest of the content.
        assert re.fullmatch(rf"{re.escape(name)}(-[0-9a-f]{{10}})?", manifest["metadata"]["name"])
        assert path.startswith("00-") == (manifest["kind"] == "Namespace")
    snapshot = json.loads((tmp_path / "snapshot.json").read_text())
    assert set(snapshot) == {"sha256", "snapshot"}


def test_files_say_what_the_manifests_are() -> None:
    loaded = examples.load(examples.claim())
    made = compiled()
    files = rendered_files(resolve(loaded.claim), made)
    manifests = all_manifests(loaded.claim, made)
    read = [yaml.safe_load(text) for path, text in files.items() if path.startswith("manifests/")]
    key = json.dumps
    assert sorted(map(key, read)) == sorted(map(key, manifests))
    assert files["guard/guard.cfg"] == made.guard.files["guard.cfg"]
    assert files["sidecars/host/sidecar.cfg"] == made.sidecars["host"].files["sidecar.cfg"]
    assert yaml.safe_load(files["litellm/config.yaml"]) == made.litellm
    assert json.loads(files["snapshot.json"])["snapshot"] == made.snapshot
    names = [row["name"] for row in json.loads(files["catalogue.json"])]
    assert names == [row.name for row in made.catalogue]
    assert list(files) == sorted(files)
    assert all(text.endswith("\n") for path, text in files.items() if not path.endswith("/identity.json"))


def test_a_configuration_is_readable_in_its_manifest() -> None:
    files = rendered_files(resolve(examples.load(examples.claim()).claim), compiled())
    [text] = [text for path, text in files.items() if "-configmap-system-llm--llm-gateway-config" in path]
    assert "  config.yaml: |\n    general_settings:\n" in text


def test_without_a_gateway_only_what_concerns_hosts_is_left() -> None:
    off = examples.put("llm/enabled", False)
    files = rendered_files(resolve(examples.load(examples.claim(off)).claim), compiled(off))
    assert not [path for path in files if path.startswith(("manifests/", "litellm/", "guard/", "front/"))]
    assert {"catalogue.json", "snapshot.json", "sidecars/host/sidecar.cfg"} <= set(files)


def test_what_it_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "out"
    assert run(monkeypatch, "-s", "home", "-o", str(folder)) == 0
    shown = capsys.readouterr()
    assert "wrote   litellm/config.yaml\n" in shown.out
    assert "warning: hearth:endpoints.ollama-home: " in shown.err
    (folder / "litellm" / "config.yaml").write_text("changed by hand\n")
    assert run(monkeypatch, "-s", "home", "-o", str(folder)) == 0
    lines = capsys.readouterr().out.splitlines()
    count = len(contents(folder))
    assert lines == [
        "wrote   litellm/config.yaml",
        f"{folder} has the {count} files of home; {count - 1} were there already.",
    ]


def test_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "-s", "home", "-o", str(tmp_path / "out"), "--json") == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert document["stack"] == "home"
    assert document["withheld"] == {"ollama-home": "evidence_missing"}
    assert document["snapshot"] == json.loads((tmp_path / "out" / "snapshot.json").read_text())["sha256"]
    assert document["written"] == sorted(contents(tmp_path / "out"))
    assert (document["removed"], document["unchanged"]) == ([], [])
    assert document["warnings"][0]["path"] == "hearth:endpoints.ollama-home"


def test_a_refused_claim_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stack = tmp_path / "Pulumi.bad.yaml"
    stack.write_text("config:\n  hearth:llm: {enabled: maybe}\n")
    assert run(monkeypatch, "-f", str(stack), "-o", str(tmp_path / "out")) == 2
    assert not (tmp_path / "out").exists()
    assert "hearth:llm.enabled" in capsys.readouterr().err


def test_a_folder_that_it_did_not_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert run(monkeypatch, "-s", "home", "-o", str(tmp_path)) == 2
    assert contents(tmp_path) == {"mine.txt": b"mine"}
    error = capsys.readouterr().err
    assert "-o: holds files that `hearth render` did not write; nothing was changed." in error
    assert "Traceback" not in error


# The folder itself.


def refused(folder: Path, files: dict[str, str]) -> str:
    with pytest.raises(ClaimError) as error:
        write_folder(folder, files)
    return str(error.value)


def test_files_that_are_not_made_any_more_are_removed(tmp_path: Path) -> None:
    first = write_folder(tmp_path / "out", {"a.txt": "1\n", "deep/er/b.txt": "2\n", "c.txt": "3\n"})
    assert first.written == ("a.txt", "deep/er/b.txt", "c.txt")
    (tmp_path / "out" / "notes.md").write_text("kept")
    second = write_folder(tmp_path / "out", {"a.txt": "1\n", "c.txt": "4\n"})
    assert (second.written, second.removed, second.unchanged) == (("c.txt",), ("deep/er/b.txt",), ("a.txt",))
    assert contents(tmp_path / "out") == {"a.txt": b"1\n", "c.txt": b"4\n", "notes.md": b"kept"}
    assert not (tmp_path / "out" / "deep").exists()


def test_a_file_that_somebody_else_put_there_is_kept(tmp_path: Path) -> None:
    write_folder(tmp_path, {"a.txt": "1\n"})
    (tmp_path / "b.txt").write_text("mine")
    assert "a file b.txt that `hearth render` did not write" in refused(tmp_path, {"a.txt": "2\n", "b.txt": "2\n"})
    assert contents(tmp_path) == {"a.txt": b"1\n", "b.txt": b"mine"}


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    folder = tmp_path / "out"
    write_folder(folder, {"a.txt": "1\n", "d/b.txt": "1\n"})
    (folder / "d" / "b.txt").unlink()
    (folder / "d").rmdir()
    (folder / "d").symlink_to(outside)
    assert "something else where the folder of d/b.txt belongs" in refused(folder, {"a.txt": "2\n", "d/b.txt": "2\n"})
    assert list(outside.iterdir()) == []
    (folder / "a.txt").unlink()
    (folder / "a.txt").symlink_to(outside / "a.txt")
    assert "a file a.txt that" in refused(folder, {"a.txt": "2\n"})


@pytest.mark.parametrize(
    "marker",
    [
        "not json",
        "[]",
        '{"version": "hearth.render/v2", "files": []}',
        '{"version": "hearth.render/v1", "files": ["../precious"]}',
        '{"version": "hearth.render/v1", "files": ["/etc/passwd"]}',
        '{"version": "hearth.render/v1", "files": [7]}',
        '{"version": "hearth.render/v1"}',
    ],
)
def test_a_marker_that_was_tampered_with(marker: str, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / MARKER).write_text(marker)
    assert "that cannot be read; nothing was changed" in refused(tmp_path / "out", {"a.txt": "1\n"})
    assert precious.read_text() == "mine"


def test_an_interrupted_run_is_completed_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_folder(tmp_path, {"a.txt": "1\n", "old.txt": "1\n"})
    replace = Path.replace

    def full(self: Path, target: Path) -> Path:
        if target.name == "b.txt":
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", full)
    files = {"a.txt": "2\n", "aa.txt": "2\n", "b.txt": "2\n"}
    assert "-o: cannot be written: No space left on device" in refused(tmp_path, files)
    assert sorted(contents(tmp_path)) == ["a.txt", "aa.txt", "old.txt"]
    monkeypatch.undo()
    write_folder(tmp_path, files)
    assert contents(tmp_path) == {"a.txt": b"2\n", "aa.txt": b"2\n", "b.txt": b"2\n"}


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    assert "-o: is not a folder" in refused(tmp_path / "out", {"a.txt": "1\n"})


def test_files_are_readable_by_others(tmp_path: Path) -> None:
    previous = os.umask(0o022)
    try:
        write_folder(tmp_path, {"a.txt": "1\n"})
    finally:
        os.umask(previous)
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o644
