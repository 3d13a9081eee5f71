"""What a test run may leave out, and how long its tests took.

A skipped test is a failure unless its reason is one of `LACKING`. So is an expected failure: neither proves anything.

HEARTH_TIMES names a folder for the times of a run, and HEARTH_PHASE the part of it that this process is (default
`pytest`): to `<folder>/<phase>.jsonl` it adds one object a test, as it ends, with `phase`, `test` (its node id),
`outcome` (`passed` or `failed`), `why` it failed (the first line of its error), and `seconds`, of which `setup`, `call`
and `teardown` are the parts. Several processes may be one phase, one after another; whoever starts a run empties the
folder.
"""

import json
import os
from collections.abc import Generator
from pathlib import Path
from typing import TextIO

import pytest

LACKING = {
    "the cluster runs in Docker, and container hosts run in podman": (
        "The edge half needs root on Debian, for its hosts are containers; "
        "elsewhere `make test` says that it is left out."
    ),
}
"""The reasons for which a test may be skipped, each with the README's sentence about what such a machine lacks."""


def pytest_configure(config: pytest.Config) -> None:
    folder = os.environ.get("HEARTH_TIMES")
    # A process of pytest-xdist hands its reports to the one that started it.
    if folder and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Times(Path(folder), os.environ.get("HEARTH_PHASE", "pytest")))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _refuse_skip(report)
    return report


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.outcome != "skipped":
        return
    said = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    reason = said.removeprefix("Skipped: ")
    if reason in LACKING and not hasattr(report, "wasxfail"):
        return
    report.outcome = "failed"
    report.longrepr = (
        f"A skipped test is a failure, and this one was skipped: {reason}\n"
        "Provide what it needs; only what tests.support.outcomes.LACKING lists may be missing."
    )
    # Without it the terminal would count the test as an expected failure.
    vars(report).pop("wasxfail", None)


class Times:
    """Adds the seconds of each test to the file of this run's phase."""

    def __init__(self, folder: Path, phase: str) -> None:
        self._file = folder / f"{phase}.jsonl"
        self._phase = phase
        self._parts: dict[str, dict[str, float]] = {}
        self._failed: dict[str, str] = {}
        self._out: TextIO | None = None

    def pytest_sessionstart(self) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._out = self._file.open("a")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        parts = self._parts.setdefault(report.nodeid, {"setup": 0.0, "call": 0.0, "teardown": 0.0})
        if report.when is not None:
            parts[report.when] = round(report.duration, 3)
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            said = report.longreprtext if crash is None else crash.message
            self._failed.setdefault(report.nodeid, said.strip().split("\n")[0][:300])

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        parts = self._parts.pop(nodeid, None)
        if parts is None or self._out is None:
            return
        outcome = "failed" if nodeid in self._failed else "passed"
        line = {"phase": self._phase, "test": nodeid, "outcome": outcome, "why": self._failed.get(nodeid, "")}
        print(json.dumps({**line, "seconds": round(sum(parts.values()), 3), **parts}), file=self._out, flush=True)

    def pytest_sessionfinish(self) -> None:
        if self._out is not None:
            self._out.close()
