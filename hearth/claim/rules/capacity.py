"""Capacity: what endpoints bear, what deployments use of it, and which lanes share a device (S4-113 … S4-121)."""

from collections.abc import Iterator
from typing import Final

from hearth.claim.draft import Draft, Finding
from hearth.claim.policy import Bounds
from hearth.claim.reader import Path as Place


def stream_setup(draft: Draft) -> Iterator[Finding]:
    """U-14: a stream has begun before the request may end."""
    for name, endpoint in draft.claim.endpoints.items():
        capacity = endpoint.runtime_capacity
        if capacity is not None and capacity.stream_setup_timeout_ms > capacity.request_timeout_ms:
            yield Finding(
                ("endpoints", name, "runtimeCapacity", "streamSetupTimeoutMs"),
                "is above requestTimeoutMs",
                "Make it at most as long",
            )


def bounds(draft: Draft) -> Iterator[Finding]:
    """S4-114: no endpoint exceeds the bounds of the environment's policy."""
    if not draft.valid("policy", "bounds"):
        return
    limits = draft.claim.policy.bounds
    for name, endpoint in draft.claim.endpoints.items():
        capacity = endpoint.runtime_capacity
        if capacity is None:
            continue
        yield from above_bounds(
            limits,
            ("endpoints", name, "runtimeCapacity"),
            requestTimeoutMs=("requestTimeoutMs", capacity.request_timeout_ms),
            parallelRequests=("maxParallelRequests", capacity.max_parallel_requests),
            queuedRequests=("maxQueuedRequests", capacity.max_queued_requests),
        )


def above_bounds(limits: Bounds, place: Place, **found: tuple[str, int]) -> Iterator[Finding]:
    """Yield each figure that is above the policy's bound of it.

    Args:
        limits: the policy's bounds.
        place: where the figures stand.
        found: by the bound's field: the figure's own field, and the figure.
    """
    allowed = limits.model_dump(by_alias=True)
    for bound, (field, value) in found.items():
        if value > allowed[bound]:
            yield Finding(
                (*place, field),
                f"is above hearth:policy.bounds.{bound}, which is {allowed[bound]}",
                "Lower it, or have the policy changed",
            )


def concurrency(draft: Draft) -> Iterator[Finding]:
    """S4-115: a deployment does not ask for more than its endpoint bears."""
    for name, deployment in draft.claim.deployments.items():
        endpoint = draft.endpoint_of(deployment)
        capacity = endpoint.runtime_capacity if endpoint else None
        if capacity is not None and deployment.concurrency > capacity.max_parallel_requests:
            yield Finding(
                ("deployments", name, "concurrency"),
                f"is above maxParallelRequests of the endpoint {deployment.endpoint}, "
                f"which is {capacity.max_parallel_requests}",
                "Lower it, or raise what the runtime really bears",
            )


def context(draft: Draft) -> Iterator[Finding]:
    """A deployment does not advertise a longer context than the runtime is started with."""
    for name, deployment in draft.claim.deployments.items():
        endpoint = draft.endpoint_of(deployment)
        runtime = endpoint.runtime if endpoint else None
        if runtime is not None and deployment.context_tokens > runtime.context_tokens:
            yield Finding(
                ("deployments", name, "contextTokens"),
                f"is above contextTokens of the runtime, which is {runtime.context_tokens}",
                "Lower it, or raise the runtime's",
            )


def lanes(draft: Draft) -> Iterator[Finding]:
    """S4-120: two lanes never share a capacity domain."""
    first: dict[str, tuple[str, str]] = {}
    for name, deployment in draft.claim.deployments.items():
        endpoint = draft.endpoint_of(deployment)
        capacity = endpoint.runtime_capacity if endpoint else None
        if capacity is None:
            continue
        other, lane = first.setdefault(capacity.capacity_domain_id, (name, deployment.lane))
        if lane != deployment.lane:
            place: Place = ("deployments", name, "lane")
            yield Finding(
                place,
                f"is {deployment.lane} in the capacity domain of the deployment {other}, whose lane is {lane}",
                "Give each lane a device of its own",
            )


def warmth(draft: Draft) -> Iterator[Finding]:
    """S4-118: only a model server that Hearth runs can be kept out of the routes until it is warm."""
    for name, endpoint in draft.claim.endpoints.items():
        capacity = endpoint.runtime_capacity
        if capacity is None or endpoint.runtime is not None:
            continue
        if capacity.readiness_policy == "warm_before_eligible" and "readiness_policy" in capacity.model_fields_set:
            yield Finding(
                ("endpoints", name, "runtimeCapacity", "readinessPolicy"),
                "is warm_before_eligible, and nothing of Hearth warms a model that somebody else serves",
                "Remove it where the model is always warm, or write on_demand",
            )


RULES: Final = (stream_setup, warmth, bounds, concurrency, context, lanes)
