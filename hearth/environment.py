"""From a loaded claim to its artefacts, evidence included: the one way of deployment, rendering and checking."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from hearth.claim.loader import LoadedClaim
from hearth.claim.problems import Notice
from hearth.compile.artefacts import Artefacts, compile_topology
from hearth.compile.digests import expected_evidence
from hearth.evidence.gate import Gate, judged, withheld_endpoints
from hearth.evidence.reasons import Reason
from hearth.evidence.store import StoredEvidence, read_evidence, read_trust_store
from hearth.evidence.trust import TrustStore
from hearth.evidence.verify import Subject, Verification
from hearth.topology.resolve import resolve
from hearth.topology.topology import Topology


@dataclass(frozen=True)
class JudgedEnvironment:
    """What a claim means, and what evidence says about it."""

    loaded: LoadedClaim
    """The claim, and the folder in which the trust store and the evidence lie."""
    now: datetime.datetime
    """When it is judged; evidence expires."""
    believed: Mapping[str, str]
    """`testedAt` by endpoint id and revision, of the evidence that decided when this environment was deployed last."""

    @cached_property
    def topology(self) -> Topology:
        """Return what the claim means."""
        return resolve(self.loaded.claim)

    @cached_property
    def trust_store(self) -> TrustStore | None:
        """Return the runners' public keys; none when there is no trust store.

        Raises:
            ClaimError: it cannot be read.
        """
        return read_trust_store(self.loaded.base, self.loaded.environment)

    @cached_property
    def evidence(self) -> StoredEvidence:
        """Return every document that there is."""
        return read_evidence(self.loaded.base, self.loaded.environment)

    @cached_property
    def subjects(self) -> dict[str, Subject]:
        """Return what evidence has to be about, by endpoint id."""
        return {
            name: Subject(
                self.loaded.environment, name, expected, self.believed.get(revision_key(name, expected.revision))
            )
            for name, expected in expected_evidence(self.topology).items()
        }

    @cached_property
    def gate(self) -> Gate:
        """Return what evidence makes of the endpoints.

        Raises:
            ClaimError: the trust store cannot be read.
        """
        return withheld_endpoints(
            self.loaded.claim,
            self.subjects,
            evidence=self.evidence.documents,
            unreadable=self.evidence.unreadable,
            trust_store=self.trust_store,
            now=self.now,
        )

    def of_endpoint(self, name: str) -> Verification | Reason:
        """Return what the evidence of one endpoint comes to, whatever the policy asks for.

        Raises:
            ClaimError: the trust store cannot be read.
        """
        documents, unreadable = self.evidence.documents.get(name, ()), name in self.evidence.unreadable
        return judged(self.subjects[name], documents, unreadable, self.trust_store, self.now)

    @property
    def remembered(self) -> dict[str, str]:
        """Return what the next deployment has to remember, as `believed` gives it."""
        decided = self.gate.decided
        return {
            revision_key(name, self.subjects[name].expected.revision): found.tested_at
            for name, found in decided.items()
        }


def revision_key(endpoint_id: str, revision: str) -> str:
    """Return the name under which the evidence of one revision of an endpoint is remembered."""
    return f"{endpoint_id}/{revision}"


@dataclass(frozen=True)
class CompiledEnvironment:
    """What an environment compiles to now."""

    topology: Topology
    """What the claim means."""
    artefacts: Artefacts
    """Everything that is deployed or rendered."""
    warnings: tuple[Notice, ...]
    """What the operator should know although nothing is refused: the claim's notices, then those of the evidence."""
    remembered: Mapping[str, str]
    """What the next deployment has to know of the evidence that decided now."""


def judge_environment(
    loaded: LoadedClaim, *, now: datetime.datetime, believed: Mapping[str, str] | None = None
) -> JudgedEnvironment:
    """Look at the evidence of a loaded claim.

    Args:
        loaded: the claim, and the folder in which the trust store and the evidence lie.
        now: the time, with a zone.
        believed: what the deployment before remembered.
    """
    return JudgedEnvironment(loaded, now, believed or {})


def compile_environment(
    loaded: LoadedClaim, *, now: datetime.datetime, believed: Mapping[str, str] | None = None
) -> CompiledEnvironment:
    """Compile a loaded claim and withhold the routes whose evidence does not permit them (C-18).

    Args:
        loaded: the claim, and the folder in which the trust store and the evidence lie.
        now: the time, with a zone; evidence expires.
        believed: what the deployment before remembered of its evidence, so that older evidence does not come back.

    Raises:
        ClaimError: the trust store cannot be read. Evidence never refuses anything but its own route.
    """
    environment = judge_environment(loaded, now=now, believed=believed)
    gate, trust_store = environment.gate, environment.trust_store
    artefacts = compile_topology(
        environment.topology,
        bundles=loaded.bundles,
        withheld=gate.withheld,
        evidence={name: found.sha256 for name, found in gate.decided.items()},
        evidence_mode=gate.mode,
        approved_key_ids=trust_store.approved_key_ids if trust_store else (),
    )
    warnings = (*loaded.warnings, *gate.warnings)
    return CompiledEnvironment(environment.topology, artefacts, warnings, environment.remembered)
