"""roles/common's wait-ready.py, which systemd runs after a runtime's start."""

import subprocess
import sys
import time
from pathlib import Path

PROGRAM = Path(__file__).parents[3] / "roles/common/files/wait-ready.py"


def test_it_ends_with_the_runtime() -> None:
    """A model may take minutes to load, and a program that has ended loads none."""
    runtime = subprocess.Popen(["sleep", "0.5"])
    started = time.monotonic()
    waiting = subprocess.Popen(
        [sys.executable, "-I", PROGRAM, "http://127.0.0.1:9/health", "60"],
        env={"MAINPID": str(runtime.pid)},
        stderr=subprocess.PIPE,
        text=True,
    )
    runtime.wait()
    _, said = waiting.communicate(timeout=50)
    assert waiting.returncode != 0
    assert "the runtime has ended" in said
    assert time.monotonic() - started < 30
