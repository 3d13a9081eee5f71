"""The catalogue: which cases must have passed before evidence opens a route (S4-97, S4-106 … S4-110).

A case that was skipped has not passed. Cases beyond these may be in a document, and none of them may have failed.
Another list is another version, and evidence of another version has to be made again.
"""

from collections.abc import Mapping
from typing import Final

from hearth.claim.endpoints import Engine
from hearth.claim.operations import Operation
from hearth.topology.expected import Expected, Termination

CATALOGUE_VERSION: Final = 1
"""Version of this catalogue."""

_TLS: Final = (
    "transport.chain_and_name",
    "transport.dates",
    "transport.tls_floor",
    "transport.wrong_ca_refused",
    "transport.wrong_name_refused",
)
PROBES: Final[Mapping[Termination, tuple[str, ...]]] = {
    "plaintext": ("transport.plaintext_declared",),
    "native": _TLS,
    "light_gateway_sidecar": (
        *_TLS,
        "sidecar.exact_paths",
        "sidecar.http1_only",
        "sidecar.identity",
        "sidecar.isolation",
        "sidecar.queue_bounded",
        "sidecar.raw_port_closed",
        "sidecar.request_bound",
    ),
}
"""Cases about the endpoint itself, by who ends TLS."""
IDENTIFYING: Final = ("credential.missing_refused", "credential.wrong_refused")
"""Cases of an endpoint that asks for a credential."""
BEARING: Final = ("capacity.parallel",)
"""Cases of an endpoint that declares its capacity."""

_GENERATING: Final = ("answer", "disconnect", "stream", "usage")
CAPABILITIES: Final[Mapping[Operation, tuple[str, ...]]] = {
    "chat": _GENERATING,
    "completion": _GENERATING,
    "responses": _GENERATING,
    "embedding": ("batch", "batch_order", "scalar", "space", "usage"),
}
"""Capabilities of each operation, whatever the engine."""
OF_AN_ENGINE: Final[Mapping[Engine, Mapping[Operation, tuple[str, ...]]]] = {
    "ollama": {"embedding": ("base64", "dimensions")},
    "llamaCpp": {"chat": ("stream_framing",), "embedding": ("base64",)},
    "vllm": {"chat": ("stream_setup",), "embedding": ("base64",)},
}
"""Capabilities that an engine is known for and that must not be assumed (S4-108 … S4-110)."""


def required_probes(expected: Expected) -> tuple[str, ...]:
    """Return the cases about the endpoint itself that must have passed, sorted."""
    found = PROBES[expected.termination]
    if expected.identifies:
        found += IDENTIFYING
    if expected.physical_runtime_id is not None:
        found += BEARING
    return tuple(sorted(found))


def required_capabilities(expected: Expected, operation: Operation) -> tuple[str, ...]:
    """Return the capabilities of a declared operation that must have passed, sorted."""
    of_the_engine = OF_AN_ENGINE[expected.engine].get(operation, ()) if expected.engine else ()
    return tuple(sorted({*CAPABILITIES[operation], *of_the_engine}))
