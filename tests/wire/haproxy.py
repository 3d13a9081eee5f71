"""A HAProxy process of one test."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.wire.client import wait_for

LOADED = re.compile("Loading success|Loading failure|Failed to load worker")
"""What the master process says of an attempt to load; the last is 3.2's word for a failure."""


class Haproxy:
    """HAProxy with the given configuration files, in the foreground, its log in a file.

    Args:
        binary: the program.
        folder: where the log goes.
        configurations: configuration files in their order.
        ports: TCP ports on 127.0.0.1 that answer when it is up.
        environment: its whole environment beside PATH.
        master: run with a master process, so that it can be reloaded.
    """

    def __init__(
        self,
        binary: str,
        folder: Path,
        configurations: Sequence[Path],
        ports: Sequence[int],
        *,
        environment: Mapping[str, str] | None = None,
        master: bool = False,
    ) -> None:
        self._log_path, self._ports = folder / "haproxy.log", ports
        # A worker of the one before, which has not ended yet, would answer in place of this one.
        assert wait_for(self._closed), f"something listens on one of the ports {ports}"
        arguments = [binary, "-W" if master else "-db"]
        for configuration in configurations:
            arguments += ["-f", str(configuration)]
        with self._log_path.open("wb") as log:
            self._process = subprocess.Popen(
                arguments, stderr=log, stdout=log, env={"PATH": os.environ["PATH"], **(environment or {})}
            )
        self._wait()

    def __enter__(self) -> "Haproxy":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(5)

    def _closed(self) -> bool:
        """Return whether nobody listens on its ports."""
        for port in self._ports:
            with contextlib.suppress(ConnectionRefusedError):
                # one that is just being closed resets what waited to be accepted
                with contextlib.suppress(ConnectionResetError):
                    socket.create_connection(("127.0.0.1", port), 1).close()
                return False
        return True

    def _wait(self) -> None:
        end = time.monotonic() + 15
        for port in self._ports:
            while True:
                if self._process.poll() is not None:
                    raise RuntimeError(f"haproxy ended with {self._process.returncode}: {self.text()}")
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    if time.monotonic() > end:
                        raise
                    time.sleep(0.02)

    @property
    def pid(self) -> int:
        return self._process.pid

    def reload(self) -> bool:
        """Ask the master for a reload, wait until it has happened, and return whether the new files were good."""
        assert wait_for(lambda: self._loads() > 0)
        before = self._loads()
        for _ in range(10):
            # The master loses a signal that arrives right after a load, so it is asked again.
            self._process.send_signal(signal.SIGUSR2)
            if wait_for(lambda: self._loads() > before, 2):
                break
        else:
            raise TimeoutError(self.text())
        return LOADED.findall(self.text())[-1] == "Loading success"

    def _loads(self) -> int:
        return len(LOADED.findall(self.text()))

    def kill(self) -> None:
        """End it at once, with everything that it had in hand."""
        self._process.kill()
        self._process.wait(5)

    def drain(self) -> None:
        """Ask for a soft stop, finish what runs and accept nothing new, and wait until it has begun."""
        self._process.send_signal(signal.SIGUSR1)
        assert wait_for(self._closed)

    def text(self) -> str:
        """Return everything that it wrote."""
        return self._log_path.read_text(encoding="utf-8", errors="replace")

    def log(self) -> list[dict[str, Any]]:
        """Return the log lines; one that is not JSON is an error."""
        return [json.loads(line) for line in self.text().splitlines() if line.startswith("{")]

    def lines(self, count: int, *, after: int = 0, **fields: Any) -> list[dict[str, Any]]:
        """Return the first lines with the given fields, once there are so many; lines are written a little late.

        Args:
            count: how many.
            after: lines at the beginning of the log that do not count.
            fields: fields and their values.
        """

        def found() -> list[dict[str, Any]]:
            return [line for line in self.log()[after:] if fields.items() <= line.items()]

        assert wait_for(lambda: len(found()) >= count, 10), self.log()[after:]
        return found()[:count]
