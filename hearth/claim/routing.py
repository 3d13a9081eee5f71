"""Deployments and the public names in front of them (S4-14, S4-122 … S4-130)."""

from typing import Annotated, Literal

from pydantic import Field

from hearth.claim.base import Identifier, OneLine, Shape, matching
from hearth.claim.operations import Operation

FieldName = Annotated[
    str, matching(r"^[A-Za-z_][A-Za-z0-9_]{0,63}$", "a name of 1 to 64 letters, digits and underscores, no digit first")
]
"""Name of a field of a request's body."""
Lane = Literal["query", "indexing", "standard"]
"""Kind of traffic; lanes do not share a capacity domain (S4-120)."""


class Pricing(Shape):
    """What the accounting charges (S4-122 … S4-125)."""

    basis: Literal["amortized_internal", "zero_marginal", "provider"]
    """`amortized_internal` (not zero), `zero_marginal` (zero) or `provider` (a vendor's price)."""
    version: OneLine
    """Version of the price."""
    input_micros_per_million_tokens: Annotated[int, Field(ge=0, le=10**12)]
    """Price of a million prompt tokens in micro-units of the accounting currency."""
    output_micros_per_million_tokens: Annotated[int, Field(ge=0, le=10**12)]
    """Price of a million completion tokens in micro-units of the accounting currency."""


class Deployment(Shape):
    """One model behind one endpoint."""

    endpoint: Identifier
    """The endpoint that answers."""
    model: OneLine
    """The name that the runtime knows the model by."""
    operations: Annotated[tuple[Operation, ...], Field(min_length=1)]
    """What it may be asked for; each one is qualified by itself (S4-97)."""
    concurrency: Annotated[int, Field(ge=1, le=256)] = 1
    """Requests at once; not above the endpoint's `maxParallelRequests` (S4-115)."""
    lane: Lane = "standard"
    """The traffic that it serves."""
    context_tokens: Annotated[int, Field(ge=1, le=10_000_000)] = 4096
    """The advertised context window in tokens."""
    default_max_tokens: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    """Most tokens of an answer to a request that names no bound; half of the context and at most 4,096 when none."""
    extra_fields: tuple[FieldName, ...] = ()
    """Fields of a request beyond the OpenAI API and the engine's documented sampling fields that go on to it."""
    pricing: Pricing
    """Its price; every deployment has one (S4-122)."""
    embedding_space: OneLine | None = None
    """Revision of the embedding space; required with the operation `embedding` (S4-127)."""
    residency: Annotated[tuple[Identifier, ...], Field(min_length=1)]
    """Where the data may be while this deployment handles it (S4-126)."""


class Alias(Shape):
    """A public model name (S0-6)."""

    deployments: Annotated[tuple[Identifier, ...], Field(min_length=1)]
    """The deployments in order; the next answers only when those before it cannot (S0-7)."""
    lanes: tuple[Lane, ...] = ()
    """Lanes that its deployments may be of; any one when empty."""
    residency: Annotated[tuple[Identifier, ...], Field(min_length=1)]
    """Where the data of its requests may be; every deployment must stay inside (S4-126)."""
    max_cost_micros: Annotated[int, Field(ge=0, le=10**15)] | None = None
    """Highest worst-case price of one request over all attempts, in micro-units (S4-125)."""
    paid_fallback: bool = False
    """Whether an alias that begins on a deployment of zero price may go on to a paid one (S4-125)."""
