"""Tenants and their applications (S3-45 … S3-53)."""

from typing import Annotated

from pydantic import Field

from hearth.claim.base import Decimal, Duration, Identifier, OneLine, PositiveInt, Shape


class Limits(Shape):
    """Optional bounds of a tenant; none are set unless declared (S3-50)."""

    max_spend: Decimal | None = None
    """Spend per period in units of the accounting currency; needs `period`."""
    period: Duration | None = None
    """How long until the spend counts from zero again; needs `maxSpend`."""
    requests_per_minute: PositiveInt | None = None
    """Requests per minute."""
    tokens_per_minute: PositiveInt | None = None
    """Prompt and completion tokens per minute."""
    parallel_requests: Annotated[int, Field(gt=0, le=1_000_000)] | None = None
    """Requests at once of each application."""


class App(Shape):
    """An application of a tenant."""

    llm: bool = False
    """Whether it gets a key, a Secret and a network path to the gateway (S3-45)."""
    key_generation: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    """Raise it by one for a new key: it is registered, the Secret rewritten, and then the old one removed."""
    key_grace_seconds: Annotated[int, Field(ge=0, le=3_600)] = 60
    """How long the old key stays usable after the Secret has the new one, in seconds. Nothing waits for it: the gateway
    refuses the old key then. It is the time that the old key was deployed with."""


class Tenant(Shape):
    """One tenant: a namespace that is closed by default, and one team at the gateway (S3-49, S3-51)."""

    namespace: Identifier | None = None
    """Its namespace; `tenant-<name>` when absent."""
    apps: dict[Identifier, App] = Field(default_factory=dict)
    """Its applications by name."""
    models: tuple[OneLine, ...] | None = None
    """Public model names that its keys may use; all that reach no vendor when absent (S1-5)."""
    limits: Limits = Limits()
    """Bounds of the whole tenant."""
    open_webui: bool = False
    """Whether everyone of the tenant has Open WebUI (S3-53)."""
