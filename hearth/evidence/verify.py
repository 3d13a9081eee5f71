"""Verification of evidence, offline and in a fixed order (S4-103).

The signature comes first: until it holds, nothing in the document is looked at but the name of the key. Then follow
state, expiry, operations, model, endpoint, transport, sidecar and vantage. All findings are reported; the first one
decides the verdict. Nothing here reads a file or a clock, and nothing knows a claim: whoever has the documents, the
trust store and what is expected comes to the same verdict.
"""

import datetime
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from hearth.canonical import MalformedError
from hearth.evidence.coverage import CATALOGUE_VERSION, required_capabilities, required_probes
from hearth.evidence.document import MAXIMUM_VALIDITY, Case, Evidence, moment
from hearth.evidence.reading import read_document
from hearth.evidence.reasons import Finding, Reason, Verdict
from hearth.evidence.signing import evidence_digest, signature_holds
from hearth.evidence.trust import TrustStore
from hearth.topology.expected import Expected, ExpectedSidecar

CLOCK_TOLERANCE: Final = datetime.timedelta(minutes=5)
"""How far the runner's clock may be ahead of this machine's."""


@dataclass(frozen=True)
class Subject:
    """What a document has to be about."""

    environment: str
    """The environment."""
    endpoint_id: str
    """One of its endpoints."""
    expected: Expected
    """What the claim declares for that endpoint now."""
    believed_until: str | None = None
    """`testedAt` of the evidence of the same revision that was believed last: an older document is superseded. None
    when nothing is remembered."""


@dataclass(frozen=True)
class Verification:
    """What came of it."""

    evidence: Evidence | None
    """The document, only if its signature holds: nothing else of it may be shown or used."""
    sha256: str | None
    """Digest that names the document, only if its signature holds."""
    findings: tuple[Finding, ...]
    """What is wrong, in the order of verification; empty when valid."""

    @property
    def verdict(self) -> Verdict:
        """Return the verdict of the first finding, or valid."""
        return self.findings[0].verdict if self.findings else Verdict.VALID


def _refused(reason: Reason) -> Verification:
    return Verification(None, None, (Finding(reason, ""),))


def authenticate(data: bytes, trust_store: TrustStore | None) -> Verification:
    """Check the signature, and nothing else but the shape that it covers.

    Args:
        data: bytes of the evidence file.
        trust_store: the runners' public keys; none when the environment has no trust store.
    """
    if trust_store is None:
        return _refused(Reason.TRUST_STORE_MISSING)
    try:
        document = read_document(data)
        key_id = document.get("signerKeyId")
        key = trust_store.keys.get(key_id) if isinstance(key_id, str) else None
        if key is None:
            return _refused(Reason.KEY_UNKNOWN)
        if key.revoked:
            return _refused(Reason.KEY_REVOKED)
        if not signature_holds(document, key.ed25519):
            return _refused(Reason.SIGNATURE_INVALID)
        sha256 = evidence_digest(document)
    except MalformedError:
        return _refused(Reason.MALFORMED)
    return _shaped(document, sha256, trust_store)


def _shaped(document: dict[str, Any], sha256: str, trust_store: TrustStore) -> Verification:
    try:
        evidence = Evidence.model_validate_json(json.dumps(document))
    except ValidationError:
        return Verification(None, sha256, (Finding(Reason.SHAPE_INVALID, ""),))
    key, tested_at = trust_store.keys[evidence.signer_key_id], moment(evidence.tested_at)
    if not moment(key.not_before) <= tested_at <= moment(key.not_after):
        return Verification(None, sha256, (Finding(Reason.KEY_OUT_OF_PERIOD, ""),))
    return Verification(evidence, sha256, ())


def verify(data: bytes, subject: Subject, trust_store: TrustStore | None, now: datetime.datetime) -> Verification:
    """Verify evidence of one endpoint.

    Args:
        data: bytes of the evidence file.
        subject: what it has to be about.
        trust_store: the runners' public keys; none when the environment has no trust store.
        now: the time, with a zone.
    """
    authentic = authenticate(data, trust_store)
    if authentic.evidence is None:
        return authentic
    evidence = authentic.evidence
    findings = (
        *_state(evidence),
        *_superseded(evidence, subject),
        *_expiry(evidence, now),
        *_operations(evidence, subject.expected),
        *_model(evidence, subject.expected),
        *_endpoint(evidence, subject),
        *_transport(evidence, subject.expected),
        *_sidecar(evidence, subject.expected.sidecar),
        *_vantage(evidence, subject.expected.sidecar),
    )
    return Verification(evidence, authentic.sha256, findings)


