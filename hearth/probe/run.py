"""A run: every case that the catalogue asks for, once, and the statement about what was seen."""

import datetime
import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hearth.canonical import digest
from hearth.claim.operations import OPERATIONS
from hearth.evidence.coverage import CATALOGUE_VERSION, required_capabilities, required_probes
from hearth.evidence.document import (
    DEFAULT_VALIDITY,
    Case,
    NetworkNamespace,
    RunnerVantage,
    SidecarIdentity,
    Statement,
    timestamp,
)
from hearth.evidence.verify import Subject
from hearth.probe import capacity, credential, embedding, generation, sidecar, transport
from hearth.probe.case import Facts, FailedError, Probe, SkippedError, outcome
from hearth.probe.generation import Asked
from hearth.probe.target import Target

PROBES: Final[Mapping[str, Probe]] = {
    probe.id: probe for module in (transport, sidecar, credential, capacity) for probe in module.PROBES
}
"""Every probe of the endpoint itself, by id."""

Progress = Callable[[str, Case], None]
"""Told of each case as it ends."""


class VantageError(Exception):
    """The runner does not stand outside the model server's network namespace, so nothing is signed (S4-91)."""


@dataclass(frozen=True)
class HostFacts:
    """What the host or the cluster says of the model server, which no network shows (S4-89, S4-90)."""

    network_namespace: NetworkNamespace
    """Network namespace of the model server."""
    isolation: Mapping[str, Any]
    """How the runtime is isolated, as `hearth.compile.digests.isolation_document` writes it."""


@dataclass(frozen=True)
class Vantage:
    """Where the runner stands."""

    environment: str
    """Environment that it is in."""
    workload: str
    """What it is."""
    zone: str
    """Its network zone."""
    namespace: NetworkNamespace
    """Its network namespace."""


def own_namespace(pod_uid: str | None = None) -> NetworkNamespace:
    """Return the network namespace of this process.

    Args:
        pod_uid: UID of the Pod that it runs in, by the downward API; none outside a cluster.
    """
    boot_id = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return NetworkNamespace(
        machineSha256=hashlib.sha256(boot_id.encode()).hexdigest(),
        inode=None if pod_uid else Path("/proc/self/ns/net").stat().st_ino,
        podUid=pod_uid,
    )


def _isolation(facts: HostFacts | None, expected: str | None) -> Facts:
    if facts is None:
        raise SkippedError("no_facts_of_the_host")
    if digest(facts.isolation) != expected:
        raise FailedError("isolated_otherwise")
    return {}


def _endpoint_cases(target: Target, facts: HostFacts | None, ids: Iterable[str], told: Progress) -> dict[str, Case]:
    found: dict[str, Case] = {}
    for name in ids:
        if name == "sidecar.isolation":
            expected = target.expected.sidecar.isolation_sha256 if target.expected.sidecar else None
            found[name] = outcome(lambda wanted=expected: _isolation(facts, wanted))  # type: ignore[misc]
        else:
            found[name] = PROBES[name].case(target)
        told(name, found[name])
    return found


def _deployments(target: Target, told: Progress) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, deployment in target.expected.deployments.items():
        operations: dict[str, dict[str, Case]] = {}
        for operation in deployment.operations:
            table = embedding.CAPABILITIES if OPERATIONS[operation].vectors else generation.CAPABILITIES
            asked = Asked(target, deployment.model, operation)
            cases = operations[operation] = {}
            for capability in required_capabilities(target.expected, operation):
                cases[capability] = outcome(lambda run=table[capability], about=asked: run(about))  # type: ignore[misc]
                told(f"{name}/{operation}/{capability}", cases[capability])
        found[name] = {"revision": deployment.revision, "model": deployment.model, "operations": operations}
    return found


def _leaf(target: Target) -> transport.Leaf | None:
    try:
        return transport.leaf(target) if target.encrypted else None
    except OSError:
        return None


