"""Upstreams out of the claim's endpoints."""

from collections.abc import Iterator
from dataclasses import replace

from hearth.claim import endpoints as declared
from hearth.claim.claim import Claim
from hearth.claim.endpoints import Endpoint
from hearth.claim.names import IN_CLUSTER
from hearth.claim.operations import in_order
from hearth.topology.address import address_of
from hearth.topology.upstreams import DEFAULT_BOUNDS, Bounds, Credential, Runtime, Source, Upstream, UpstreamId


def endpoint_upstreams(claim: Claim) -> Iterator[Upstream]:
    """Yield the upstream of every endpoint, sorted by id."""
    for name, endpoint in sorted(claim.endpoints.items()):
        deployments = claim.deployments_on(name)
        yield Upstream(
            id=UpstreamId("endpoint", name),
            address=address_of(endpoint.base_url),
            profile=endpoint.network_profile,
            cidrs=_cidrs(claim, endpoint.network_profile.network_zone_id),
            credential=_credential(endpoint),
            headers=dict(sorted(endpoint.headers.items())),
            operations=in_order({operation for found in deployments for operation in found.operations}),
            models=tuple(sorted({found.model for found in deployments})),
            bounds=_bounds(endpoint),
            protocol=endpoint.protocol or "+".join(in_order(endpoint.permitted_operations)),
            auth=endpoint.endpoint_auth,
            sidecar=endpoint.sidecar,
            runtime=_runtime(endpoint.runtime) if endpoint.runtime else None,
            capacity=endpoint.runtime_capacity,
        )


def _cidrs(claim: Claim, zone: str | None) -> tuple[str, ...]:
    """Return the ranges of a zone: the Service ranges of the cluster for `in-cluster`, else what the zone lists."""
    if zone is None:
        return ()
    if zone == IN_CLUSTER:
        return claim.policy.cluster_cidrs.services if claim.policy.cluster_cidrs else ()
    return claim.network_zones[zone].cidrs


def _credential(endpoint: Endpoint) -> Credential | None:
    """Return the credential of an endpoint. Hearth makes that of its own Pods, so that nobody has to supply it."""
    auth = endpoint.endpoint_auth
    if auth.mode == "none":
        return None
    pod = endpoint.runtime is not None and endpoint.runtime.placement == "pod"
    source: Source = "deployment" if pod else "reference"
    header, bearer = (auth.header, False) if auth.mode == "api_key" else ("authorization", True)
    return Credential(header, bearer, source, auth.credential_ref)


def _bounds(endpoint: Endpoint) -> Bounds:
    capacity, sidecar = endpoint.runtime_capacity, endpoint.sidecar
    request_bytes = sidecar.max_request_bytes if sidecar else None
    response_bytes = sidecar.max_response_bytes if sidecar else None
    if capacity is None:
        return replace(DEFAULT_BOUNDS, request_bytes=request_bytes, response_bytes=response_bytes)
    setup_ms = cold_ms = capacity.stream_setup_timeout_ms
    if capacity.readiness_policy == "on_demand":
        # A cold model loads before its stream begins, and that is no reason to go on to another one (S4-119).
        cold_ms = min(max(setup_ms, capacity.cold_start_timeout_ms), capacity.request_timeout_ms)
    return Bounds(
        parallel_requests=capacity.max_parallel_requests,
        queued_requests=capacity.max_queued_requests,
        request_timeout_ms=capacity.request_timeout_ms,
        stream_setup_timeout_ms=setup_ms,
        cold_start_timeout_ms=cold_ms,
        request_bytes=request_bytes,
        response_bytes=response_bytes,
    )


def _runtime(runtime: declared.Runtime) -> Runtime:
    made_here = runtime.placement == "pod" and runtime.engine != "ollama"
    return Runtime(
        engine=runtime.engine,
        placement=runtime.placement,
        loopback=address_of(runtime.loopback),
        models=runtime.models,
        credential=runtime.credential_ref,
        needs_credential=runtime.credential_ref is not None or made_here,
        chat_template=runtime.chat_template,
        pooling=runtime.pooling,
        threads=runtime.threads,
        memory=runtime.memory,
        context_tokens=runtime.context_tokens,
        keep_alive_seconds=runtime.keep_alive_seconds,
    )
