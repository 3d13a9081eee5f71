"""The gate: which private endpoints may carry traffic (C-18, S4-98, S4-111, S4-132).

Evidence decides over its own endpoint and nothing else. Where it is missing, stale, failed or forged, that route is
withheld and the reason is said; the claim is deployed all the same, with whatever else it changes.
"""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hearth.claim.claim import Claim
from hearth.claim.names import instance_endpoint
from hearth.claim.policy import EvidenceMode, Policy
from hearth.claim.problems import Notice
from hearth.evidence.document import moment
from hearth.evidence.reasons import Finding, Reason
from hearth.evidence.trust import TrustStore
from hearth.evidence.verify import Subject, Verification, judge

ENDING: Final = datetime.timedelta(days=2)
"""How long before its end evidence that holds is worth a warning."""


@dataclass(frozen=True)
class Believed:
    """The evidence that decided over an endpoint."""

    sha256: str
    """Digest that names the document."""
    tested_at: str
    """When the run ended."""


@dataclass(frozen=True)
class Gate:
    """What evidence makes of the claim's endpoints."""

    mode: EvidenceMode
    """What holds now: the policy, or a waiver that has not ended."""
    withheld: Mapping[str, str]
    """Machine-readable reason by endpoint id, for every endpoint that gets no route."""
    decided: Mapping[str, Believed]
    """The authentic document that decided, by endpoint id, whichever way it decided."""
    warnings: tuple[Notice, ...]
    """What to tell the operator; nothing of it refuses anything."""


def private_endpoints(claim: Claim) -> tuple[str, ...]:
    """Return the ids of the endpoints that need evidence, sorted: all that are not `public_tls`, and instances."""
    found = {name for name, endpoint in claim.endpoints.items() if endpoint.network_profile.mode != "public_tls"}
    if claim.llm.gpu_acceleration:
        found |= {instance_endpoint(instance.name) for instance in claim.llm.instances}
    return tuple(sorted(found))


def mode_now(policy: Policy, now: datetime.datetime) -> EvidenceMode:
    """Return what the policy asks for at a time: the mode of a waiver up to the end of its last day, in UTC."""
    waiver = policy.evidence_waiver
    if waiver is not None and now.astimezone(datetime.UTC).date() <= waiver.last_day:
        return waiver.mode
    return policy.evidence


def withheld_endpoints(
    claim: Claim,
    subjects: Mapping[str, Subject],
    *,
    evidence: Mapping[str, Sequence[bytes]],
    unreadable: frozenset[str] = frozenset(),
    trust_store: TrustStore | None,
    now: datetime.datetime,
) -> Gate:
    """Apply `hearth:policy.evidence` to every private endpoint.

    `off` looks at nothing. `warn` publishes every route and says what is wrong. `enforce` withholds the route of an
    endpoint whose evidence is missing or does not hold.

    Args:
        claim: a claim that passed its own rules.
        subjects: what evidence has to be about, for every private endpoint.
        evidence: bytes of the documents by endpoint id.
        unreadable: endpoints of which a file is there and cannot be read.
        trust_store: the runners' public keys; none when the environment has no trust store.
        now: the time, with a zone.
    """
    mode = mode_now(claim.policy, now)
    warnings = [*_waiver(claim.policy, mode)]
    if mode == "off":
        return Gate(mode, {}, {}, tuple(warnings))
    withheld: dict[str, str] = {}
    decided: dict[str, Believed] = {}
    for name in private_endpoints(claim):
        found = judged(subjects[name], evidence.get(name, ()), name in unreadable, trust_store, now)
        if isinstance(found, Verification):
            if found.evidence is not None and found.sha256 is not None:
                decided[name] = Believed(found.sha256, found.evidence.tested_at)
                warnings += _ending(name, found, now)
            findings = found.findings
        else:
            findings = (Finding(found, ""),)
        if findings and mode == "enforce":
            withheld[name] = findings[0].reason.value
        outcome = "its route is withheld" if mode == "enforce" else "its route is published all the same"
        warnings += [
            Notice(f"hearth:endpoints.{name}", f"{outcome}: {each.message} ({each.reason.value}). {each.remedy}")
            for each in findings
        ]
    return Gate(mode, withheld, decided, (*warnings, *_unused(claim, evidence)))


def judged(
    subject: Subject,
    documents: Sequence[bytes],
    unreadable: bool,
    trust_store: TrustStore | None,
    now: datetime.datetime,
) -> Verification | Reason:
    """Return what the evidence of one endpoint comes to, or why there is nothing to verify.

    Args:
        subject: what it has to be about.
        documents: bytes of the documents.
        unreadable: whether a file is there that cannot be read.
        trust_store: the runners' public keys; none when the environment has no trust store.
        now: the time, with a zone.
    """
    if documents:
        return judge(documents, subject, trust_store, now)
    return Reason.UNREADABLE if unreadable else Reason.MISSING


def _ending(name: str, found: Verification, now: datetime.datetime) -> Iterator[Notice]:
    """Yield a notice of evidence that holds and soon ends."""
    if found.findings or found.evidence is None:
        return
    if moment(found.evidence.valid_until) - now < ENDING:
        yield Notice(
            f"hearth:endpoints.{name}",
            f"its evidence ends at {found.evidence.valid_until}, and the next deployment after that withholds its "
            f"route. Measure it again in time: hearth qualify {name}",
        )


def _waiver(policy: Policy, mode: EvidenceMode) -> Iterator[Notice]:
    waiver = policy.evidence_waiver
    if waiver is None:
        return
    if mode == policy.evidence:
        yield Notice(
            "hearth:policy.evidenceWaiver",
            f"ended with {waiver.until}, so that {policy.evidence} holds again. Remove it",
        )
    else:
        effect = "carry traffic without a look at" if mode == "off" else "carry traffic whatever is said by"
        yield Notice(
            "hearth:policy.evidenceWaiver",
            f"is {mode} until {waiver.until}, so that private endpoints {effect} their evidence: {waiver.reason}",
        )


def _unused(claim: Claim, evidence: Mapping[str, Sequence[bytes]]) -> Iterator[Notice]:
    strange = len(set(evidence) - set(private_endpoints(claim)))
    if strange:
        yield Notice(
            "evidence",
            f"{strange} file(s) there belong to no private endpoint of the claim; remove what is not needed any more",
        )
