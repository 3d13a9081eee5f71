"""Servers that a test starts on loopback: free ports, logs in a folder, an end by process id."""

import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

PATIENCE_SECONDS = 180
"""How long a server may take until it answers; a loaded machine takes a multiple of what an idle one does."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Processes:
    """Child processes whose output goes to files; `stop` ends the last one first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._running: list[subprocess.Popen[bytes]] = []

    def start(
        self, name: str, command: Sequence[str], environment: Mapping[str, str], *, user: str | None = None
    ) -> None:
        with (self.folder / f"{name}.log").open("wb") as log:
            self._running.append(
                subprocess.Popen(
                    command,
                    cwd=self.folder if user is None else "/",
                    env=dict(environment),
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    user=user,
                )
            )

    def wait(self, ready: Callable[[], bool]) -> None:
        """Return once `ready` says so; fail with the ends of the logs when a process ends first, or nothing comes."""
        for _ in range(PATIENCE_SECONDS * 5):
            if ready():
                return
            if any(process.poll() is not None for process in self._running):
                break
            time.sleep(0.2)
        logs = "\n".join(f"{log.name}:\n{log.read_text()[-2000:]}" for log in sorted(self.folder.glob("*.log")))
        raise AssertionError(f"a server did not start:\n{logs}")

    def stop(self) -> None:
        for process in self._running:
            process.terminate()
        for process in reversed(self._running):
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._running.clear()
