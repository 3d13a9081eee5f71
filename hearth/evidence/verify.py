"""Verification of evidence, offline and in a fixed order (S4-103).

The signature comes first: until it holds, nothing in the document is looked at but the name of the key. Then follow
state, expiry, operations, model, endpoint, transport, sidecar and vantage. All findings are reported; the first one
decides the verdict.
"""

import datetime
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from hearth.canonical import MalformedError
from hearth.claim.claim import Claim
from hearth.claim.routing import Deployment
from hearth.evidence.document import MAXIMUM_VALIDITY, Evidence, moment
from hearth.evidence.reading import read_document
from hearth.evidence.reasons import Finding, Reason, Verdict
from hearth.evidence.signing import evidence_digest, signature_holds
from hearth.evidence.trust import TrustStore
from hearth.topology.expected import Expected

CLOCK_TOLERANCE: Final = datetime.timedelta(minutes=5)
"""How far the runner's clock may be ahead of this machine's."""


@dataclass(frozen=True)
class Subject:
    """What a document has to be about."""

    claim: Claim
    """The claim."""
    environment: str
    """Its stack."""
    endpoint_id: str
    """One of its endpoints."""
    expected: Expected
    """What that endpoint's digests are now."""

    @property
    def deployments(self) -> dict[str, Deployment]:
        """Return the endpoint's deployments by id, sorted."""
        return {
            name: deployment
            for name, deployment in sorted(self.claim.deployments.items())
            if deployment.endpoint == self.endpoint_id
        }


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
        subject: what it has to be about; the endpoint must be in the claim.
        trust_store: the runners' public keys; none when the environment has no trust store.
        now: the time, with a zone.
    """
    authentic = authenticate(data, trust_store)
    if authentic.evidence is None:
        return authentic
    evidence = authentic.evidence
    findings = (
        *_state(evidence),
        *_expiry(evidence, now),
        *_operations(evidence, subject),
        *_model(evidence, subject),
        *_endpoint(evidence, subject),
        *_transport(evidence, subject),
        *_sidecar(evidence, subject),
        *_vantage(evidence, subject),
    )
    return Verification(evidence, authentic.sha256, findings)


def _state(evidence: Evidence) -> Iterator[Finding]:
    if evidence.kind != "live_endpoint":
        yield Finding(Reason.KIND_NOT_LIVE, "")
    if evidence.state == "failed":
        yield Finding(Reason.STATE_FAILED, "")
    elif any(probe.outcome == "failed" for probe in evidence.probes):
        yield Finding(Reason.STATE_CONTRADICTED, "")


def _expiry(evidence: Evidence, now: datetime.datetime) -> Iterator[Finding]:
    tested_at, valid_until = moment(evidence.tested_at), moment(evidence.valid_until)
    if not tested_at < valid_until <= tested_at + MAXIMUM_VALIDITY:
        yield Finding(Reason.VALIDITY_TOO_LONG, "")
    if tested_at > now + CLOCK_TOLERANCE:
        yield Finding(Reason.NOT_YET_VALID, "")
    if now >= valid_until:
        yield Finding(Reason.EXPIRED, "")


def _operations(evidence: Evidence, subject: Subject) -> Iterator[Finding]:
    for name, deployment in subject.deployments.items():
        seen = evidence.deployments.get(name)
        if seen is None:
            yield Finding(Reason.DEPLOYMENT_NOT_COVERED, name)
            continue
        for operation in deployment.operations:
            outcome = seen.operations.get(operation, "skipped")
            if outcome == "skipped":
                yield Finding(Reason.OPERATION_NOT_COVERED, f"{name}/{operation}")
            elif outcome == "failed":
                yield Finding(Reason.OPERATION_FAILED, f"{name}/{operation}")


def _model(evidence: Evidence, subject: Subject) -> Iterator[Finding]:
    for name, deployment in subject.deployments.items():
        if name in evidence.deployments and evidence.deployments[name].model != deployment.model:
            yield Finding(Reason.MODEL_CHANGED, name)


def _endpoint(evidence: Evidence, subject: Subject) -> Iterator[Finding]:
    expected, capacity = subject.expected, subject.claim.endpoints[subject.endpoint_id].runtime_capacity
    if evidence.environment != subject.environment:
        yield Finding(Reason.ENVIRONMENT_MISMATCH, "")
    if evidence.endpoint != subject.endpoint_id:
        yield Finding(Reason.ENDPOINT_MISMATCH, "")
    if evidence.endpoint_sha256 != expected.endpoint_sha256:
        yield Finding(Reason.ENDPOINT_CHANGED, "")
    for name in subject.deployments:
        if name in evidence.deployments and evidence.deployments[name].revision != expected.revisions[name]:
            yield Finding(Reason.REVISION_CHANGED, name)
    if capacity is not None and evidence.physical_runtime_id != capacity.physical_runtime_id:
        yield Finding(Reason.RUNTIME_CHANGED, "")
    if evidence.capacity_sha256 != expected.capacity_sha256:
        yield Finding(Reason.CAPACITY_CHANGED, "")


def _transport(evidence: Evidence, subject: Subject) -> Iterator[Finding]:
    if evidence.profile_sha256 != subject.expected.profile_sha256:
        yield Finding(Reason.PROFILE_CHANGED, "")
    plaintext = subject.claim.endpoints[subject.endpoint_id].network_profile.mode == "private_plaintext"
    if not plaintext and evidence.certificate_sha256 is None:
        yield Finding(Reason.CERTIFICATE_NOT_SEEN, "")


def _has_sidecar(subject: Subject) -> bool:
    return subject.claim.endpoints[subject.endpoint_id].network_profile.termination != "native"


def _sidecar(evidence: Evidence, subject: Subject) -> Iterator[Finding]:
    if not _has_sidecar(subject):
        return
    endpoint = subject.claim.endpoints[subject.endpoint_id]
    seen, declared = evidence.sidecar, endpoint.sidecar
    if seen is None:
        yield Finding(Reason.SIDECAR_MISSING, "")
        return
    if None in (seen.profile_version, seen.config_sha256, seen.certificate_identity_sha256):
        yield Finding(Reason.SIDECAR_IDENTITY_MISSING, "")
    if declared is not None and seen.profile_version not in (None, declared.profile_version):
        yield Finding(Reason.SIDECAR_PROFILE_CHANGED, "")
    compiled = subject.expected.sidecar_config_sha256
    if (compiled or endpoint.runtime) and seen.config_sha256 not in (None, compiled):
        yield Finding(Reason.SIDECAR_CONFIG_CHANGED, "")
    if None not in (seen.certificate_identity_sha256, evidence.certificate_sha256) and (
        seen.certificate_identity_sha256 != evidence.certificate_sha256
    ):
        yield Finding(Reason.SIDECAR_CERTIFICATE_MISMATCH, "")
    if seen.isolation_evidence_sha256 is None:
        yield Finding(Reason.ISOLATION_MISSING, "")
    if seen.raw_port_reachable is None:
        yield Finding(Reason.RAW_PORT_NOT_TRIED, "")
    elif seen.raw_port_reachable:
        yield Finding(Reason.RAW_PORT_REACHABLE, "")


def _vantage(evidence: Evidence, subject: Subject) -> Iterator[Finding]:
    if not _has_sidecar(subject):
        return
    vantage = evidence.runner_vantage
    if vantage is None:
        yield Finding(Reason.VANTAGE_MISSING, "")
    elif vantage.source_network_namespace_id == vantage.target_network_namespace_id:
        yield Finding(Reason.VANTAGE_NOT_EXTERNAL, "")
