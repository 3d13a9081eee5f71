"""What the guard connects to: one upstream for each endpoint and each provider, with a loopback port of its own.

The guard's configuration and LiteLLM's are compiled from this one list, so that they cannot disagree.
"""

from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from hearth.claim.claim import Claim
from hearth.claim.endpoints import Endpoint
from hearth.claim.llm import Provider
from hearth.compile.names import FIRST_GUARD_PORT, IN_CLUSTER, endpoint_variable, provider_variable

PROVIDER_TIMEOUT_MS = 120_000
"""Request timeout of a provider in ms; its claim has no field for one."""
PROVIDER_PARALLEL_REQUESTS = 64
"""Requests at once at one provider."""
PROVIDER_QUEUED_REQUESTS = 64
"""Requests that may wait for one provider."""


@dataclass(frozen=True)
class Credential:
    """How the guard identifies itself to an upstream (S4-47 … S4-51)."""

    header: Literal["authorization", "x-api-key"]
    """Header that carries the credential."""
    bearer: bool
    """Whether the value begins with `Bearer `."""
    variable: str
    """Environment variable of the guard that holds it."""


@dataclass(frozen=True)
class Upstream:
    """One address that the guard may connect to."""

    name: str
    """`endpoint-<id>` or `provider-<name>`."""
    listener_port: int
    """The guard's loopback port for it."""
    mode: Literal["public_tls", "private_tls", "private_plaintext"]
    """Network profile (S4-7)."""
    host: str
    """Host of the base URL: verification name, SNI and Host header (S4-43)."""
    port: int
    """TCP port of the base URL."""
    path: str
    """Path prefix of the base URL without a slash at its end, such as `/v1`."""
    cidrs: tuple[str, ...]
    """Approved ranges of a private upstream; empty for a public one, which may be any public address (S4-25)."""
    trust_bundle: str | None
    """Trust bundle of a private upstream; none for the public CAs and for plaintext."""
    credential: Credential | None
    """How the guard identifies itself; none sends no credential header at all."""
    headers: tuple[tuple[str, str], ...]
    """Extra request headers."""
    parallel_requests: int
    """Requests at once."""
    queued_requests: int
    """Requests that may wait."""
    request_timeout_ms: int
    """Longest time of a request in ms."""
    stream_setup_timeout_ms: int
    """Longest time until the answer begins, in ms."""
    pool_idle_timeout_ms: int
    """How long an idle connection is kept, in ms."""

    @property
    def base_url(self) -> str:
        """Return what LiteLLM calls: the guard's loopback port with the upstream's path prefix."""
        return f"http://127.0.0.1:{self.listener_port}{self.path}"


def credential_header(endpoint: Endpoint) -> tuple[Literal["authorization", "x-api-key"], bool]:
    """Return the header of an endpoint's credential, and whether its value begins with the word Bearer (S4-84)."""
    auth = endpoint.endpoint_auth
    return (auth.header, False) if auth.mode == "api_key" else ("authorization", True)


def _credential(endpoint_id: str, endpoint: Endpoint) -> Credential | None:
    if endpoint.endpoint_auth.mode == "none":
        return None
    return Credential(*credential_header(endpoint), endpoint_variable(endpoint_id))


def zone_cidrs(claim: Claim, zone: str | None) -> tuple[str, ...]:
    """Return the ranges of a zone: the Service ranges of the cluster for `in-cluster`, else what the zone lists."""
    if zone is None:
        return ()
    if zone == IN_CLUSTER:
        return claim.policy.cluster_cidrs.services if claim.policy.cluster_cidrs else ()
    return claim.network_zones[zone].cidrs


def _of_endpoint(claim: Claim, endpoint_id: str, endpoint: Endpoint, listener_port: int) -> Upstream:
    url = urlsplit(endpoint.base_url)
    profile, capacity = endpoint.network_profile, endpoint.runtime_capacity
    request_ms = capacity.request_timeout_ms if capacity else PROVIDER_TIMEOUT_MS
    return Upstream(
        name=f"endpoint-{endpoint_id}",
        listener_port=listener_port,
        mode=profile.mode,
        host=url.hostname or "",
        port=url.port or (443 if url.scheme == "https" else 80),
        path=url.path.rstrip("/"),
        cidrs=zone_cidrs(claim, profile.network_zone_id),
        trust_bundle=profile.tls.trust_bundle if profile.tls else None,
        credential=_credential(endpoint_id, endpoint),
        headers=tuple(sorted(endpoint.headers.items())),
        parallel_requests=capacity.max_parallel_requests if capacity else PROVIDER_PARALLEL_REQUESTS,
        queued_requests=capacity.max_queued_requests if capacity else PROVIDER_QUEUED_REQUESTS,
        request_timeout_ms=request_ms,
        stream_setup_timeout_ms=capacity.stream_setup_timeout_ms if capacity else request_ms,
        pool_idle_timeout_ms=profile.connection.pool_idle_timeout_ms,
    )


def _of_provider(provider: Provider, listener_port: int) -> Upstream:
    url = urlsplit(provider.api_base)
    return Upstream(
        name=f"provider-{provider.name}",
        listener_port=listener_port,
        mode="public_tls",
        host=url.hostname or "",
        port=443,
        path=url.path.rstrip("/"),
        cidrs=(),
        trust_bundle=None,
        credential=Credential("authorization", True, provider_variable(provider.api_key_property)),
        headers=(),
        parallel_requests=PROVIDER_PARALLEL_REQUESTS,
        queued_requests=PROVIDER_QUEUED_REQUESTS,
        request_timeout_ms=PROVIDER_TIMEOUT_MS,
        stream_setup_timeout_ms=PROVIDER_TIMEOUT_MS,
        pool_idle_timeout_ms=30_000,
    )


def offered_providers(claim: Claim) -> tuple[Provider, ...]:
    """Return the providers that may be offered, sorted by name.

    One that names another's token property is left out, so that no claim, however it was written, sends one
    provider's token to another's address (S3-28).
    """
    owned = (
        provider
        for provider in claim.llm.providers
        if provider.api_key_property == provider.name.replace("-", "_") + "_api_key"
    )
    return tuple(sorted(owned, key=lambda provider: provider.name))


def upstreams(claim: Claim) -> tuple[Upstream, ...]:
    """Return every upstream of the claim: the endpoints by id, then the offered providers by name."""
    endpoints = sorted(claim.endpoints.items())
    found = [
        _of_endpoint(claim, name, endpoint, FIRST_GUARD_PORT + index)
        for index, (name, endpoint) in enumerate(endpoints)
    ]
    first = FIRST_GUARD_PORT + len(found)
    return (
        *found,
        *(_of_provider(provider, first + index) for index, provider in enumerate(offered_providers(claim))),
    )
