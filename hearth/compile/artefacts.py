"""Everything that is compiled from one claim."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hearth.claim.claim import Claim
from hearth.compile.catalogue import CatalogueRow, catalogue
from hearth.compile.digests import expected_evidence
from hearth.compile.files import ConfigFiles
from hearth.compile.front import compile_front
from hearth.compile.guard import compile_guard
from hearth.compile.litellm import compile_litellm, litellm_yaml
from hearth.compile.policies import system_policies
from hearth.compile.sidecar import POD_LAYOUT, SidecarConfig, compile_sidecar, host_layout
from hearth.compile.snapshot import snapshot, snapshot_digest
from hearth.evidence.verify import Expected

Manifest = dict[str, Any]
"""A Kubernetes object as its API spells it."""


@dataclass(frozen=True)
class Artefacts:
    """What one claim compiles to. Two equal claims give equal artefacts, byte for byte."""

    litellm: Mapping[str, Any]
    """Content of LiteLLM's config.yaml (S3-6); empty without a gateway."""
    litellm_yaml: str
    """The same as the text that the ConfigMap holds (S3-11); empty without a gateway."""
    guard: ConfigFiles
    """Files of the guard; none without a gateway."""
    front: ConfigFiles
    """Files of the front; none without a gateway."""
    sidecars: Mapping[str, SidecarConfig]
    """Compiled sidecar by endpoint id, for Pods and hosts alike, whether or not there is a gateway."""
    policies: tuple[Manifest, ...]
    """NetworkPolicies of `system-llm`; none without a gateway."""
    catalogue: tuple[CatalogueRow, ...]
    """Every public name and what the claim says about it (S3-77 … S3-82)."""
    snapshot: Mapping[str, Any]
    """The immutable snapshot (S4-131)."""
    snapshot_sha256: str
    """Digest of the snapshot's canonical form."""
    bundles: Mapping[str, str]
    """PEM text of the trust bundles by bundle id."""
    withheld: Mapping[str, str]
    """Endpoints whose route is withheld, with the reason (C-18)."""


def compile_sidecars(claim: Claim) -> dict[str, SidecarConfig]:
    """Return the compiled sidecar of every endpoint whose runtime Hearth runs behind one, by endpoint id.

    A sidecar that somebody else runs is configured by them.
    """
    return {
        name: compile_sidecar(
            claim, name, POD_LAYOUT if endpoint.runtime.placement == "pod" else host_layout(claim, name)
        )
        for name, endpoint in sorted(claim.endpoints.items())
        if endpoint.sidecar is not None and endpoint.runtime is not None
    }


def expected(claim: Claim) -> dict[str, Expected]:
    """Return what the evidence of every endpoint has to name now, by endpoint id (S4-99, S4-100)."""
    return expected_evidence(claim, {name: sidecar.config_sha256 for name, sidecar in compile_sidecars(claim).items()})


def compile_claim(
    claim: Claim,
    *,
    bundles: Mapping[str, str],
    withheld: Mapping[str, str] | None = None,
    approved_key_ids: tuple[str, ...] = (),
) -> Artefacts:
    """Compile a claim. Without `hearth:llm.enabled` there is no gateway, and nothing of one (S3-2).

    Args:
        claim: a claim that passed the rules.
        bundles: PEM text of its trust bundles by bundle id, as the loader read them.
        withheld: reasons by endpoint id for endpoints whose evidence does not permit a route (C-18).
        approved_key_ids: ids of the runner keys that are believed (S4-102).

    Raises:
        ReferenceInClaimError: a text of the claim would be read by LiteLLM as the name of a variable.
    """
    left_out = withheld or {}
    enabled = claim.llm.enabled
    litellm = compile_litellm(claim, withheld=left_out) if enabled else {}
    text = litellm_yaml(litellm) if enabled else ""
    guard = compile_guard(claim) if enabled else ConfigFiles({})
    front = compile_front(claim) if enabled else ConfigFiles({})
    configurations = {
        "litellm": hashlib.sha256(text.encode()).hexdigest(),
        "guard": guard.digest,
        "front": front.digest,
    }
    sidecars = compile_sidecars(claim)
    document = snapshot(
        claim,
        expected=expected_evidence(claim, {name: sidecar.config_sha256 for name, sidecar in sidecars.items()}),
        configurations=configurations if enabled else {},
        approved_key_ids=approved_key_ids,
        withheld=left_out,
    )
    return Artefacts(
        litellm=litellm,
        litellm_yaml=text,
        guard=guard,
        front=front,
        sidecars=sidecars,
        policies=tuple(system_policies(claim)) if enabled else (),
        catalogue=catalogue(claim, left_out),
        snapshot=document,
        snapshot_sha256=snapshot_digest(document),
        bundles=dict(bundles),
        withheld=dict(left_out),
    )