def _sidecar(target: Target, facts: HostFacts | None, probes: Mapping[str, Case]) -> SidecarIdentity | None:
    if target.expected.sidecar is None:
        return None
    try:
        said = sidecar.identity_document(target)
    except OSError:
        said = {}
    certificate = said.get("certificate")
    raw = probes["sidecar.raw_port_closed"]
    return SidecarIdentity.model_validate(
        {
            "profileVersion": _text(said.get("profile")),
            "configSha256": _sha256(said.get("configSha256")),
            "certificateIdentitySha256": _sha256(certificate.get("sha256") if isinstance(certificate, dict) else None),
            "isolationEvidenceSha256": digest(facts.isolation) if facts else None,
            "rawPortReachable": {"passed": False, "raw_port_reachable": True}.get(raw.reason or raw.outcome),
        }
    )


def _text(value: object) -> str | None:
    # Only what the claim could expect is taken over; the rest stays out of a signed document.
    return value if isinstance(value, str) and value.startswith("model-provider-sidecar/") and len(value) < 40 else None


def _sha256(value: object) -> str | None:
    right = isinstance(value, str) and len(value) == 64 and set(value) <= set("0123456789abcdef")
    return value if right and isinstance(value, str) else None


def _vantage(target: Target, facts: HostFacts | None, vantage: Vantage) -> RunnerVantage | None:
    """Return from where the raw port was tried.

    Raises:
        VantageError: it is not shown that it was outside.
    """
    expected = target.expected.sidecar
    if expected is None or expected.raw_target_sha256 is None or facts is None:
        return None
    values = {
        "environmentId": vantage.environment,
        "sourceWorkloadId": vantage.workload,
        "sourceNetworkZoneId": vantage.zone,
        "sourceNetworkNamespace": vantage.namespace,
        "targetNetworkNamespace": facts.network_namespace,
        "rawProbeTargetSha256": expected.raw_target_sha256,
    }
    kind = RunnerVantage.model_validate({"kind": "external_host", **values}).proven_kind
    if kind is None:
        raise VantageError("the runner is not shown to stand outside the model server's network namespace")
    return RunnerVantage.model_validate({"kind": kind, **values})


def run(
    subject: Subject,
    target: Target,
    *,
    vantage: Vantage,
    facts: HostFacts | None,
    key_id: str,
    previous_sha256: str | None,
    told: Progress = lambda _name, _case: None,
    validity: datetime.timedelta = DEFAULT_VALIDITY,
) -> Statement:
    """Run every case of the catalogue against an endpoint and return what was seen, to be signed.

    Args:
        subject: what the statement is about.
        target: the endpoint, as the gateway reaches it.
        vantage: where this process stands.
        facts: what the host says of the model server; without them an endpoint with a sidecar does not pass.
        key_id: key that will sign.
        previous_sha256: digest of the document that this one supersedes.
        told: is told of each case as it ends.
        validity: how long the evidence is to count.

    Raises:
        VantageError: this process is not shown to stand outside; nothing was probed.
    """
    expected = subject.expected
    seen_from = _vantage(target, facts, vantage)
    probes = _endpoint_cases(target, facts, required_probes(expected), told)
    deployments = _deployments(target, told)
    shown = _leaf(target)
    cases = [
        *probes.values(),
        *(case for one in deployments.values() for op in one["operations"].values() for case in op.values()),
    ]
    tested_at = datetime.datetime.now(datetime.UTC)
    return Statement.model_validate(
        {
            "version": "hearth.evidence/v1",
            "kind": "live_endpoint",
            "environment": subject.environment,
            "endpoint": subject.endpoint_id,
            "endpointSha256": expected.endpoint_sha256,
            "profileSha256": expected.profile_sha256,
            "capacitySha256": expected.capacity_sha256,
            "physicalRuntimeId": expected.physical_runtime_id or subject.endpoint_id,
            "runtimeVersion": None,
            "certificateSha256": shown.sha256 if shown else None,
            "publicKeySha256": shown.public_key_sha256 if shown else None,
            "state": "passed" if all(case.outcome == "passed" for case in cases) else "failed",
            "deployments": deployments,
            "sidecar": _sidecar(target, facts, probes),
            "runnerVantage": seen_from,
            "probes": probes,
            "catalogueVersion": CATALOGUE_VERSION,
            "previousSha256": previous_sha256,
            "testedAt": timestamp(tested_at),
            "validUntil": timestamp(tested_at + validity),
            "signerKeyId": key_id,
        }
    )
