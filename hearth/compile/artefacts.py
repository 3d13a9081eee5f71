"""Everything that is compiled from one claim."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hearth.claim.claim import Claim
from hearth.compile.catalogue import CatalogueRow

if TYPE_CHECKING:
    from hearth.compile.files import ConfigFiles
    from hearth.compile.sidecar import SidecarConfig

Manifest = dict[str, Any]
"""A Kubernetes object as its API spells it."""


@dataclass(frozen=True)
class Artefacts:
    """What one claim compiles to. Two equal claims give equal artefacts, byte for byte."""

    litellm: Mapping[str, Any]
    """Content of LiteLLM's config.yaml (S3-6); empty without a gateway."""
    litellm_yaml: str
    """The same as the text that the ConfigMap holds (S3-11); empty without a gateway."""
    guard: "ConfigFiles"
    """Files of the guard; none without a gateway."""
    front: "ConfigFiles"
    """Files of the front; none without a gateway."""
    sidecars: Mapping[str, "SidecarConfig"]
    """Sidecar of every endpoint whose runtime Hearth places in a Pod, by endpoint id."""
    policies: tuple[Manifest, ...]
    """NetworkPolicies of `system-llm`; none without a gateway."""
    catalogue: tuple[CatalogueRow, ...]
    """Every public name and what the claim says about it (S3-77 … S3-82)."""
    snapshot: Mapping[str, Any]
    """The immutable snapshot (S4-131)."""
    bundles: Mapping[str, str]
    """PEM text of the trust bundles by bundle id."""
    withheld: Mapping[str, str] = field(default_factory=dict)
    """Endpoints whose route is withheld, with the reason (C-18)."""


def compile_claim(
    claim: Claim,
    *,
    bundles: Mapping[str, str] | None = None,
    withheld: Mapping[str, str] | None = None,
) -> Artefacts:
    """Compile a claim.

    Args:
        claim: a claim that passed the rules.
        bundles: PEM text of its trust bundles by bundle id, as the loader read them.
        withheld: reasons by endpoint id for endpoints whose evidence does not hold (C-18).
    """
    raise NotImplementedError
