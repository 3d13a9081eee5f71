"""Everything that is compiled from one topology."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hearth.claim.policy import EvidenceMode
from hearth.compile.catalogue import CatalogueRow, catalogue
from hearth.compile.digests import expected_evidence
from hearth.compile.files import ConfigFiles
from hearth.compile.front import compile_front
from hearth.compile.guard import compile_guard
from hearth.compile.intake import compile_intake, intake_json
from hearth.compile.litellm import compile_litellm, connection_pool_limit, litellm_yaml
from hearth.compile.sidecar import POD_LAYOUT, SidecarConfig, compile_sidecar, host_layout
from hearth.compile.snapshot import snapshot, snapshot_digest
from hearth.topology.topology import Topology


@dataclass(frozen=True)
class Artefacts:
    """What one topology compiles to. Equal topologies give equal artefacts, byte for byte."""

    litellm: Mapping[str, Any]
    """Content of LiteLLM's config.yaml (S3-6); empty without a gateway."""
    litellm_yaml: str
    """The same as the text that the ConfigMap holds (S3-11); empty without a gateway."""
    intake_json: str
    """What the intake is told, as the text that the ConfigMap holds; empty without a gateway."""
    guard: ConfigFiles
    """Files of the guard; none without a gateway."""
    front: ConfigFiles
    """Files of the front; none without a gateway."""
    sidecars: Mapping[str, SidecarConfig]
    """Compiled sidecar by endpoint id, for Pods and hosts alike, whether or not there is a gateway."""
    catalogue: tuple[CatalogueRow, ...]
    """Every public name and what the claim says about it (S3-77 … S3-82)."""
    snapshot: Mapping[str, Any]
    """The immutable snapshot (S4-131)."""
    snapshot_sha256: str
    """Digest of the snapshot's canonical form."""
    bundles: Mapping[str, str]
    """PEM text of the trust bundles by bundle id."""
    connection_pool: int
    """Database connections of one Pod of the gateway."""
    withheld: Mapping[str, str]
    """Endpoints whose route is withheld, with the reason (C-18)."""


def compile_sidecars(topology: Topology) -> dict[str, SidecarConfig]:
    """Return the compiled sidecar of every endpoint whose runtime Hearth runs behind one, by endpoint id.

    A sidecar that somebody else runs is configured by them.
    """
    return {
        upstream.id.name: compile_sidecar(
            upstream,
            POD_LAYOUT if upstream.in_a_pod else host_layout(upstream),
            gateway_replicas=topology.gateway.replicas,
        )
        for upstream in topology.endpoints
        if upstream.sidecar is not None and upstream.runtime is not None
    }


def compile_topology(
    topology: Topology,
    *,
    bundles: Mapping[str, str],
    withheld: Mapping[str, str] | None = None,
    evidence: Mapping[str, str] | None = None,
    evidence_mode: EvidenceMode = "enforce",
    approved_key_ids: tuple[str, ...] = (),
) -> Artefacts:
    """Compile a topology. Without `hearth:llm.enabled` there is no gateway, and nothing of one (S3-2).

    Args:
        topology: the topology of a claim that passed the rules.
        bundles: PEM text of its trust bundles by bundle id, as the loader read them.
        withheld: reasons by endpoint id for endpoints whose evidence does not permit a route (C-18).
        evidence: digest of the evidence that decided, by endpoint id.
        evidence_mode: what holds now, the policy or a waiver.
        approved_key_ids: ids of the runner keys that are believed (S4-102).

    Raises:
        ReferenceInClaimError: a text of the claim would be read by LiteLLM as the name of a variable.
    """
    left_out = withheld or {}
    enabled = topology.enabled
    litellm = compile_litellm(topology, withheld=left_out) if enabled else {}
    text = litellm_yaml(litellm) if enabled else ""
    intake = intake_json(compile_intake(topology, withheld=left_out)) if enabled else ""
    guard = compile_guard(topology) if enabled else ConfigFiles({})
    front = compile_front(topology) if enabled else ConfigFiles({})
    configurations = {
        "litellm": hashlib.sha256(text.encode()).hexdigest(),
        "intake": hashlib.sha256(intake.encode()).hexdigest(),
        "guard": guard.digest,
        "front": front.digest,
    }
    sidecars = compile_sidecars(topology)
    document = snapshot(
        topology,
        expected=expected_evidence(topology),
        configurations=configurations if enabled else {},
        approved_key_ids=approved_key_ids,
        withheld=left_out,
        evidence=evidence or {},
        evidence_mode=evidence_mode,
    )
    return Artefacts(
        litellm=litellm,
        litellm_yaml=text,
        intake_json=intake,
        guard=guard,
        front=front,
        sidecars=sidecars,
        catalogue=catalogue(topology, left_out),
        snapshot=document,
        snapshot_sha256=snapshot_digest(document),
        bundles=dict(bundles),
        connection_pool=connection_pool_limit(topology.gateway.replicas),
        withheld=dict(left_out),
    )
