"""Deployments, their prices, and the aliases in front of them (S4-122 … S4-130)."""

from collections.abc import Iterator
from typing import Final

from hearth.claim.draft import Draft, Finding
from hearth.claim.endpoints import Endpoint
from hearth.claim.names import GATEWAY_REFERENCE, tagged_model
from hearth.claim.operations import OPERATIONS, only_vectors
from hearth.claim.problems import listed
from hearth.claim.reader import Path as Place
from hearth.claim.routing import Alias, Deployment
from hearth.intake.names import API_FIELDS, NEVER

_MILLION: Final = 1_000_000


def known_endpoint(draft: Draft) -> Iterator[Finding]:
    """S4-14: a deployment names a declared endpoint."""
    for name, deployment in draft.claim.deployments.items():
        if deployment.endpoint not in draft.declared("endpoints") and draft.whole("endpoints"):
            yield Finding(
                ("deployments", name, "endpoint"),
                "names no endpoint",
                f"Declared: {listed(draft.declared('endpoints'))}",
            )


def operations(draft: Draft) -> Iterator[Finding]:
    """S4-68, S4-97: operations are stated once, and the endpoint has them."""
    for name, endpoint in draft.claim.endpoints.items():
        below: Place = ("endpoints", name, "operations")
        if (endpoint.protocol is None) == (endpoint.operations is None):
            found = "is missing, and so is protocol" if endpoint.protocol is None else "is there beside protocol"
            yield Finding(below, found, "Name either protocol or operations")
        for index, operation in enumerate(endpoint.operations or ()):
            if operation in (endpoint.operations or ())[:index]:
                yield Finding((*below, index), f"names {operation} twice", "Remove one")
    for name, deployment in draft.claim.deployments.items():
        asked = draft.endpoint_of(deployment)
        permitted = asked.permitted_operations if asked else frozenset()
        for index, operation in enumerate(deployment.operations):
            place: Place = ("deployments", name, "operations", index)
            if operation in deployment.operations[:index]:
                yield Finding(place, f"names {operation} twice", "Remove one")
            elif permitted and operation not in permitted:
                yield Finding(
                    place,
                    f"is {operation}, which the endpoint {deployment.endpoint} does not have",
                    f"Permitted: {listed(permitted)}; add it to the endpoint's operations, in place of its protocol",
                )


def pricing(draft: Draft) -> Iterator[Finding]:
    """S4-122, U-14: the price and its basis agree, and a vendor's basis is a vendor's."""
    for name, deployment in draft.claim.deployments.items():
        price = deployment.pricing
        place: Place = ("deployments", name, "pricing", "basis")
        free = price.input_micros_per_million_tokens == 0 and price.output_micros_per_million_tokens == 0
        if price.basis == "zero_marginal" and not free:
            yield Finding(place, "is zero_marginal, and a price is not zero", "Set both to zero, or amortized_internal")
        if price.basis == "amortized_internal" and free:
            yield Finding(place, "is amortized_internal, and both prices are zero", "State a price, or zero_marginal")
        if price.basis == "provider" and free:
            yield Finding(place, "is provider, and both prices are zero", "State the vendor's price, or zero_marginal")
        endpoint = draft.endpoint_of(deployment)
        if endpoint is None:
            continue
        if endpoint.is_vendor and price.basis == "amortized_internal":
            yield Finding(
                place, "must not be amortized_internal for a vendor's endpoint", "Write provider and the vendor's price"
            )
        if not endpoint.is_vendor and price.basis == "provider":
            yield Finding(
                place, "must not be provider for a local endpoint", "Write amortized_internal or zero_marginal"
            )


def request_fields(draft: Draft) -> Iterator[Finding]:
    """`extraFields` names fields of the model server alone, and the default bound is inside the context."""
    for name, deployment in draft.claim.deployments.items():
        for index, field in enumerate(deployment.extra_fields):
            place: Place = ("deployments", name, "extraFields", index)
            if field in deployment.extra_fields[:index]:
                yield Finding(place, f"is {field}, which is there twice", "Remove one")
            elif field in API_FIELDS:
                yield Finding(place, f"is {field}, which the OpenAI API has", "Remove it; it is known without that")
            elif field in NEVER:
                yield Finding(
                    place,
                    f"is {field}, which bounds the answer a second time, reaches beyond its request, or is an order",
                    "Remove it; no claim can allow it",
                )
        default = deployment.default_max_tokens
        if default is not None and default > deployment.context_tokens:
            yield Finding(
                ("deployments", name, "defaultMaxTokens"),
                f"is above contextTokens, which is {deployment.context_tokens}",
                "Lower it",
            )


