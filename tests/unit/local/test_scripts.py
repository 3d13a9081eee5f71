"""What the scripts of local/ share: a step that fails is seen, and no two runs make the same thing at once."""

import os
import runpy
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def started(cache: Path, script: str) -> subprocess.Popen[str]:
    """Start a script that has sourced local/lib.sh, with a cache of its own."""
    return subprocess.Popen(
        ["bash", "-c", f"set -euo pipefail\n. local/lib.sh\n{script}"],
        cwd=ROOT,
        env={**os.environ, "HEARTH_CACHE": str(cache)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def kill(process: subprocess.Popen[str]) -> None:
    """End a run and all its children at once, as the kernel does for want of memory."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def until(path: Path) -> None:
    """Wait until a file is there."""
    while not path.exists():
        time.sleep(0.02)


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A run that holds the lock `thing` until it is ended, and has begun to."""
    process = started(tmp_path, f"hold() {{ touch {tmp_path}/held; exec sleep 600; }}\nlocked thing hold")
    until(tmp_path / "held")
    yield process
    if process.poll() is None:
        kill(process)


def test_a_step_in_the_middle_that_fails_ends_the_whole_step(tmp_path: Path) -> None:
    """A build whose first half failed is not taken for done because its second half ran."""
    run = started(
        tmp_path, 'steps() { false; touch "$HEARTH_CACHE/went-on"; }\ntimed steps steps\ntouch "$HEARTH_CACHE/done"'
    )
    output, _ = run.communicate()
    assert (run.returncode, "steps: failed" in output) == (1, True)
    assert not (tmp_path / "went-on").exists()
    assert not (tmp_path / "done").exists()


def test_a_second_run_waits_for_the_first(tmp_path: Path) -> None:
    """Two runs never are inside the same lock."""
    step = 'step() { echo in >>"$HEARTH_CACHE/log"; sleep 0.3; echo out >>"$HEARTH_CACHE/log"; }\nlocked thing step'
    for run in [started(tmp_path, step) for _ in range(3)]:
        _, errors = run.communicate()
        assert run.returncode == 0, errors
    assert (tmp_path / "log").read_text().split() == ["in", "out"] * 3


def test_who_waits_is_told_for_what(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    """A run that stands still says why."""
    second = started(tmp_path, "locked thing true")
    assert second.stderr is not None
    assert second.stderr.readline().rstrip().endswith(f"waiting for another run, which holds {tmp_path}/lock/thing")
    kill(second)
    assert holder.poll() is None


def test_a_killed_run_leaves_no_lock(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    """SIGKILL gives nobody a chance to clean up; the lock is gone all the same."""
    kill(holder)
    second = started(tmp_path, "locked thing true")
    second.communicate()
    assert second.returncode == 0


@pytest.mark.parametrize(("option", "waits"), [("", True), ("--alone", False)])
def test_children_hold_a_lock_unless_told_otherwise(tmp_path: Path, option: str, waits: bool) -> None:
    """A container that a step leaves behind must not keep the next run out; a compiler of a killed run must."""
    first = started(
        tmp_path,
        f'leave() {{ sleep 600 >/dev/null 2>&1 & echo $! >"$HEARTH_CACHE/child"; }}\nlocked {option} thing leave',
    )
    first.communicate()
    held = subprocess.run(["flock", "--nonblock", tmp_path / "lock/thing", "true"], check=False).returncode
    os.kill(int((tmp_path / "child").read_text()), 9)
    assert (held != 0) == waits


def test_modules_that_two_builds_share_have_one_version(tmp_path: Path) -> None:
    """Another version of one module, and everything above it is compiled twice."""
    check = runpy.run_path(str(ROOT / "local/check-versions"), run_name="check")
    versions = dict(
        line.split("=", 1)
        for line in (ROOT / "versions.env").read_text().splitlines()
        if line and not line.startswith("#")
    )
    disagreements = check["disagreements"]
    original = disagreements.__globals__["go_versions"]
    module, wanted = "golang.org/x/net", original("kubernetes")["golang.org/x/net"]
    disagreements.__globals__["go_versions"] = lambda folder: (
        original(folder) | ({module: "v0.1.0"} if folder == "pulumi" else {})
    )
    assert [line for line in disagreements(versions) if module in line] == [
        f"local/tools/pulumi/go.mod has {module} v0.1.0, local/tools/kubernetes {wanted}"
    ]


def test_only_what_nobody_used_for_two_weeks_goes(tmp_path: Path) -> None:
    """Another checkout may use what an older one of the same name made, and a longer name is another thing."""
    days = {"tool-000000000001": 20, "tool-000000000002": 20, "tool-000000000003": 2, "tool-more-000000000001": 20}
    for name, age in days.items():
        (tmp_path / name).mkdir()
        mark = tmp_path / name / ".complete"
        mark.touch()
        os.utime(mark, (time.time() - age * 86_400,) * 2)
    run = started(tmp_path, f"kept {tmp_path} tool 000000000002")
    assert (*run.communicate(), run.returncode) == ("", "", 0)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(days.keys() - {"tool-000000000001"})
    assert time.time() - (tmp_path / "tool-000000000002/.complete").stat().st_mtime < 86_400


@pytest.mark.parametrize(
    ("after", "idle"),
    [
        ("cpu 150 0 25 225 0 0 0 0 0 0", "50"),
        ("cpu 200 0 50 150 0 0 0 0 0 0", "0"),
        ("cpu 100 0 0 150 0 0 0 0 0 0", "0"),
    ],
)
def test_how_idle_the_processors_were(tmp_path: Path, after: str, idle: str) -> None:
    """Waiting for a disk is not idle: what waits goes on by itself."""
    run = started(tmp_path, f"idle_share 'cpu 100 0 0 150 0 0 0 0 0 0' '{after}'")
    assert run.communicate() == (f"{idle}\n", "")
