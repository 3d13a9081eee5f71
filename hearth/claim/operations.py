"""The one table of operations: what a client may ask for, and what every part of Hearth has to know about it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, Literal

Operation = Literal["chat", "completion", "embedding", "responses"]
"""What a client may ask a deployment for."""
Protocol = Literal["openai_chat", "openai_embeddings", "openai_responses"]
"""The wire protocol of an endpoint."""
ModelMode = Literal["chat", "completion", "embedding"]
"""What a provider's model answers (S3-16)."""


@dataclass(frozen=True)
class OperationSpec:
    """One operation."""

    path: str
    """Path below the path of a base URL; the method is POST (S4-68)."""
    protocol: Protocol
    """Protocol of the endpoints that have it."""
    provider_mode: ModelMode
    """Mode of the provider's models that are asked for it: providers answer responses for their chat models too,
    and their claim has no field that tells the two apart."""
    litellm_mode: Literal["chat", "completion", "embedding"]
    """What LiteLLM is told of a deployment of which this is the first operation."""
    vectors: bool = False
    """Whether the answer is vectors of an embedding space (S4-127)."""


OPERATIONS: Final[Mapping[Operation, OperationSpec]] = {
    "chat": OperationSpec("/chat/completions", "openai_chat", "chat", "chat"),
    "completion": OperationSpec("/completions", "openai_chat", "completion", "completion"),
    "embedding": OperationSpec("/embeddings", "openai_embeddings", "embedding", "embedding", vectors=True),
    # The mode "responses" would make LiteLLM answer chat through the responses API, which nobody declared (S4-97).
    "responses": OperationSpec("/responses", "openai_responses", "chat", "chat"),
}
"""Every operation, in the order in which artefacts name them (S4-72)."""


def in_order(operations: Collection[Operation]) -> tuple[Operation, ...]:
    """Return operations in the order of the table, each once."""
    return tuple(operation for operation in OPERATIONS if operation in operations)


def protocol_operations(protocol: Protocol) -> frozenset[Operation]:
    """Return the operations that an endpoint of a protocol has."""
    return frozenset(operation for operation, spec in OPERATIONS.items() if spec.protocol == protocol)


def mode_operations(mode: ModelMode) -> tuple[Operation, ...]:
    """Return what a provider's model of a mode may be asked for."""
    return tuple(operation for operation, spec in OPERATIONS.items() if spec.provider_mode == mode)


def only_vectors(operations: Collection[Operation]) -> bool:
    """Return whether there are operations, and all of them answer with vectors."""
    return bool(operations) and all(OPERATIONS[operation].vectors for operation in operations)
