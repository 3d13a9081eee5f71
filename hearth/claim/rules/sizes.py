"""How much one gateway bears: a claim compiles to objects that Kubernetes takes, 1 MiB each at most."""

from collections.abc import Iterator
from typing import Final

from hearth.claim.draft import Draft, Finding

MOST_TENANTS: Final = 2_000
"""Tenants of one environment: the policy of the gateway names every one of them."""
MOST_APPS: Final = 8_000
"""Applications with a key, of all tenants together: the same policy names every one of them."""
MOST_ROUTES: Final = 1_000
"""Deployments that aliases name, each time that they do, and models of providers: the gateway's list of models."""
MOST_UPSTREAMS: Final = 128
"""Endpoints, providers and instances together: the guard's configuration has a part for each."""


def sizes(draft: Draft) -> Iterator[Finding]:
    """No claim is accepted that becomes too large only when it is deployed."""
    claim = draft.claim
    routes = sum(len(alias.deployments) for alias in claim.aliases.values())
    routes += sum(len(provider.models) for provider in claim.llm.providers)
    upstreams = len(claim.endpoints) + len(claim.llm.providers)
    upstreams += len(claim.llm.instances) if claim.llm.gpu_acceleration else 0
    for key, found, most, what in (
        ("tenants", len(claim.tenants), MOST_TENANTS, "tenants"),
        (
            "tenants",
            sum(app.llm for tenant in claim.tenants.values() for app in tenant.apps.values()),
            MOST_APPS,
            "apps",
        ),
        ("aliases", routes, MOST_ROUTES, "deployments of aliases and models of providers"),
        ("endpoints", upstreams, MOST_UPSTREAMS, "endpoints, providers and instances"),
    ):
        if found > most:
            message = f"makes {found} {what}, and one gateway bears {most}"
            yield Finding((key,), message, "Declare fewer, or split the environment into two")


RULES: Final = (sizes,)
