"""Every part of `make test`, side by side where nothing is disturbed, with the seconds of each at the end.

A part is a command and the parts that it needs. What does not depend on a failed part still runs, so that one run says
everything that is wrong. Each line of output begins with the name of its part.

Exit codes: 0 all parts passed, 1 one failed or could not run, 130 interrupted; the test cluster is deleted either way
unless HEARTH_KEEP_CLUSTER is set.
"""

import collections
import json
import os
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
BUDGETS: Final = ROOT / "docs/contributing.md"
CLUSTER: Final = os.environ.get("HEARTH_TEST_CLUSTER", "hearth-test")
PYTEST: Final = (".venv/bin/pytest", "-q")
SLOWEST: Final = 10
"""How many of the slowest tests the report names."""
PATIENCE: Final = 120
"""Seconds that an interrupted part has for cleaning up."""


@dataclass(frozen=True)
class Part:
    """One command of the run."""

    name: str
    command: tuple[str, ...]
    needs: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    more_after: str | None = None
    """The part after whose end this one does more at a time: HEARTH_EDGE_MORE_AFTER names a file that is there then."""
    nice: int = 0
    """How far the part stands back when processor time is short, 0 to 19."""
    even_after_failures: bool = False
    """Whether it runs when what it waits for failed: for cleaning up."""


def parts(*, edge: bool) -> tuple[Part, ...]:
    """Return the parts of `make test`; without `edge` those that need no container hosts."""
    on_cluster, kept = {"HEARTH_CLUSTER": CLUSTER}, {"HEARTH_KEEP_CLUSTER": "1"}
    hosts = ("hosts",) if edge else ()
    made = [
        Part("checks", ("local/check.sh",)),
        Part("prepare", ("local/prepare.sh",), nice=5),
        Part("programs", ("local/test-tools.sh",), ("prepare",), nice=5),
        Part("wire", (*PYTEST, "tests/wire", "-m", "not gateway and not long"), ("checks", "programs")),
        Part("gateway", (*PYTEST, "tests/wire", "-m", "gateway and not long"), ("checks", "programs")),
        Part("create", ("local/cluster.sh",), ("prepare",), on_cluster, nice=5),
        # a test of the cluster has a host beside it
        Part("cluster", (*PYTEST, "tests/cluster", "-m", "not apart and not long"), ("checks", "create", *hosts), kept),
        # these mostly wait for Pods
        Part("apart", (*PYTEST, "tests/cluster", "-m", "apart and not long"), ("checks", "create"), kept, nice=5),
    ]
    if "HEARTH_KEEP_CLUSTER" not in os.environ:
        made.append(
            Part(
                "delete",
                ("local/cluster-down.sh",),
                ("create", "cluster", "apart"),
                on_cluster,
                even_after_failures=True,
            )
        )
    if edge:
        made += [
            Part("hosts", ("local/edge-hosts.sh",), ("prepare",), nice=5),
            Part("ollama", ("local/edge-ollama.sh",), ("hosts",), nice=15),
            Part(
                "edge",
                ("local/edge-scenarios.sh", "test"),
                ("checks", "hosts", "ollama"),
                # one at a time while the cluster's and the proxies' tests leave it about one of two processors
                more_after="cluster",
                nice=10,
            ),
        ]
    return tuple(made)


@dataclass
class Outcome:
    """What became of a part."""

    started: float
    seconds: float = 0.0
    status: int | None = None
    """Exit code; none when the part was left out because of what it needs."""


