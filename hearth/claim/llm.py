"""`hearth:llm`: the gateway's own settings, its instances, providers, console and person budget."""

from typing import Annotated, Literal

from pydantic import Field

from hearth.claim.base import (
    CredentialReference,
    Decimal,
    Duration,
    Identifier,
    OneLine,
    PositiveInt,
    Quantity,
    Shape,
    matching,
)
from hearth.claim.instances import Instance
from hearth.claim.operations import ModelMode


class ProviderModel(Shape):
    """One model of a provider, offered as `<provider>/<name>` (S3-15)."""

    name: Annotated[
        str,
        matching(
            r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$",
            "a name of 1 to 63 lower-case letters, digits, dots and hyphens",
            min_length=1,
            max_length=63,
        ),
    ]
    """The name after the provider's prefix (U-5)."""
    model: OneLine
    """The model id that the provider knows."""
    max_tokens: Annotated[int, Field(gt=0, le=10_000_000)] = 8192
    """The advertised context window in tokens (S3-16)."""
    mode: ModelMode = "chat"
    """What the model answers (S3-16)."""
    input_micros_per_million_tokens: Annotated[int, Field(ge=0, le=10**12)] | None = None
    """Price of a million prompt tokens in micro-units of the accounting currency (S4-122); required but for
    `pricing: zero_marginal`."""
    output_micros_per_million_tokens: Annotated[int, Field(ge=0, le=10**12)] | None = None
    """Price of a million completion tokens in micro-units of the accounting currency (S4-122); required but for
    `pricing: zero_marginal` and for embeddings, which have none."""
    pricing: Literal["zero_marginal"] | None = None
    """Says that the model costs nothing: then no budget stops it (S3-57)."""


class Provider(Shape):
    """An external OpenAI-compatible endpoint behind the same gateway (S3-20 … S3-30)."""

    name: Identifier
    """Prefix of the provider's public model names."""
    display_name: OneLine
    """What people read."""
    api_base: str
    """An https address without port but 443, user, password, query or fragment, and with a public host (S3-23)."""
    api_key_property: Annotated[
        str, matching(r"^[a-z0-9_]+$", "lower-case letters, digits and underscores", max_length=64)
    ]
    """Must equal `<name>_api_key` with `-` as `_` (S3-27)."""
    models: tuple[ProviderModel, ...]
    """The models that are offered; an empty list prepares a provider whose token can be supplied already (U-5)."""


class PersonBudget(Shape):
    """What one person may spend and ask for; more is answered with 429 (S3-54 … S3-58)."""

    max_spend: Decimal
    """Spend per period in units of the accounting currency."""
    period: Duration
    """How long until the spend counts from zero again."""
    requests_per_minute: PositiveInt
    """Requests per minute."""
    tokens_per_minute: PositiveInt
    """Prompt and completion tokens per minute."""


class Console(Shape):
    """LiteLLM's console (S3-59 … S3-66)."""

    enabled: bool = False
    """Whether the console has a route."""


class InClusterDatabase(Shape):
    """PostgreSQL that Hearth runs on a volume of its own (S3-1)."""

    mode: Literal["inCluster"]
    """Hearth runs the database."""
    storage: Quantity = "10Gi"
    """Size of its volume."""
    storage_class: Identifier | None = None
    """StorageClass of its volume; the cluster's default when absent."""


class ExternalDatabase(Shape):
    """A PostgreSQL that somebody else runs, reached with `sslmode=verify-full`."""

    mode: Literal["external"]
    """Somebody else runs the database."""
    host: Annotated[
        str,
        matching(r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$", "a DNS name in lower case or an IPv4 address"),
    ]
    """DNS name or address of the server; the name that its certificate must carry."""
    port: Annotated[int, Field(ge=1, le=65535)] = 5432
    """TCP port of the server."""
    database: Identifier = "litellm"
    """Name of the database, used by Hearth alone."""
    cidrs: Annotated[tuple[str, ...], Field(min_length=1)]
    """Addresses that the gateway may connect to for it; a NetworkPolicy is made from them (C-1)."""
    owner_credential: CredentialReference
    """Password of the role `litellm`, which owns the tables and runs the migrations."""
    gateway_credential: CredentialReference
    """Password of the role `litellm_gateway`, which cannot store models or settings (S3-7)."""
    trust_bundle: Identifier
    """Trust bundle that the server's certificate is verified with."""


class Gateway(Shape):
    """How the gateway itself is run."""

    replicas: Annotated[int, Field(ge=1, le=20)] = 2
    """Pods of the gateway. One is accepted for a home; there, a change interrupts for as long as a Pod starts."""
    key_cache_seconds: Annotated[int, Field(ge=1, le=60)] = 5
    """How long a replica may go on accepting what it knows of a key, in seconds."""


class Guard(Shape):
    """How the guard is run, which makes every connection of the gateway."""

    replicas: Annotated[int, Field(ge=1, le=2)] = 2
    """Pods of the guard. Each endpoint has one of them as its home and the other as its backup, so that its bounds are
    counted in one place. One is accepted for a home; there, its death interrupts for as long as a Pod starts."""


class Llm(Shape):
    """`hearth:llm` (S3-1 … S3-5)."""

    enabled: bool
    """Whether this environment has a gateway at all; without it the namespace does not exist (S3-2)."""
    gpu_acceleration: bool = False
    """Whether the cluster has GPUs; without, a mock model server runs and is not offered (S3-3, S3-19)."""
    gateway: Gateway = Gateway()
    """How the gateway is run."""
    guard: Guard = Guard()
    """How the guard is run."""
    database: Annotated[InClusterDatabase | ExternalDatabase, Field(discriminator="mode")] = InClusterDatabase(
        mode="inCluster"
    )
    """The gateway's PostgreSQL."""
    instances: tuple[Instance, ...] = ()
    """vLLM servers on the cluster's GPUs."""
    providers: tuple[Provider, ...] = ()
    """External providers."""
    console: Console = Console()
    """LiteLLM's console."""
    person_budget: PersonBudget | None = None
    """The budget of every person that a request names (S3-58)."""
