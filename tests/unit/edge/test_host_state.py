"""What the module `host_state` reads of a host, and what it calls drift."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.collection import plugin


@pytest.fixture(scope="module")
def module() -> Any:
    return plugin("modules.host_state")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "etc"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub/file").write_text("text")
    (folder / "sub/file").chmod(0o640)
    (folder / "link").symlink_to("sub/file")
    return folder


def test_a_tree_is_described_whole(module: Any, tree: Path) -> None:
    found = module.read_trees([str(tree)], [], "/nowhere")
    assert set(found) == {f"file {path}" for path in (tree, tree / "sub", tree / "sub/file", tree / "link")}
    kind, mode, _, _, content = found[f"file {tree}/sub/file"].split()
    assert (kind, mode, content) == ("file", "640", hashlib.sha256(b"text").hexdigest())
    assert found[f"file {tree}/link"].endswith(" sub/file")


def test_a_large_file_goes_by_its_size_but_below_a_whole_folder(module: Any, tree: Path) -> None:
    large = tree / "sub/large"
    large.write_bytes(bytes(module.SMALL + 1))
    assert module.read_trees([str(large)], [], "")[f"file {large}"].endswith(f" {module.SMALL + 1} bytes")
    whole = module.read_trees([str(large)], [str(tree / "sub")], "")[f"file {large}"]
    assert whole.endswith(hashlib.sha256(large.read_bytes()).hexdigest())


def test_the_record_is_no_part_of_what_it_records(module: Any, tree: Path) -> None:
    record = tree / "record.json"
    module.keep(str(record), {}, {})
    assert f"file {record}" not in module.read_trees([str(tree)], [], str(record))
    assert os.stat(record).st_mode & 0o777 == 0o600


def test_a_file_behind_a_link_is_read_whole(module: Any, tree: Path) -> None:
    found = module.read_files([str(tree / "link"), str(tree / "none")])
    assert found[f"file {tree}/link"] == f"{tree}/sub/file {hashlib.sha256(b'text').hexdigest()}"
    assert found[f"file {tree}/none"] == "nothing"


UNIT = "ActiveState=active UnitFileState=enabled NeedDaemonReload=no"


def test_what_is_as_it_was_is_no_drift(module: Any, tmp_path: Path) -> None:
    record = str(tmp_path / "record.json")
    module.keep(record, {"claim": "1"}, {"file x": "a", "unit u": UNIT})
    assert module.drifted(record, {"claim": "1"}, {"file x": "a", "unit u": UNIT}) == []


@pytest.mark.parametrize(
    ("inputs", "state", "text"),
    [
        ({"claim": "2"}, {"file x": "a"}, "claim: changed on the control host since the last whole run"),
        ({}, {"file x": "a"}, "claim: gone on the control host since the last whole run"),
        ({"claim": "1", "more": "2"}, {"file x": "a"}, "more: new on the control host since the last whole run"),
        ({"claim": "1"}, {"file x": "b"}, "file x: changed since the last whole run"),
        ({"claim": "1"}, {}, "file x: gone since the last whole run"),
        ({"claim": "1"}, {"file x": "a", "file y": "a"}, "file y: new since the last whole run"),
    ],
)
def test_each_difference_is_named(
    module: Any, tmp_path: Path, inputs: dict[str, str], state: dict[str, str], text: str
) -> None:
    record = str(tmp_path / "record.json")
    module.keep(record, {"claim": "1"}, {"file x": "a"})
    assert module.drifted(record, inputs, state) == [text]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"inputs": {}}', '{"inputs": [], "state": {}}', "\0"])
def test_a_record_that_says_nothing_is_none(module: Any, tmp_path: Path, text: str) -> None:
    record = tmp_path / "record.json"
    record.write_text(text)
    assert module.drifted(str(record), {}, {}) == ["no whole run has left its record here"]


@pytest.mark.parametrize("word", ["inactive", "failed", "activating"])
def test_a_unit_that_did_not_run_when_it_was_recorded_is_drift_all_the_same(
    module: Any, tmp_path: Path, word: str
) -> None:
    record = str(tmp_path / "record.json")
    state = {"unit u": UNIT.replace("=active", f"={word}")}
    module.keep(record, {}, state)
    assert module.drifted(record, {}, state) == [
        f"unit u: ActiveState={word}, NeedDaemonReload=no, UnitFileState=enabled"
    ]


def test_an_interrupted_record_leaves_the_one_before(
    module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = tmp_path / "record.json"
    module.keep(str(record), {}, {"file x": "a"})

    def full(_descriptor: int) -> None:
        raise OSError("no space")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        module.keep(str(record), {}, {"file x": "b"})
    assert json.loads(record.read_text())["state"] == {"file x": "a"}


def test_a_question_that_fails_says_so(module: Any) -> None:
    assert module.said("/bin/sh", "-c", "echo x; exit 3").splitlines() == ["x", "", "failed 3"]
    assert module.said("/nowhere/program") == "missing"
    assert module.compared("a=1\nb=2\nab=3", "^(a|b)=") == "a=1\nb=2"
