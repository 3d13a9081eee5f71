"""What the configuration of a sidecar means, as the document that evidence binds to (S4-86).

It says what passes, to where, with which credential and within which bounds; it holds no text of a template, nothing of
a layout, and nothing that follows from the number of the gateway's Pods. The text is made from it. What a profile means
beside these values is the profile's version: a template that lets something else pass is another version.
"""

from typing import Any, Final

from hearth.canonical import digest
from hearth.claim.operations import OPERATIONS
from hearth.topology.upstreams import Upstream

SIDECAR_VERSION: Final = "hearth.sidecar/v1"
"""Version of the document."""
BASE_PATH: Final = "/v1"
"""Path of the base URL of every endpoint with a sidecar (S4-68)."""
TLS_MINIMUM: Final = "TLSv1.2"
"""Oldest version of TLS that a sidecar speaks."""
REQUEST_HEAD_BYTES: Final = 16_384
"""Largest head of a request in bytes."""
REQUEST_HEADERS: Final = 64
"""Most headers of a request."""


def sidecar_document(upstream: Upstream) -> dict[str, Any]:
    """Return what the configuration of an endpoint's sidecar means.

    Raises:
        ValueError: the endpoint has no sidecar, no runtime, no capacity or no credential; the rules of the claim refuse
            it before.
    """
    sidecar, runtime, capacity, credential = upstream.sidecar, upstream.runtime, upstream.capacity, upstream.credential
    if sidecar is None or runtime is None or capacity is None or credential is None:
        raise ValueError(f"endpoint {upstream.id.name} has no sidecar, runtime, runtimeCapacity or credential")
    return {
        "version": SIDECAR_VERSION,
        "profile": sidecar.profile_version,
        "port": upstream.address.port,
        "physicalRuntimeId": capacity.physical_runtime_id,
        "operations": [
            {"operation": operation, "method": "POST", "path": BASE_PATH + OPERATIONS[operation].path}
            for operation in upstream.operations
        ],
        "runtime": {"host": runtime.loopback.number, "port": runtime.loopback.port},
        "credential": {"header": credential.header, "bearer": credential.bearer},
        "runtimeCredential": runtime.needs_credential,
        "tls": {"minimum": TLS_MINIMUM, "alpn": ["http/1.1"]},
        "limits": {
            "requestBytes": sidecar.max_request_bytes,
            "requestHeadBytes": REQUEST_HEAD_BYTES,
            "requestHeaders": REQUEST_HEADERS,
            "responseBytes": sidecar.max_response_bytes,
            "parallelRequests": capacity.max_parallel_requests,
            "queuedRequests": capacity.max_queued_requests,
            "streamSetupTimeoutMs": capacity.stream_setup_timeout_ms,
            "requestTimeoutMs": capacity.request_timeout_ms,
        },
    }


def sidecar_digest(upstream: Upstream) -> str:
    """Return the digest of what the configuration of an endpoint's sidecar means (S4-86)."""
    return digest(sidecar_document(upstream))