def embedding_space(draft: Draft) -> Iterator[Finding]:
    """S4-127: a deployment that embeds says into which space, and no other does."""
    for name, deployment in draft.claim.deployments.items():
        embeds = any(OPERATIONS[operation].vectors for operation in deployment.operations)
        place: Place = ("deployments", name, "embeddingSpace")
        if embeds and deployment.embedding_space is None:
            yield Finding(place, "is missing, and the deployment embeds", "Name the revision of the embedding space")
        if not embeds and deployment.embedding_space is not None:
            yield Finding(place, "has no meaning without the operation embedding", "Remove it")


def gateway_references(draft: Draft) -> Iterator[Finding]:
    """No text is one that the gateway would replace by the content of a variable."""
    for name, deployment in draft.claim.deployments.items():
        texts: tuple[tuple[Place, str | None], ...] = (
            (("pricing", "version"), deployment.pricing.version),
            (("embeddingSpace",), deployment.embedding_space),
        )
        for below, text in texts:
            if text is not None and text.startswith(GATEWAY_REFERENCE):
                yield Finding(
                    ("deployments", name, *below),
                    "begins with what the gateway takes for the name of a variable",
                    "Write another text",
                )


def served_model(draft: Draft) -> Iterator[Finding]:
    """S1-2: a runtime that Hearth fills from the Ollama library has the deployment's model."""
    for name, deployment in draft.claim.deployments.items():
        endpoint = draft.endpoint_of(deployment)
        runtime = endpoint.runtime if endpoint else None
        if runtime is None or runtime.engine != "ollama":
            continue
        models = [model.source.ollama for model in runtime.models]
        if None in models:
            continue
        present = {tagged_model(model) for model in models if model is not None}
        if tagged_model(deployment.model) not in present:
            yield Finding(
                ("deployments", name, "model"),
                f"is not among the models of the endpoint {deployment.endpoint}",
                "Add it to runtime.models, or name one of them",
            )


def _members(draft: Draft, alias: Alias) -> list[tuple[int, str, Deployment]]:
    deployments = draft.claim.deployments
    return [(index, name, deployments[name]) for index, name in enumerate(alias.deployments) if name in deployments]


def members(draft: Draft) -> Iterator[Finding]:
    """S0-6: an alias names declared deployments, each once."""
    for name, alias in draft.claim.aliases.items():
        for index, deployment in enumerate(alias.deployments):
            place: Place = ("aliases", name, "deployments", index)
            if deployment in alias.deployments[:index]:
                yield Finding(place, "names a deployment that is there before", "Remove one of the two")
            elif deployment not in draft.declared("deployments") and draft.whole("deployments"):
                yield Finding(place, "names no deployment", f"Declared: {listed(draft.declared('deployments'))}")


def residency(draft: Draft) -> Iterator[Finding]:
    """S4-126: no deployment of an alias takes the data where the alias does not permit it."""
    for name, alias in draft.claim.aliases.items():
        for index, member, deployment in _members(draft, alias):
            outside = set(deployment.residency) - set(alias.residency)
            if outside:
                yield Finding(
                    ("aliases", name, "deployments", index),
                    f"is {member}, which handles data in {listed(outside)}, outside the alias's residency",
                    "Remove the deployment, or widen the residency",
                )


def alias_lanes(draft: Draft) -> Iterator[Finding]:
    """S4-120: an alias with lanes has deployments of these lanes alone."""
    for name, alias in draft.claim.aliases.items():
        for index, member, deployment in _members(draft, alias):
            if alias.lanes and deployment.lane not in alias.lanes:
                yield Finding(
                    ("aliases", name, "deployments", index),
                    f"is {member}, whose lane {deployment.lane} is not one of the alias's",
                    "Remove the deployment, or add the lane",
                )


