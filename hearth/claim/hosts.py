"""What the endpoints of one host have to agree on: the one place that says so, for the claim and for a host's plan."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from hearth.claim.draft import Finding
from hearth.claim.endpoints import Engine, RuntimeModel
from hearth.claim.names import tagged_model
from hearth.claim.operations import OPERATIONS, Operation, only_vectors
from hearth.claim.reader import Path as Place

_OWN_RUNTIME: Final = (
    "Give both endpoints the same runtime, runtimeCapacity and network mode, or loopback ports of their own"
)


@dataclass(frozen=True)
class Installed:
    """An endpoint on a host, as far as the endpoints beside it have to agree with it."""

    name: str
    """Endpoint id."""
    engine: Engine
    """The program of its runtime."""
    loopback_port: int
    """TCP port of its runtime; endpoints with the same one share the runtime (S4-87)."""
    runtime: tuple[object, ...]
    """Everything that endpoints which share a runtime have in common; compared and never read."""
    models: tuple[RuntimeModel, ...]
    """Models of the runtime."""
    wanted: frozenset[str]
    """Names that deployments ask for models by."""
    operations: frozenset[Operation]
    """Operations of these deployments."""
    port: int
    """TCP port of the endpoint's address."""
    plaintext: bool
    """Whether the runtime itself answers there, without a sidecar (S4-150)."""


def by_runtime(endpoints: Sequence[Installed]) -> tuple[tuple[Installed, ...], ...]:
    """Return the endpoints of one host in groups that share a runtime; both sorted by name."""
    groups: dict[int, list[Installed]] = {}
    for endpoint in sorted(endpoints, key=lambda found: found.name):
        groups.setdefault(endpoint.loopback_port, []).append(endpoint)
    return tuple(tuple(group) for group in groups.values())


def names_from_outside(engine: Engine, models: Collection[RuntimeModel], wanted: Collection[str]) -> tuple[str, ...]:
    """Return the names, sorted, that deployments ask for and no model of the Ollama library has."""
    library = {tagged_model(model.source.ollama) for model in models if model.source.ollama and engine == "ollama"}
    return tuple(sorted(name for name in wanted if tagged_model(name) not in library))


def unnamed_models(
    place: Place, engine: Engine, models: Collection[RuntimeModel], wanted: Collection[str]
) -> Iterator[Finding]:
    """A model from outside the Ollama library has the one name that deployments ask for it by."""
    if engine == "llamaCpp" and len(models) > 1:
        return  # refused by a rule of its own
    others = sum(model.source.ollama is None or engine != "ollama" for model in models)
    names = names_from_outside(engine, models, wanted)
    if not others:
        return  # a name that the library does not have is refused by a rule of its own
    if others == 1 and not names:
        yield Finding(
            place,
            "has a model that no deployment asks for, so that nothing says its name",
            "Declare a deployment of this endpoint, or remove the model",
        )
    elif others > 1 or len(names) > 1:
        yield Finding(
            place,
            f"has {others} from outside the Ollama library, and deployments ask for {len(names)} names that are "
            "not in it, so that it cannot be told which is which",
            "Give each such model an endpoint of its own, and its deployments one model name",
        )


def one_kind_of_answer(place: Place, engine: Engine, operations: Collection[Operation]) -> Iterator[Finding]:
    """One llama.cpp process embeds or answers with texts."""
    if engine == "llamaCpp" and not only_vectors(operations) and any(OPERATIONS[one].vectors for one in operations):
        yield Finding(
            place,
            "is one llama.cpp process, which answers either chats or embeddings, and its deployments declare both",
            "Give the embeddings a runtime of their own, or use ollama",
        )


def _one_runtime(group: Sequence[Installed]) -> Iterator[Finding]:
    first, *others = group
    place: Place = ("endpoints", first.name, "runtime")
    for other in others:
        if other.runtime != first.runtime:
            yield Finding(
                ("endpoints", other.name, "runtime"),
                f"differs from the runtime of {first.name}, which has the same loopback port on this host",
                _OWN_RUNTIME,
            )
    operations = frozenset[Operation]().union(*(endpoint.operations for endpoint in group))
    yield from one_kind_of_answer(place, first.engine, operations)
    wanted = frozenset[str]().union(*(endpoint.wanted for endpoint in group))
    yield from unnamed_models((*place, "models"), first.engine, first.models, wanted)


def _ports(groups: Sequence[Sequence[Installed]]) -> Iterator[Finding]:
    """Two programs of one host cannot listen on the same port."""
    taken: dict[int, str] = {}

    def claims(port: int, program: str, place: Place, remedy: str) -> Iterator[Finding]:
        if port in taken:
            yield Finding(place, f"has the port {port}, which {taken[port]} has on this host", remedy)
        taken.setdefault(port, program)

    for group in groups:
        first = group[0]
        if first.plaintext:
            place: Place = ("endpoints", first.name, "baseUrl")
            yield from claims(first.port, f"the runtime of {first.name}", place, "Use another port")
            for other in group[1:]:
                if other.port != first.port:
                    yield Finding(
                        ("endpoints", other.name, "baseUrl"),
                        f"has another port than that of {first.name}, whose runtime it shares without a sidecar",
                        f"Write the port {first.port}",
                    )
        else:
            place = ("endpoints", first.name, "runtime", "loopback")
            yield from claims(first.loopback_port, f"the runtime of {first.name}", place, "Use another port")
    for group in groups:
        for endpoint in group:
            if not endpoint.plaintext:
                place = ("endpoints", endpoint.name, "baseUrl")
                yield from claims(endpoint.port, f"the sidecar of {endpoint.name}", place, "Use another port")


def on_one_host(endpoints: Sequence[Installed]) -> Iterator[Finding]:
    """Yield what endpoints of one host do not agree on (S4-87, S4-147)."""
    groups = by_runtime(endpoints)
    for group in groups:
        yield from _one_runtime(group)
    yield from _ports(groups)