class Run:
    """The parts under way, and those that ended."""

    def __init__(self, planned: Iterable[Part], times: Path) -> None:
        self._waiting = list(planned)
        self._times = times
        self._running: dict[int, tuple[Part, subprocess.Popen[bytes]]] = {}
        self._rest: dict[int, bytes] = {}
        self._selector = selectors.DefaultSelector()
        self._started = time.monotonic()
        self.outcomes: dict[str, Outcome] = {}

    @property
    def seconds(self) -> float:
        """Return how long the run has been under way, in seconds."""
        return time.monotonic() - self._started

    def until_done(self) -> None:
        """Run all parts."""
        while self._waiting or self._running:
            self._start_ready()
            for key, _ in self._selector.select(timeout=1):
                self._read(key.fd)

    def interrupt(self) -> None:
        """End what runs, give it time to clean up, and run only what cleans up."""
        self._waiting = [part for part in self._waiting if part.even_after_failures]
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            for _, process in self._running.values():
                os.killpg(process.pid, number)
            limit = time.monotonic() + PATIENCE
            while self._running and time.monotonic() < limit:
                for key, _ in self._selector.select(timeout=1):
                    self._read(key.fd)
            if not self._running:
                break
        self.until_done()

    def _start_ready(self) -> None:
        names = {part.name for part in self._waiting} | {part.name for part, _ in self._running.values()}
        for part in list(self._waiting):
            if any(need in names for need in part.needs):
                continue
            self._waiting.remove(part)
            missing = [need for need in part.needs if need in self.outcomes and self.outcomes[need].status != 0]
            if missing and not part.even_after_failures:
                self.outcomes[part.name] = Outcome(self.seconds)
                self._ended(part.name).touch()
                self._say(part.name, f"not run, because of {', '.join(missing)}")
                continue
            self._start(part)

    def _start(self, part: Part) -> None:
        self._say(part.name, f"begins: {' '.join(part.command)}")
        environment = {**os.environ, **part.environment, "HEARTH_TIMES": str(self._times), "HEARTH_PHASE": part.name}
        if part.more_after is not None:
            environment["HEARTH_EDGE_MORE_AFTER"] = str(self._ended(part.more_after))
        process = subprocess.Popen(  # noqa: S603 the commands are those of `parts`
            ["/usr/bin/env", "nice", "-n", str(part.nice), *part.command],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        if process.stdout is None:
            raise RuntimeError("a pipe was asked for")
        descriptor = process.stdout.fileno()
        self._running[descriptor] = (part, process)
        self._rest[descriptor] = b""
        self._selector.register(descriptor, selectors.EVENT_READ)
        self.outcomes[part.name] = Outcome(self.seconds)

    def _read(self, descriptor: int) -> None:
        part, process = self._running[descriptor]
        data = os.read(descriptor, 65536)
        *lines, self._rest[descriptor] = (self._rest[descriptor] + data).split(b"\n")
        for line in lines:
            self._say(part.name, line.decode(errors="replace"))
        if data:
            return
        if rest := self._rest.pop(descriptor):
            self._say(part.name, rest.decode(errors="replace"))
        self._selector.unregister(descriptor)
        del self._running[descriptor]
        outcome = self.outcomes[part.name]
        outcome.status = process.wait()
        outcome.seconds = self.seconds - outcome.started
        self._ended(part.name).touch()
        self._say(part.name, f"{'passed' if outcome.status == 0 else 'FAILED'} after {outcome.seconds:.0f} s")

    def _ended(self, name: str) -> Path:
        """Return the file that is there once a part has ended or was left out."""
        return self._times / f"{name}.ended"

    @staticmethod
    def _say(name: str, line: str) -> None:
        print(f"{name:8s}| {line.rstrip(chr(13))}", flush=True)


def budgets(text: str) -> dict[str, int]:
    """Return the budget of each part in seconds out of the table of docs/contributing.md."""
    return {name: int(seconds) for name, seconds in re.findall(r"^\| `([a-z-]+)` \| ([0-9]+) \|", text, re.M)}


@dataclass(frozen=True)
class Test:
    """One test that ran."""

    name: str
    seconds: float
    outcome: str
    why: str
    """The first line of its error; empty where it passed."""


def tests_of(folder: Path) -> list[Test]:
    """Return what the test runs wrote into a folder: a JSON document a line for each test."""
    lines = [line for file in sorted(folder.glob("*.jsonl")) for line in file.read_text().splitlines()]
    return [Test(row["test"], row["seconds"], row["outcome"], row["why"]) for row in map(json.loads, lines)]


def report(run: Run, ran: list[Test], allowed: Mapping[str, int]) -> Iterable[str]:
    """Return the lines at the end of a run: seconds of each part beside its budget, slowest tests, what failed."""
    yield ""
    yield f"{'part':10s} {'began':>6s} {'took':>6s} {'budget':>7s}"
    for name, outcome in run.outcomes.items():
        budget = allowed.get(name)
        remark = ""
        if outcome.status is None:
            remark = "  not run"
        elif outcome.status != 0:
            remark = "  FAILED"
        elif budget is not None and outcome.seconds > budget:
            remark = f"  over its budget by {outcome.seconds - budget:.0f} s"
        yield f"{name:10s} {outcome.started:6.0f} {outcome.seconds:6.0f} {budget if budget else '-':>7}{remark}"
    built = run.outcomes["prepare"].seconds > allowed.get("prepare-again", 0)
    total = allowed.get("cold" if built else "warm", 0)
    over = f"  over its budget by {run.seconds - total:.0f} s" if run.seconds > total else ""
    yield f"{'all':10s} {'':6s} {run.seconds:6.0f} {total:7d}{over}"
    yield ""
    yield f"the {SLOWEST} slowest tests:"
    for test in sorted(ran, key=lambda test: -test.seconds)[:SLOWEST]:
        yield f"{test.seconds:7.1f} s  {test.name}"
    failed = [test for test in ran if test.outcome != "passed"]
    if failed:
        yield ""
        yield "failed:"
    for test in failed:
        yield f"  {test.name}"
        yield f"    {test.why}"


def main() -> int:
    """Run `make test`."""
    edge = sys.argv[1:] == ["--edge"]
    with tempfile.TemporaryDirectory(prefix="hearth-times-") as folder:
        run = Run(parts(edge=edge), Path(folder))
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        interrupted = False
        try:
            run.until_done()
        except KeyboardInterrupt:
            interrupted = True
            run.interrupt()
        ran = tests_of(Path(folder))
    for line in report(run, ran, budgets(BUDGETS.read_text())):
        print(line)
    count = collections.Counter(test.outcome for test in ran)
    print(f"tests: {count['passed']} passed, {count['failed'] + count['skipped']} failed", flush=True)
    if interrupted:
        return 130
    return 0 if all(outcome.status == 0 for outcome in run.outcomes.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
