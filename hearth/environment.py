"""From a loaded claim to its artefacts, evidence included: the one way that deployment and rendering share."""

import datetime
from dataclasses import dataclass

from hearth.claim.loader import LoadedClaim
from hearth.claim.problems import ClaimError, Notice
from hearth.compile.artefacts import Artefacts, compile_topology, expected
from hearth.evidence.gate import withheld_endpoints
from hearth.evidence.store import read_evidence, read_trust_store
from hearth.topology.resolve import resolve
from hearth.topology.topology import Topology


@dataclass(frozen=True)
class CompiledEnvironment:
    """What an environment compiles to now."""

    topology: Topology
    """What the claim means."""
    artefacts: Artefacts
    """Everything that is deployed or rendered."""
    warnings: tuple[Notice, ...]
    """What the operator should know although nothing is refused: the claim's notices, then those of the evidence."""


def compile_environment(loaded: LoadedClaim, *, now: datetime.datetime) -> CompiledEnvironment:
    """Compile a loaded claim and withhold the routes whose evidence does not permit them (C-18).

    Args:
        loaded: the claim, and the folder in which its trust store and its evidence lie.
        now: the time, with a zone; evidence expires.

    Raises:
        ClaimError: the trust store or evidence cannot be read, or there is evidence that does not hold.
    """
    claim, topology = loaded.claim, resolve(loaded.claim)
    trust_store = read_trust_store(loaded.base, claim.policy.trust_store) if claim.policy.trust_store else None
    gate = withheld_endpoints(
        claim,
        loaded.environment,
        expected=expected(topology),
        evidence=read_evidence(loaded.base, loaded.environment),
        trust_store=trust_store,
        now=now,
    )
    if gate.problems:
        raise ClaimError(gate.problems)
    artefacts = compile_topology(
        topology,
        bundles=loaded.bundles,
        withheld=gate.withheld,
        approved_key_ids=trust_store.approved_key_ids if trust_store else (),
    )
    return CompiledEnvironment(topology, artefacts, (*loaded.warnings, *gate.warnings))
