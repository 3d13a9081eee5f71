"""The TLS sidecar: the one open port of a model server (S4-63 … S4-84).

The same text serves a Pod and a bare-metal host; only the paths differ. It passes the operations that are declared for
the endpoint, with exact method and path, to one fixed loopback address, and answers everything else itself.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hearth.claim.endpoints import RuntimeCapacity, Sidecar
from hearth.claim.operations import OPERATIONS
from hearth.compile import proxy_refusals as refusals
from hearth.compile.files import ConfigFiles
from hearth.compile.names import GUARD_PROBE_PORT, SIDECAR_PORT
from hearth.compile.proxy_text import DRAIN_MARGIN_MS, MEASURES, render, template_text
from hearth.compile.sidecar_document import (
    BASE_PATH,
    REQUEST_HEAD_BYTES,
    REQUEST_HEADERS,
    TLS_MINIMUM,
    sidecar_digest,
)
from hearth.compile.sidecar_profile import check_profile
from hearth.topology.upstreams import Credential, Runtime, Upstream

HEAD_BYTES: Final = 114_688
"""Room of a buffer beside the body, in bytes: a request head and HAProxy's own structures."""
REWRITE_BYTES: Final = 16_384
"""Room that HAProxy keeps for its header rules, in bytes (`tune.maxrewrite`)."""
SPARE_CONNECTIONS: Final = 64
"""Connections beside those that the gateway's replicas may use: probes, qualification, refused callers."""
HEALTH_PATHS: Final = {"llamaCpp": "/health", "ollama": "/api/version", "vllm": "/health"}
"""What the sidecar asks the runtime for on loopback, by engine."""


@dataclass(frozen=True)
class SidecarLayout:
    """Where a sidecar's files are and where it listens.

    The process never starts as root, in a Pod or on a host, so that it has no user to change to.
    """

    listen: str
    """Where the gateway connects to, as HAProxy's `bind` spells it."""
    config_directory: str
    """Folder of the compiled files."""
    secret_directory: str
    """Folder of tokens.map and runtime.map."""
    certificate: str
    """PEM file of the certificate chain; the key is beside it with the ending `.key`."""
    probe: str | None = None
    """Where the kubelet's probe listens, as `bind` spells it; no such listener when absent."""


POD_LAYOUT: Final = SidecarLayout(
    listen=f":{SIDECAR_PORT}",
    config_directory="/etc/sidecar",
    secret_directory="/etc/sidecar-secret",  # noqa: S106 - a folder's name
    certificate="/etc/sidecar-tls/tls.crt",
    probe=f":{GUARD_PROBE_PORT}",
)
"""Layout of a Pod."""


def host_layout(upstream: Upstream) -> SidecarLayout:
    """Return the layout of a bare-metal host; it listens on the port of the endpoint's base URL.

    `current` is a link to one complete set of files, so that a change and its undoing are one step each. The process
    is never root: its unit starts it under a user of its own, which can only read the files.
    """
    folder = f"/etc/hearth/sidecar/{upstream.id.name}/current"
    return SidecarLayout(
        listen=f":{upstream.address.port}",
        config_directory=folder,
        secret_directory=folder,
        certificate=f"{folder}/tls.crt",
    )


@dataclass(frozen=True)
class SidecarConfig:
    """A compiled sidecar."""

    files: Mapping[str, str]
    """Text by file name: sidecar.cfg, response_limit.lua, identity.json. Run `haproxy -f sidecar.cfg`."""
    config_sha256: str
    """Digest of what the configuration means, which evidence binds to (S4-85, S4-86)."""
    files_sha256: str
    """Digest of the files without identity.json, which carries it: tells one text from another (U-17)."""
    operations: tuple[str, ...]
    """Operations that it passes."""
    memory_bytes: int
    """Memory that it may need with every permitted request in flight, in bytes."""


def _parts(upstream: Upstream) -> tuple[Sidecar, Runtime, RuntimeCapacity, Credential]:
    name = upstream.id.name
    if upstream.sidecar is None or upstream.runtime is None or upstream.capacity is None:
        raise ValueError(f"endpoint {name} has no sidecar, no runtime or no runtimeCapacity")
    if upstream.address.path != BASE_PATH:
        raise ValueError(f"endpoint {name}: the base URL of an endpoint with a sidecar ends with {BASE_PATH}")
    if upstream.credential is None:
        raise ValueError(f"endpoint {name}: a sidecar needs a credential (S4-84)")
    return upstream.sidecar, upstream.runtime, upstream.capacity, upstream.credential


