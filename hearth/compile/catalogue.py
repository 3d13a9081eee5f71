"""The catalogue: every public name, what answers it, and what the claim says about it (S3-77 … S3-82, S0-9)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from hearth.claim.claim import Claim


@dataclass(frozen=True)
class CatalogueRow:
    """One public model name."""

    name: str
    """The public name."""
    kind: Literal["alias", "provider", "instance"]
    """What declares it."""
    status: Literal["Served", "Not offered"]
    """What the claim says; never whether it works (S3-82)."""
    reason: str | None
    """Why it is not offered, or why one of its deployments is left out."""
    operations: tuple[str, ...]
    """What it may be asked for."""
    deployments: tuple[str, ...]
    """Deployments that answer, in order; empty for providers and instances."""
    endpoints: tuple[str, ...]
    """Endpoints, provider or instance behind it, in order."""
    posture: tuple[str, ...]
    """Network profile of each of them, in the same order (S4-134)."""
    context_tokens: int
    """Advertised context window in tokens: the smallest of its deployments."""
    input_micros_per_million_tokens: int
    """Price of a million prompt tokens in micro-units: the highest of its deployments."""
    output_micros_per_million_tokens: int
    """Price of a million completion tokens in micro-units: the highest of its deployments."""


def catalogue(claim: Claim, withheld: Mapping[str, str] | None = None) -> tuple[CatalogueRow, ...]:
    """Return the catalogue, sorted by name."""
    raise NotImplementedError
