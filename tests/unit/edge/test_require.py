"""The action of the preflights: everything that is wrong with a host is said at once."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]


def check(that: str, message: str, **more: str) -> dict[str, Any]:
    return {"name": message, "hearth.edge.require": {"that": that, "fail_msg": message, "quiet": True, **more}}


def step(name: str) -> dict[str, Any]:
    return {"name": name, "hearth.edge.require": {"step": name}}


@pytest.fixture
def play(tmp_path: Path) -> Any:
    def run(*tasks: dict[str, Any], collecting: bool = True) -> tuple[int, list[str], str]:
        """Return the exit code, every message of a failed task, and the whole output."""
        block = {"block": list(tasks), "vars": {"hearth_refusals_are_collected": collecting}}
        plays = [
            {"hosts": "localhost", "gather_facts": False, "tasks": [block, {"ansible.builtin.debug": {"msg": "on"}}]}
        ]
        (tmp_path / "play.yml").write_text(json.dumps(plays))
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}
        environment |= {
            "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "collections"),
            "ANSIBLE_STDOUT_CALLBACK": "ansible.posix.jsonl",
        }
        program = Path(sys.executable).with_name("ansible-playbook")
        done = subprocess.run([program, "play.yml"], cwd=tmp_path, env=environment, capture_output=True, text=True)
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        hosts = [host for line in lines for host in line.get("hosts", {}).values()]
        return done.returncode, [host["msg"] for host in hosts if host.get("failed")], done.stdout + done.stderr

    return run


def test_all_refusals_are_said_at_once(play: Any) -> None:
    code, messages, shown = play(
        step("begin"), check("false", "no table"), check("true", "no chair"), check("1 > 2", "no bed"), step("end")
    )
    assert (code, messages) == (2, ["no table\nno bed"]), shown


def test_nothing_is_refused_where_nothing_is_wrong(play: Any) -> None:
    code, messages, shown = play(step("begin"), check("true", "no table"), step("end"))
    assert (code, messages) == (0, []), shown


def test_a_check_without_which_the_others_mean_nothing_says_what_was_kept_too(play: Any) -> None:
    code, messages, shown = play(
        step("begin"), check("false", "no table"), check("false", "no house", step="last"), check("false", "no bed")
    )
    assert (code, messages) == (2, ["no table\nno house"]), shown


def test_what_an_earlier_preflight_kept_is_forgotten(play: Any) -> None:
    code, messages, shown = play(step("begin"), check("false", "no table"), step("begin"), step("end"))
    assert (code, messages) == (0, []), shown


def test_outside_a_preflight_it_fails_at_once(play: Any) -> None:
    code, messages, shown = play(check("false", "no table"), check("false", "no bed"), collecting=False)
    assert (code, messages) == (2, ["no table"]), shown