def _identity(
    sidecar: Sidecar, runtime_id: str, paths: Sequence[tuple[str, str]], config_sha256: str, files_sha256: str
) -> str:
    """Return identity.json, a log-format file: HAProxy fills in the certificate of the connection (S4-85)."""
    document = {
        "profile": sidecar.profile_version,
        "configSha256": config_sha256,
        "filesSha256": files_sha256,
        "physicalRuntimeId": runtime_id,
        "operations": [{"operation": name, "method": "POST", "path": path} for name, path in paths],
    }
    certificate = {
        "sha256": "%[ssl_f_der,sha2(256),hex,lower]",
        "serial": "%[ssl_f_serial,hex,lower]",
        "subjectCn": "%[ssl_f_s_dn(CN)]",
        "issuerCn": "%[ssl_f_i_dn(CN)]",
        "notBefore": "%[ssl_f_notbefore]",
        "notAfter": "%[ssl_f_notafter]",
    }
    fixed = json.dumps(document, separators=(",", ":")).replace("%", "%%")
    live = json.dumps({"certificate": certificate, "tls": "%[ssl_fc_protocol]"}, separators=(",", ":"))
    return f"{fixed[:-1]},{live[1:]}"


def compile_sidecar(upstream: Upstream, layout: SidecarLayout, *, gateway_replicas: int) -> SidecarConfig:
    """Compile the sidecar of an endpoint, for a Pod or for a host.

    Args:
        upstream: an endpoint with `sidecar`, `runtime` and `runtimeCapacity`.
        layout: `POD_LAYOUT`, or `host_layout(...)`.
        gateway_replicas: Pods of the gateway, each of which may use every place.

    Raises:
        ValueError: the endpoint cannot have a sidecar; the rules of the claim refuse it before.
        ProfileError: the text is not a profile that may be installed; a fault of the compiler.
    """
    sidecar, runtime, capacity, credential = _parts(upstream)
    endpoint_id, operations = upstream.id.name, upstream.operations
    paths = [(operation, BASE_PATH + OPERATIONS[operation].path) for operation in operations]
    host, port = runtime.loopback.number, runtime.loopback.port
    parallel, queued = capacity.max_parallel_requests, capacity.max_queued_requests
    connections = gateway_replicas * parallel + queued + SPARE_CONNECTIONS
    buffer_bytes = sidecar.max_request_bytes + HEAD_BYTES + REWRITE_BYTES
    text = render(
        "sidecar.cfg.j2",
        body_timeout_ms=5_000 + sidecar.max_request_bytes // 1_000,
        buffer_bytes=buffer_bytes,
        client_connections=connections - SPARE_CONNECTIONS // 4,
        client_timeout_ms=30_000,
        common=refusals.COMMON,
        connect_timeout_ms=min(2_000, capacity.stream_setup_timeout_ms),
        connections=connections,
        credential_fetch="http_auth_bearer" if credential.bearer else f"req.hdr({credential.header})",
        credential_header=credential.header,
        error_log_fields={
            "ts": "%Ts.%ms",
            "proxy": '"sidecar"',
            "endpoint": f'"{endpoint_id}"',
            "client": '"%ci"',
            "event": '"connection_failed"',
            "error": '"%[fc_err_str]"',
        },
        hard_stop_ms=capacity.request_timeout_ms + DRAIN_MARGIN_MS,
        health_path=HEALTH_PATHS[runtime.engine],
        layout=layout,
        log_fields={
            "ts": "%Ts.%ms",
            "proxy": '"sidecar"',
            "endpoint": f'"{endpoint_id}"',
            "client": '"%ci"',
            "tls": '"%sslv"',
            "operation": '"%[var(txn.operation)]"',
            "credential": '"%[var(txn.credential)]"',
            **MEASURES,
        },
        parallel_requests=parallel,
        paths=paths,
        queue_full=(
            f"{{ queue(runtime) ge {queued} }}" if queued else f"{{ srv_conn(runtime/runtime) ge {parallel} }}"
        ),
        queue_timeout_ms=capacity.stream_setup_timeout_ms,
        queued_requests=queued,
        refusals=refusals,
        request_bytes=sidecar.max_request_bytes,
        request_head_bytes=REQUEST_HEAD_BYTES,
        request_headers=REQUEST_HEADERS,
        response_bytes=sidecar.max_response_bytes,
        runtime_address=f"ipv6@[{host}]:{port}" if host == "::1" else f"{host}:{port}",
        runtime_authority=f"[{host}]:{port}" if host == "::1" else f"{host}:{port}",
        runtime_credential=runtime.needs_credential,
        server_timeout_ms=capacity.request_timeout_ms,
        tls_minimum=TLS_MINIMUM,
    )
    check_profile(text)
    canonical = ConfigFiles({"response_limit.lua": template_text("response_limit.lua"), "sidecar.cfg": text})
    config_sha256 = sidecar_digest(upstream)
    identity = _identity(sidecar, capacity.physical_runtime_id, paths, config_sha256, canonical.digest)
    return SidecarConfig(
        files=ConfigFiles({**canonical.files, "identity.json": identity}).files,
        config_sha256=config_sha256,
        files_sha256=canonical.digest,
        operations=operations,
        memory_bytes=33_554_432 + (connections + parallel) * buffer_bytes,
    )
