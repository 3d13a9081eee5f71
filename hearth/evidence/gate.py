"""The gate: which private endpoints may carry traffic (C-18, S4-98, S4-111, S4-132).

An endpoint without evidence is new: it comes up, its route stays withheld, and everything else is deployed. Evidence
that is there and does not hold is another matter: publishing would be wrong, and taking a route away as a side effect
of some other change would be wrong too, so the claim is refused and nothing changes.
"""

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hearth.claim.claim import Claim
from hearth.claim.problems import Notice, Problem
from hearth.evidence.reasons import EXPLANATIONS, Reason
from hearth.evidence.trust import TrustStore
from hearth.evidence.verify import Subject, Verification, verify
from hearth.topology.expected import Expected


@dataclass(frozen=True)
class Gate:
    """What evidence makes of the claim's endpoints."""

    withheld: Mapping[str, str]
    """Machine-readable reason by endpoint id, for every endpoint that gets no route."""
    warnings: tuple[Notice, ...]
    """What to tell the operator although nothing is refused."""
    problems: tuple[Problem, ...]
    """Why the claim is refused; empty when it is not."""


def private_endpoints(claim: Claim) -> tuple[str, ...]:
    """Return the ids of the endpoints that need evidence, sorted: all that are not `public_tls`."""
    return tuple(
        sorted(name for name, endpoint in claim.endpoints.items() if endpoint.network_profile.mode != "public_tls")
    )


def withheld_endpoints(
    claim: Claim,
    environment: str,
    *,
    expected: Mapping[str, Expected],
    evidence: Mapping[str, bytes],
    trust_store: TrustStore | None,
    now: datetime.datetime,
) -> Gate:
    """Apply `hearth:policy.evidence` to every private endpoint.

    `off` looks at nothing. `warn` publishes every route and says what is wrong. `enforce` withholds the route of an
    endpoint without evidence, and refuses the claim when there is evidence that does not hold.

    Args:
        claim: a claim that passed its own rules.
        environment: name of its stack.
        expected: digests of what the claim declares now, for every private endpoint.
        evidence: bytes of the evidence files by endpoint id.
        trust_store: the runners' public keys; none when the environment has no trust store.
        now: the time, with a zone.
    """
    if claim.policy.evidence == "off":
        return Gate({}, (), ())
    enforced = claim.policy.evidence == "enforce"
    private = private_endpoints(claim)
    withheld: dict[str, str] = {}
    warnings = [*_unused(claim, evidence)]
    problems: list[Problem] = []
    for name in private:
        if name not in evidence:
            warnings.append(_missing(name, enforced))
            if enforced:
                withheld[name] = Reason.MISSING.value
            continue
        verification = verify(evidence[name], Subject(claim, environment, name, expected[name]), trust_store, now)
        found = _problems(name, verification)
        problems += found if enforced else ()
        warnings += () if enforced else (Notice(problem.path, problem.message) for problem in found)
    return Gate(withheld, tuple(warnings), tuple(problems))


def _missing(name: str, enforced: bool) -> Notice:
    outcome = (
        "its route is withheld until a runner has measured it" if enforced else "its route is published all the same"
    )
    text = EXPLANATIONS[Reason.MISSING].message
    return Notice(f"hearth:endpoints.{name}", f"{text}; {outcome}")


def _problems(name: str, verification: Verification) -> tuple[Problem, ...]:
    return tuple(
        Problem(
            f"hearth:endpoints.{name}",
            f"its evidence does not hold: {finding.message} ({finding.reason.value})",
            f"{finding.remedy}; or remove the file, and the route is withheld",
        )
        for finding in verification.findings
    )


def _unused(claim: Claim, evidence: Mapping[str, bytes]) -> Iterator[Notice]:
    strange = len(set(evidence) - set(private_endpoints(claim)))
    if strange:
        yield Notice(
            "evidence",
            f"{strange} file(s) there belong to no private endpoint of the claim; remove what is not needed any more",
        )
