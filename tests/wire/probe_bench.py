"""What the tests of the runner probe: a compiled sidecar before a scripted runtime, and what is expected of it."""

import contextlib
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from hearth.compile.digests import expected_evidence, isolation_document
from hearth.evidence.document import NetworkNamespace, Statement
from hearth.evidence.verify import Subject
from hearth.probe.run import HostFacts, Vantage, own_namespace, run
from hearth.probe.target import Bounds, Target
from hearth.topology.resolve import resolve
from tests.support.proxy_claims import capacity, claim, sidecar_endpoint
from tests.support.scripted_runtime import ScriptedRuntime
from tests.wire.sidecar_bench import ENDPOINT, NAME, TOKEN, Bench, running_sidecar

OUTSIDE = "10.77.0.1"
"""An address of the sidecar at which the runtime, which is on 127.0.0.1, does not listen."""
CLAIM = claim({ENDPOINT: sidecar_endpoint(runtimeCapacity=capacity(2, 2))}, operations=("chat", "embedding"))
UPSTREAM = resolve(CLAIM).endpoint(ENDPOINT)
SUBJECT = Subject("test", ENDPOINT, expected_evidence(resolve(CLAIM))[ENDPOINT])
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
FACTS = HostFacts(
    NetworkNamespace(machineSha256="ab" * 32, inode=4026531840, podUid=None), isolation_document(UPSTREAM, 8081)
)
GOOD_TIMES = {"check inter 5s": "check inter 200ms"}


@contextlib.contextmanager
def bench_with(binary: str, folder: Path, text: dict[str, str] | None = None) -> Iterator[Bench]:
    with running_sidecar(binary, folder, CLAIM, shorter={**GOOD_TIMES, **(text or {})}) as running:
        running.upstream.behaviour = ScriptedRuntime()
        yield running


def target(bench: Bench, **changes: Any) -> Target:
    made = Target(
        host=NAME,
        port=8443,
        path="/v1",
        expected=SUBJECT.expected,
        bounds=Bounds(2, 2, 262_144, 10.0, 20.0),
        authorities=bench.authority.pem,
        credential=f"Bearer {TOKEN}",
        raw_port=8081,
        address=OUTSIDE,
    )
    return dataclasses.replace(made, **changes)


def measured(found: Target, facts: HostFacts | None = FACTS) -> Statement:
    vantage = Vantage("test", "test-runner", "tests", own_namespace())
    return run(SUBJECT, found, vantage=vantage, facts=facts, key_id="runner", previous_sha256=None)


def not_passed(statement: Statement) -> dict[str, str | None]:
    """Reason by case, for each that did not pass."""
    found = {name: case.reason for name, case in statement.probes.items() if case.outcome != "passed"}
    for deployment in statement.deployments.values():
        for operation, cases in deployment.operations.items():
            found |= {f"{operation}.{name}": case.reason for name, case in cases.items() if case.outcome != "passed"}
    return found
