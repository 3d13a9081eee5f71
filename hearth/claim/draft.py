"""What the cross-reference rules look at: the parts of a claim whose shapes are right, and which are not."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from hearth.claim.claim import Claim
from hearth.claim.endpoints import Endpoint
from hearth.claim.reader import Path as Place
from hearth.claim.resolver import Resolver
from hearth.claim.routing import Deployment

Group = Literal["network_zones", "trust_bundles", "endpoints", "deployments", "aliases", "tenants"]
"""A key of the claim that maps names to shapes."""


@dataclass(frozen=True)
class Finding:
    """What a rule found."""

    path: Place
    """Where: keys and indexes from the root of the claim, as the claim spells them."""
    message: str
    """What is wrong, as the end of a sentence that begins with the path."""
    remedy: str
    """What to do, as a sentence."""


@dataclass(frozen=True)
class Draft:
    """The valid parts of a claim."""

    claim: Claim
    """A claim of the valid parts alone; what is missing has its default."""
    invalid: frozenset[Place]
    """The parts that were left out: `("endpoints", "x")`, `("policy", "vendor")`, `("llm", "providers", 1)`."""
    positions: Mapping[str, tuple[int, ...]]
    """For `providers` and `instances`: where the valid entries stand in the list that was written."""
    base: Path
    """The project's folder."""
    resolver: Resolver | None
    """Looks up host names, or `None`."""
    deployed: Claim | None
    """The claim that was deployed last, or `None`."""

    def valid(self, *path: str | int) -> bool:
        """Return whether a part was not left out, so that its absence or default means something."""
        return not any(path[:length] in self.invalid for length in range(1, len(path) + 1))

    def declared(self, key: str) -> frozenset[str]:
        """Return every name below a key as the claim spells it, valid or not."""
        groups: dict[str, Iterable[str]] = {
            "networkZones": self.claim.network_zones,
            "trustBundles": self.claim.trust_bundles,
            "endpoints": self.claim.endpoints,
            "deployments": self.claim.deployments,
            "aliases": self.claim.aliases,
            "tenants": self.claim.tenants,
        }
        left_out = (str(path[1]) for path in self.invalid if path[0] == key and len(path) > 1)
        return frozenset([*groups[key], *left_out])

    def whole(self, key: str) -> bool:
        """Return whether a key as a whole could be read, so that a name that is not below it is not declared."""
        return (key,) not in self.invalid

    def endpoint_of(self, deployment: Deployment) -> Endpoint | None:
        """Return the endpoint of a deployment, if it is declared and valid."""
        return self.claim.endpoints.get(deployment.endpoint)


def unit(path: Place) -> Place:
    """Return the part of a claim that is left out because of a mistake at a path."""
    if path[:1] == ("llm",) and path[1:2] in (("providers",), ("instances",)):
        return path[:3]
    return path[:2]


def without(values: Mapping[str, Any], parts: Iterable[Place]) -> dict[str, Any]:
    """Return the values of a claim without some of its parts; lists close up."""
    drop = frozenset(parts)

    def copy(value: Any, path: Place, depth: int) -> Any:
        if depth == 0:
            return value
        if isinstance(value, Mapping):
            return {key: copy(item, (*path, key), depth - 1) for key, item in value.items() if (*path, key) not in drop}
        if isinstance(value, list):
            return [
                copy(item, (*path, index), depth - 1) for index, item in enumerate(value) if (*path, index) not in drop
            ]
        return value

    found: dict[str, Any] = copy(values, (), 3)
    return found