def verify_alone(data: bytes, trust_store: TrustStore | None, now: datetime.datetime) -> Verification:
    """Verify what a document says without knowing what it has to be about: signature, state, expiry and vantage.

    Args:
        data: bytes of the document.
        trust_store: the public keys of the environment that it names; none when there is no trust store.
        now: the time, with a zone.
    """
    authentic = authenticate(data, trust_store)
    if authentic.evidence is None:
        return authentic
    evidence, vantage = authentic.evidence, authentic.evidence.runner_vantage
    findings = [*_state(evidence), *_expiry(evidence, now)]
    if vantage is not None and vantage.proven_kind != vantage.kind:
        findings.append(Finding(Reason.VANTAGE_NOT_EXTERNAL, ""))
    return Verification(evidence, authentic.sha256, tuple(findings))


def _state(evidence: Evidence) -> Iterator[Finding]:
    if evidence.kind != "live_endpoint":
        yield Finding(Reason.KIND_NOT_LIVE, "")
    if evidence.state == "failed":
        yield Finding(Reason.STATE_FAILED, "")
    elif any(case.outcome == "failed" for case in evidence.cases):
        yield Finding(Reason.STATE_CONTRADICTED, "")
    if evidence.catalogue_version < CATALOGUE_VERSION:
        yield Finding(Reason.CATALOGUE_OUTDATED, "")
    elif evidence.catalogue_version > CATALOGUE_VERSION:
        yield Finding(Reason.CATALOGUE_UNKNOWN, "")


def _superseded(evidence: Evidence, subject: Subject) -> Iterator[Finding]:
    if subject.believed_until is not None and moment(evidence.tested_at) < moment(subject.believed_until):
        yield Finding(Reason.SUPERSEDED, "")


def _expiry(evidence: Evidence, now: datetime.datetime) -> Iterator[Finding]:
    tested_at, valid_until = moment(evidence.tested_at), moment(evidence.valid_until)
    if not tested_at < valid_until <= tested_at + MAXIMUM_VALIDITY:
        yield Finding(Reason.VALIDITY_TOO_LONG, "")
    if tested_at > now + CLOCK_TOLERANCE:
        yield Finding(Reason.NOT_YET_VALID, "")
    if now >= valid_until:
        yield Finding(Reason.EXPIRED, "")


def _missing(cases: Mapping[str, Case], required: Iterable[str]) -> Iterator[str]:
    """Yield the required cases that did not pass."""
    for name in required:
        if name not in cases or cases[name].outcome != "passed":
            yield name


def _operations(evidence: Evidence, expected: Expected) -> Iterator[Finding]:
    for name, deployment in expected.deployments.items():
        seen = evidence.deployments.get(name)
        if seen is None:
            yield Finding(Reason.DEPLOYMENT_NOT_COVERED, name)
            continue
        for operation in deployment.operations:
            if operation not in seen.operations:
                yield Finding(Reason.OPERATION_NOT_COVERED, f"{name}/{operation}")
                continue
            for case in _missing(seen.operations[operation], required_capabilities(expected, operation)):
                yield Finding(Reason.CAPABILITY_NOT_PASSED, f"{name}/{operation}/{case}")


def _model(evidence: Evidence, expected: Expected) -> Iterator[Finding]:
    for name, deployment in expected.deployments.items():
        if name in evidence.deployments and evidence.deployments[name].model != deployment.model:
            yield Finding(Reason.MODEL_CHANGED, name)


def _endpoint(evidence: Evidence, subject: Subject) -> Iterator[Finding]:
    expected = subject.expected
    if evidence.environment != subject.environment:
        yield Finding(Reason.ENVIRONMENT_MISMATCH, "")
    if evidence.endpoint != subject.endpoint_id:
        yield Finding(Reason.ENDPOINT_MISMATCH, "")
    if evidence.endpoint_sha256 != expected.endpoint_sha256:
        yield Finding(Reason.ENDPOINT_CHANGED, "")
    for name, deployment in expected.deployments.items():
        if name in evidence.deployments and evidence.deployments[name].revision != deployment.revision:
            yield Finding(Reason.REVISION_CHANGED, name)
    if expected.physical_runtime_id not in (None, evidence.physical_runtime_id):
        yield Finding(Reason.RUNTIME_CHANGED, "")
    if evidence.capacity_sha256 != expected.capacity_sha256:
        yield Finding(Reason.CAPACITY_CHANGED, "")


def _transport(evidence: Evidence, expected: Expected) -> Iterator[Finding]:
    if evidence.profile_sha256 != expected.profile_sha256:
        yield Finding(Reason.PROFILE_CHANGED, "")
    if expected.termination != "plaintext" and None in (evidence.certificate_sha256, evidence.public_key_sha256):
        yield Finding(Reason.CERTIFICATE_NOT_SEEN, "")
    for case in _missing(evidence.probes, required_probes(expected)):
        yield Finding(Reason.PROBE_NOT_PASSED, case)