def compatible(draft: Draft) -> Iterator[Finding]:
    """S4-126, S4-127, S4-130: every deployment of an alias answers the same operations in the same space."""
    for name, alias in draft.claim.aliases.items():
        found = _members(draft, alias)
        if not found:
            continue
        _, leader, first = found[0]
        for index, member, deployment in found[1:]:
            place: Place = ("aliases", name, "deployments", index)
            if set(deployment.operations) != set(first.operations):
                yield Finding(
                    place,
                    f"is {member}, whose operations are not those of {leader}",
                    "Put deployments with the same operations behind one alias",
                )
            elif deployment.embedding_space != first.embedding_space:
                yield Finding(
                    place,
                    f"is {member}, whose embedding space is not that of {leader}",
                    "Vectors of two spaces must not mix; make an alias for each",
                )


def protection(draft: Draft, endpoint: Endpoint) -> int:
    """Return how well the way to an endpoint is protected: encrypted 2, plaintext in an overlay 1, plaintext 0."""
    profile = endpoint.network_profile
    if profile.mode != "private_plaintext":
        return 2
    zone = draft.claim.network_zones.get(profile.network_zone_id or "")
    return 1 if zone is not None and zone.encrypted_overlay else 0


def fallback_protection(draft: Draft) -> Iterator[Finding]:
    """S4-27: no request falls back to a less protected network."""
    for name, alias in draft.claim.aliases.items():
        best = -1
        for index, member, deployment in _members(draft, alias):
            endpoint = draft.endpoint_of(deployment)
            if endpoint is None:
                continue
            level = protection(draft, endpoint)
            if level < best:
                yield Finding(
                    ("aliases", name, "deployments", index),
                    f"is {member}, whose network is less protected than that of the deployments before it",
                    "Remove it, or reach it through private_tls",
                )
            best = max(best, level)


def worst_case_micros(deployment: Deployment) -> int:
    """Return the highest price of one attempt in micro-units: the whole context at the dearer of the two prices.

    An embedding has prompt tokens alone.
    """
    price = deployment.pricing
    rate = price.input_micros_per_million_tokens
    if not only_vectors(deployment.operations):
        rate = max(rate, price.output_micros_per_million_tokens)
    return -(-deployment.context_tokens * rate // _MILLION)


def _paid(deployment: Deployment) -> bool:
    return deployment.pricing.basis == "provider" or worst_case_micros(deployment) > 0


def paid_fallback(draft: Draft) -> Iterator[Finding]:
    """S4-125, S4-130, S1-6, C-9: going on to a paid or a vendor's deployment is stated, and has a highest price."""
    for name, alias in draft.claim.aliases.items():
        found = _members(draft, alias)
        if not found:
            continue
        first = found[0][2]
        escapes = [
            (index, member)
            for index, member, deployment in found[1:]
            if (_paid(deployment) and not _paid(first))
            or (deployment.pricing.basis == "provider" and first.pricing.basis != "provider")
        ]
        if escapes and not alias.paid_fallback:
            index, member = escapes[0]
            yield Finding(
                ("aliases", name, "deployments", index),
                f"is {member}, which is paid, and the alias does not begin on a paid deployment of that kind",
                "Set paidFallback and maxCostMicros, or remove the deployment",
            )
        if escapes and alias.paid_fallback and alias.max_cost_micros is None:
            yield Finding(
                ("aliases", name, "maxCostMicros"),
                "is missing, and paidFallback needs it",
                "State the highest price of one request in micro-units",
            )


def cost_envelope(draft: Draft) -> Iterator[Finding]:
    """S4-125: the worst-case price of all attempts together stays inside `maxCostMicros`."""
    for name, alias in draft.claim.aliases.items():
        found = _members(draft, alias)
        if alias.max_cost_micros is None or len(found) != len(alias.deployments):
            continue
        total = sum(worst_case_micros(deployment) for _, _, deployment in found)
        if total > alias.max_cost_micros:
            yield Finding(
                ("aliases", name, "maxCostMicros"),
                f"is below the worst-case price of all attempts, which is {total}",
                "Raise it, lower contextTokens, or remove a deployment",
            )


RULES: Final = (
    known_endpoint,
    operations,
    pricing,
    request_fields,
    embedding_space,
    gateway_references,
    served_model,
    members,
    residency,
    alias_lanes,
    compatible,
    fallback_protection,
    paid_fallback,
    cost_envelope,
)
