"""Evidence as a test report in the Common Test Report Format, for tools that show such reports (S4-106)."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hearth.evidence.document import Case, Evidence, moment

SPEC_VERSION: Final = "0.0.0"
"""Version of the format's schema."""


def ctrf_report(evidence: Evidence) -> dict[str, Any]:
    """Return a report of the cases that a document holds. It is not signed: it says nothing that the document does not.

    Args:
        evidence: a document whose signature holds.
    """
    tests = list(_tests(evidence))
    ended = int(moment(evidence.tested_at).timestamp() * 1000)
    states = ("passed", "failed", "skipped", "pending", "other")
    counts = {state: sum(test["status"] == state for test in tests) for state in states}
    return {
        "reportFormat": "CTRF",
        "specVersion": SPEC_VERSION,
        "results": {
            "tool": {"name": "hearth", "version": f"catalogue {evidence.catalogue_version}"},
            # A document holds the end of the run alone.
            "summary": {"tests": len(tests), **counts, "start": ended, "stop": ended},
            "environment": {"testEnvironment": evidence.environment},
            "tests": tests,
        },
    }


def _tests(evidence: Evidence) -> Iterator[dict[str, Any]]:
    yield from _of(evidence.probes, (evidence.endpoint,))
    for name, deployment in sorted(evidence.deployments.items()):
        for operation, cases in sorted(deployment.operations.items()):
            yield from _of(cases, (evidence.endpoint, name, operation))


def _of(cases: Mapping[str, Case], suite: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for name, case in sorted(cases.items()):
        test: dict[str, Any] = {"name": name, "status": case.outcome, "duration": 0, "suite": list(suite)}
        if case.reason is not None:
            test["message"] = case.reason
        if case.facts:
            test["extra"] = dict(sorted(case.facts.items()))
        yield test
