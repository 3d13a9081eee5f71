"""The catalogue: without any one of its cases, evidence opens nothing (S4-97, S4-106 … S4-110)."""

from dataclasses import replace
from typing import Any

import pytest

from hearth.claim.operations import OPERATIONS, Operation
from hearth.evidence.coverage import required_capabilities, required_probes
from hearth.evidence.reasons import Reason
from hearth.evidence.verify import Subject, verify
from hearth.topology.expected import Engine, Expected, ExpectedDeployment, Termination
from tests.unit.evidence import samples

TLS = [
    "transport.chain_and_name",
    "transport.dates",
    "transport.tls_floor",
    "transport.wrong_ca_refused",
    "transport.wrong_name_refused",
]
SIDECAR = [
    "sidecar.exact_paths",
    "sidecar.http1_only",
    "sidecar.identity",
    "sidecar.isolation",
    "sidecar.queue_bounded",
    "sidecar.raw_port_closed",
    "sidecar.request_bound",
]
CREDENTIAL = ["credential.missing_refused", "credential.wrong_refused"]
GENERATING = ["answer", "disconnect", "stream", "usage"]
EMBEDDING = ["batch", "batch_order", "scalar", "space", "usage"]


@pytest.mark.parametrize(
    ("termination", "identifies", "bears", "expected"),
    [
        ("plaintext", False, False, ["transport.plaintext_declared"]),
        ("plaintext", False, True, ["capacity.parallel", "transport.plaintext_declared"]),
        ("native", False, False, TLS),
        ("native", True, True, ["capacity.parallel", *CREDENTIAL, *TLS]),
        ("light_gateway_sidecar", True, True, ["capacity.parallel", *CREDENTIAL, *SIDECAR, *TLS]),
    ],
)
def test_the_cases_of_an_endpoint(termination: Termination, identifies: bool, bears: bool, expected: list[str]) -> None:
    subject = replace(
        samples.EXPECTED["vllm-native"],
        termination=termination,
        identifies=identifies,
        physical_runtime_id="box/engine" if bears else None,
    )
    assert list(required_probes(subject)) == expected


@pytest.mark.parametrize(
    ("engine", "operation", "expected"),
    [
        (None, "chat", GENERATING),
        (None, "completion", GENERATING),
        (None, "responses", GENERATING),
        (None, "embedding", EMBEDDING),
        ("ollama", "chat", GENERATING),
        ("ollama", "embedding", ["base64", "batch", "batch_order", "dimensions", "scalar", "space", "usage"]),
        ("llamaCpp", "chat", ["answer", "disconnect", "stream", "stream_framing", "usage"]),
        ("llamaCpp", "embedding", ["base64", *EMBEDDING]),
        ("vllm", "chat", ["answer", "disconnect", "stream", "stream_setup", "usage"]),
        ("vllm", "embedding", ["base64", *EMBEDDING]),
        ("vllm", "completion", GENERATING),
    ],
)
def test_the_capabilities_of_an_operation(engine: Engine | None, operation: Operation, expected: list[str]) -> None:
    subject = replace(samples.EXPECTED["vllm-native"], engine=engine)
    assert list(required_capabilities(subject, operation)) == expected


def whole(engine: Engine | None) -> tuple[Expected, dict[str, Any]]:
    """An endpoint of all operations, and a document that covers it."""
    expected = replace(
        samples.EXPECTED["ollama-home"],
        engine=engine,
        identifies=True,
        deployments={
            "gemma-home": ExpectedDeployment(samples.digest_of("revision"), "gemma3:270m", tuple(OPERATIONS)),
        },
    )
    values = samples.altered()
    values["probes"] = samples.passed(*required_probes(expected))
    values["deployments"]["gemma-home"]["operations"] = {
        operation: samples.passed(*required_capabilities(expected, operation)) for operation in OPERATIONS
    }
    return expected, values


def reasons(expected: Expected, values: dict[str, Any]) -> list[tuple[Reason, str]]:
    data = samples.signed(lambda document: document.update(values))
    found = verify(data, Subject("home", "ollama-home", expected), samples.trust_store(), samples.NOW)
    return [(finding.reason, finding.subject) for finding in found.findings]


@pytest.mark.parametrize("engine", [None, "ollama", "llamaCpp", "vllm"])
def test_no_case_may_be_missing_or_skipped(engine: Engine | None) -> None:
    expected, values = whole(engine)
    assert reasons(expected, values) == []
    places = [(values["probes"], name, Reason.PROBE_NOT_PASSED, name) for name in list(values["probes"])]
    operations = values["deployments"]["gemma-home"]["operations"]
    for operation, cases in operations.items():
        places += [
            (cases, name, Reason.CAPABILITY_NOT_PASSED, f"gemma-home/{operation}/{name}") for name in list(cases)
        ]
    assert len(places) > 30
    for cases, name, reason, subject in places:
        passed = cases.pop(name)
        assert reasons(expected, values) == [(reason, subject)]
        cases[name] = samples.SKIPPED
        assert reasons(expected, values) == [(reason, subject)]
        cases[name] = passed
