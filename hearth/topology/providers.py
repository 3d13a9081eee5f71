"""Upstreams out of the claim's providers."""

from collections.abc import Iterator
from dataclasses import replace

from hearth.claim.claim import Claim
from hearth.claim.llm import Provider
from hearth.claim.names import api_key_property
from hearth.claim.network import NetworkProfile
from hearth.claim.operations import in_order, mode_operations
from hearth.topology.address import address_of
from hearth.topology.upstreams import DEFAULT_BOUNDS, Credential, Upstream, UpstreamId


def offered_providers(claim: Claim) -> tuple[Provider, ...]:
    """Return the providers that may be offered, sorted by name.

    One that names another's token property is left out, so that no claim, however it was written, sends one
    provider's token to another's address (S3-28).
    """
    owned = (provider for provider in claim.llm.providers if owns_its_token(provider))
    return tuple(sorted(owned, key=lambda provider: provider.name))


def owns_its_token(provider: Provider) -> bool:
    """Return whether a provider names its own token property and no other one's (S3-27)."""
    return provider.api_key_property == api_key_property(provider.name)


def provider_upstreams(claim: Claim) -> Iterator[Upstream]:
    """Yield the upstream of every provider that may be offered, sorted by name."""
    for provider in offered_providers(claim):
        declared = {operation for model in provider.models for operation in mode_operations(model.mode)}
        yield Upstream(
            id=UpstreamId("provider", provider.name),
            # Another port is refused by the rules; a claim that no rule has seen gets no further either (S3-23).
            address=replace(address_of(provider.api_base), port=443),
            profile=NetworkProfile(),
            cidrs=(),
            credential=Credential("authorization", True, "token", provider.api_key_property),
            headers={},
            operations=in_order(declared),
            models=tuple(sorted({model.model for model in provider.models})),
            bounds=DEFAULT_BOUNDS,
        )
