"""The catalogue: every public name, what answers it, and what the claim says about it (S3-77 … S3-82, S0-9)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from pydantic.alias_generators import to_camel

from hearth.claim.operations import Operation, in_order
from hearth.topology.topology import Obstacle, Route, RouteKind, Topology

Status = Literal["Served", "Not offered"]
"""What the claim says of a name. `Served` is a declaration; whether it works is measured elsewhere (S3-77, S3-82)."""

NOT_ENABLED: Final = "hearth:llm.enabled is false"
"""Reason of every name of an environment without a gateway (S3-78)."""
NO_GPU: Final = "hearth:llm.gpuAcceleration is false"
"""Reason of an instance without GPUs (S3-78)."""
FOREIGN_TOKEN: Final = "its provider names the token property of another one"  # noqa: S105
"""Reason of the models of a provider that must not be offered (S3-28, S3-79)."""

OBSTACLES: Final[Mapping[Obstacle, str]] = {
    "foreign_token": FOREIGN_TOKEN,
    "no_gpu": NO_GPU,
}
"""Reason of every obstacle that a route may have."""

_HIDDEN: Final = "share/"


@dataclass(frozen=True)
class CatalogueRow:
    """One public model name. Tuples about its backends are all in the order in which they answer."""

    name: str
    """The public name."""
    kind: RouteKind
    """What declares it."""
    status: Status
    """What the claim says; never whether it works."""
    reason: str | None
    """Why it is not offered, or which deployments are left out and why."""
    operations: tuple[Operation, ...]
    """What it may be asked for, whichever of its deployments answers; in the order of OPERATIONS."""
    deployments: tuple[str, ...]
    """Deployments that may answer, withheld ones included; empty for providers."""
    endpoints: tuple[str, ...]
    """Endpoint of each of them, else the provider's name."""
    postures: tuple[str, ...]
    """Network profile of each of those (S4-134)."""
    context_tokens: int
    """Advertised context window in tokens: that of the deployment with the smallest."""
    input_micros_per_million_tokens: int
    """Price of a million prompt tokens in micro-units: that of the dearest deployment."""
    output_micros_per_million_tokens: int
    """Price of a million completion tokens in micro-units: that of the dearest deployment."""

    def document(self) -> dict[str, Any]:
        """Return the row as JSON has it: names in camelCase, as in the claim."""
        return {to_camel(name): value for name, value in asdict(self).items()}


def catalogue(topology: Topology, withheld: Mapping[str, str] | None = None) -> tuple[CatalogueRow, ...]:
    """Return the catalogue, sorted by name, without what is shared with other sites alone.

    Args:
        topology: the topology.
        withheld: reasons by endpoint id; without an endpoint's evidence its deployments do not answer (C-18).
    """
    rows = (
        _row(route, topology.enabled, withheld or {}) for route in topology.routes if not route.name.startswith(_HIDDEN)
    )
    return tuple(sorted(rows, key=lambda row: row.name))


def _row(route: Route, enabled: bool, withheld: Mapping[str, str]) -> CatalogueRow:
    left_out = [
        f"{target.source}: endpoint {target.upstream} is withheld, {withheld[target.upstream]}"
        for target in route.targets
        if target.reached_by is not None and target.reached_by.kind == "endpoint" and target.upstream in withheld
    ]
    obstacle = OBSTACLES[route.obstacle] if route.obstacle else None
    served = enabled and obstacle is None and len(left_out) < len(route.targets)
    return CatalogueRow(
        name=route.name,
        kind=route.kind,
        status="Served" if served else "Not offered",
        reason=obstacle or "; ".join(left_out) or None if enabled else NOT_ENABLED,
        operations=in_order(frozenset.intersection(*(frozenset(target.operations) for target in route.targets))),
        deployments=tuple(target.source for target in route.targets if target.deployment is not None),
        endpoints=tuple(target.upstream for target in route.targets),
        postures=tuple(target.mode for target in route.targets),
        context_tokens=min(target.context_tokens for target in route.targets),
        input_micros_per_million_tokens=max(target.input_micros_per_million_tokens for target in route.targets),
        output_micros_per_million_tokens=max(target.output_micros_per_million_tokens for target in route.targets),
    )
