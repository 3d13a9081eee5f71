"""What `make test` does with its parts: order, failures, interruption, and the report."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]
PROGRAM = ROOT / "local/run_tests.py"


@pytest.fixture(scope="module")
def runner() -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_tests", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def shell(text: str) -> tuple[str, ...]:
    return ("bash", "-c", text)


def test_a_part_waits_for_what_it_needs_and_others_run_beside_it(runner: ModuleType, tmp_path: Path) -> None:
    log = tmp_path / "log"
    run = runner.Run(
        [
            # each of the first two ends only when it has seen the other begin
            runner.Part("a", shell(f"touch {log}.a; until [ -e {log}.b ]; do sleep 0.05; done; echo a >>{log}")),
            runner.Part("b", shell(f"touch {log}.b; until [ -e {log}.a ]; do sleep 0.05; done")),
            runner.Part("c", shell(f"echo c >>{log}"), needs=("a", "b")),
        ],
        tmp_path,
    )
    run.until_done()
    assert log.read_text() == "a\nc\n"
    assert {name: outcome.status for name, outcome in run.outcomes.items()} == {"a": 0, "b": 0, "c": 0}


def test_what_needs_a_failed_part_is_left_out_and_the_rest_runs(
    runner: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = runner.Run(
        [
            runner.Part("broken", shell("printf 'no end of line'; exit 3")),
            runner.Part("after", shell("true"), needs=("broken",)),
            runner.Part("later", shell("true"), needs=("after",)),
            runner.Part("other", shell("true")),
            runner.Part("clean", shell("true"), needs=("after",), even_after_failures=True),
        ],
        tmp_path,
    )
    run.until_done()
    assert {name: outcome.status for name, outcome in run.outcomes.items()} == {
        "broken": 3, "after": None, "later": None, "other": 0, "clean": 0,
    }  # fmt: skip
    printed = capsys.readouterr().out
    assert "broken  | no end of line\n" in printed
    assert "after   | not run, because of broken\n" in printed


def test_a_part_sees_when_another_has_ended(runner: ModuleType, tmp_path: Path) -> None:
    waits = ("sh", "-c", 'until [ -e "$HEARTH_EDGE_MORE_AFTER" ]; do sleep 0.1; done')
    run = runner.Run(
        [
            runner.Part("edge", waits, more_after="cluster"),
            runner.Part("broken", ("false",)),
            runner.Part("cluster", ("true",), ("broken",)),
        ],
        tmp_path,
    )
    run.until_done()
    assert {name: outcome.status for name, outcome in run.outcomes.items()} == {"edge": 0, "broken": 1, "cluster": None}


def test_the_parts_of_make_test_need_only_parts_that_there_are(runner: ModuleType) -> None:
    for edge in (True, False):
        made = runner.parts(edge=edge)
        names = [part.name for part in made]
        assert len(names) == len(set(names))
        assert {need for part in made for need in part.needs} <= set(names)
        for part in made:
            program = ROOT / part.command[0]
            assert part.command[0] == ".venv/bin/pytest" or os.access(program, os.X_OK), program


def test_every_part_has_a_budget_and_every_budget_a_part(runner: ModuleType) -> None:
    budgets = runner.budgets(runner.BUDGETS.read_text())
    parts = {part.name for part in runner.parts(edge=True)}
    assert set(budgets) == parts | {"warm", "cold", "prepare-again"}
    assert budgets["warm"] == 1800
    assert budgets["cold"] == 3300


def test_the_report_names_what_failed_and_why(runner: ModuleType, tmp_path: Path) -> None:
    rows = [
        {"test": "good", "seconds": 1.0, "outcome": "passed", "why": ""},
        {"test": "bad", "seconds": 2.0, "outcome": "failed", "why": "assert 1 == 2"},
    ]
    (tmp_path / "unit.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = runner.Run([], tmp_path)
    run.outcomes = {"prepare": runner.Outcome(0.0, 5.0, 0)}
    lines = list(runner.report(run, runner.tests_of(tmp_path), {}))
    assert lines[lines.index("failed:") + 1 :] == ["  bad", "    assert 1 == 2"]


def test_the_report_shows_what_took_longer_than_its_budget(runner: ModuleType, tmp_path: Path) -> None:
    rows = [{"test": f"t{number}", "seconds": float(number), "outcome": "passed", "why": ""} for number in range(12)]
    (tmp_path / "unit.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = runner.Run([], tmp_path)
    run.outcomes = {
        "prepare": runner.Outcome(0.0, 5.0, 0),
        "wire": runner.Outcome(5.0, 100.0, 0),
        "edge": runner.Outcome(5.0, 10.0, 1),
    }
    budgets = {"prepare": 900, "prepare-again": 20, "wire": 80, "edge": 5, "warm": 1800, "cold": 3300}
    lines = list(runner.report(run, runner.tests_of(tmp_path), budgets))
    assert any(line.startswith("wire") and line.endswith("over its budget by 20 s") for line in lines)
    assert any(line.startswith("edge") and line.endswith("FAILED") for line in lines)
    assert any(line.startswith("all") and line.endswith("1800") for line in lines)
    slowest = lines[lines.index("the 10 slowest tests:") + 1 :]
    assert [line.split()[-1] for line in slowest] == [f"t{number}" for number in range(11, 1, -1)]


def test_an_interrupted_run_ends_its_parts_and_cleans_up(tmp_path: Path) -> None:
    waits = f"""
import pathlib, signal, sys

def end(*_):
    pathlib.Path({str(tmp_path / "ended")!r}).touch()
    sys.exit(1)

signal.signal(signal.SIGINT, end)
pathlib.Path({str(tmp_path / "begun")!r}).touch()
while True:
    signal.pause()
"""
    program = f"""
import importlib.util, pathlib, sys
spec = importlib.util.spec_from_file_location("run_tests", {str(PROGRAM)!r})
module = importlib.util.module_from_spec(spec)
sys.modules["run_tests"] = module
spec.loader.exec_module(module)
folder = pathlib.Path({str(tmp_path)!r})
part = module.Part
module.parts = lambda edge: (
    part("prepare", (sys.executable, "-c", {waits!r})),
    part("never", ("touch", f"{{folder}}/never"), ("prepare",)),
    part("delete", ("touch", f"{{folder}}/deleted"), ("never",), even_after_failures=True),
)
sys.exit(module.main())
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    while not (tmp_path / "begun").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == 130
    assert {path.name for path in tmp_path.iterdir()} == {"begun", "ended", "deleted"}
