"""What clients may ask for, as exact HTTP paths."""

from typing import Final

from hearth.claim.claim import Claim
from hearth.claim.routing import Operation
from hearth.compile.upstreams import offered_providers

OPERATION_PATHS: Final[dict[Operation, str]] = {
    "chat": "/chat/completions",
    "completion": "/completions",
    "embedding": "/embeddings",
    "responses": "/responses",
}
"""Path of each operation below the path of a base URL; all are POST (S4-68)."""


def endpoint_operations(claim: Claim, endpoint_id: str) -> tuple[Operation, ...]:
    """Return what the deployments on an endpoint declare together, in a fixed order (S4-72)."""
    declared = {
        operation
        for deployment in claim.deployments.values()
        if deployment.endpoint == endpoint_id
        for operation in deployment.operations
    }
    return tuple(operation for operation in OPERATION_PATHS if operation in declared)


def provider_operations(claim: Claim, provider_name: str) -> tuple[Operation, ...]:
    """Return what the models of a provider are declared for, in a fixed order.

    A chat model of a provider is also asked through the responses API: providers offer both for the same models,
    and their claim has no field that tells them apart.
    """
    modes = {
        model.mode
        for provider in offered_providers(claim)
        if provider.name == provider_name
        for model in provider.models
    }
    declared: set[Operation] = {*modes, *(("responses",) if "chat" in modes else ())}
    return tuple(operation for operation in OPERATION_PATHS if operation in declared)