def _sidecar(evidence: Evidence, expected: ExpectedSidecar | None) -> Iterator[Finding]:
    if expected is None:
        return
    if None in (expected.config_sha256, expected.isolation_sha256, expected.raw_target_sha256):
        yield Finding(Reason.SIDECAR_NOT_DECLARED, "")
    seen = evidence.sidecar
    if seen is None:
        yield Finding(Reason.SIDECAR_MISSING, "")
        return
    if None in (seen.profile_version, seen.config_sha256, seen.certificate_identity_sha256):
        yield Finding(Reason.SIDECAR_IDENTITY_MISSING, "")
    if seen.profile_version not in (None, expected.profile_version):
        yield Finding(Reason.SIDECAR_PROFILE_CHANGED, "")
    if _differ(seen.config_sha256, expected.config_sha256):
        yield Finding(Reason.SIDECAR_CONFIG_CHANGED, "")
    if _differ(seen.certificate_identity_sha256, evidence.certificate_sha256):
        yield Finding(Reason.SIDECAR_CERTIFICATE_MISMATCH, "")
    if seen.isolation_evidence_sha256 is None:
        yield Finding(Reason.ISOLATION_MISSING, "")
    elif _differ(seen.isolation_evidence_sha256, expected.isolation_sha256):
        yield Finding(Reason.ISOLATION_CHANGED, "")
    if seen.raw_port_reachable is None:
        yield Finding(Reason.RAW_PORT_NOT_TRIED, "")
    elif seen.raw_port_reachable:
        yield Finding(Reason.RAW_PORT_REACHABLE, "")


def _differ(one: str | None, other: str | None) -> bool:
    """Return whether both are there and not the same; what is missing is a finding of its own."""
    return one is not None and other is not None and one != other


def _vantage(evidence: Evidence, expected: ExpectedSidecar | None) -> Iterator[Finding]:
    if expected is None:
        return
    vantage = evidence.runner_vantage
    if vantage is None:
        yield Finding(Reason.VANTAGE_MISSING, "")
        return
    if vantage.proven_kind != vantage.kind:
        yield Finding(Reason.VANTAGE_NOT_EXTERNAL, "")
    if _differ(vantage.raw_probe_target_sha256, expected.raw_target_sha256):
        yield Finding(Reason.RAW_TARGET_CHANGED, "")


def is_of_this_revision(evidence: Evidence, subject: Subject) -> bool:
    """Return whether a document is about the very revision of the endpoint that the claim declares now.

    Documents of one revision supersede each other; one of another revision says nothing about this one.
    """
    expected, sidecar = subject.expected, subject.expected.sidecar
    return (
        evidence.kind == "live_endpoint"
        and (evidence.environment, evidence.endpoint) == (subject.environment, subject.endpoint_id)
        and evidence.endpoint_sha256 == expected.endpoint_sha256
        and evidence.profile_sha256 == expected.profile_sha256
        and evidence.capacity_sha256 == expected.capacity_sha256
        and all(
            evidence.deployments[name].revision == deployment.revision
            for name, deployment in expected.deployments.items()
            if name in evidence.deployments
        )
        and not (sidecar and evidence.sidecar and _differ(evidence.sidecar.config_sha256, sidecar.config_sha256))
    )


def judge(
    documents: Sequence[bytes], subject: Subject, trust_store: TrustStore | None, now: datetime.datetime
) -> Verification:
    """Verify everything that there is about one endpoint: the newest authentic document of its revision decides.

    A document that another one names in `previousSha256` is superseded, whatever the clocks say; of the rest the one
    that was tested last decides, and of two of one second the one that failed. A document that is not authentic decides
    only when no other is there: whoever can add a file must not be able to withdraw a route.

    Args:
        documents: bytes of the documents, at least one, in any order.
        subject: what they have to be about.
        trust_store: the runners' public keys; none when the environment has no trust store.
        now: the time, with a zone.
    """
    verifications = [verify(data, subject, trust_store, now) for data in documents]
    authentic = [(found.evidence, found) for found in verifications if found.evidence is not None]
    if not authentic:
        return verifications[0]
    candidates = [pair for pair in authentic if is_of_this_revision(pair[0], subject)] or authentic
    named = {evidence.previous_sha256 for evidence, _ in candidates}
    heads = [(evidence, found) for evidence, found in candidates if found.sha256 not in named]
    return max(heads, key=lambda pair: (pair[0].tested_at, pair[0].state == "failed"))[1]
