"""The front: the one listener on the gateway Pod's address, which passes the client API and nothing else (S4-70).

The same HAProxy is LiteLLM's only way out: a loopback port that leads to the guard, with TLS, the name of its Service
and a credential for each upstream that LiteLLM does not know.

LiteLLM listens on sockets. Its management API, its documentation and its health pages answer a tenant's key, or no key
at all, so that what a tenant may ask for is decided here, before LiteLLM is connected to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hearth.claim.operations import OPERATIONS
from hearth.compile import proxy_refusals as refusals
from hearth.compile.files import ConfigFiles
from hearth.compile.guard import CONFIG_DIRECTORY
from hearth.compile.names import (
    CLIENT_SOCKET,
    FRONT_PROBE_PORT,
    GATEWAY_PORT,
    GUARD_DOOR_PORT,
    GUARD_PORT,
    GUARDS,
    LITELLM_PORT,
    MANAGEMENT_HEADER,
    MANAGEMENT_MAP,
    MANAGEMENT_SOCKET,
    home,
)
from hearth.compile.proxy_text import DRAIN_MARGIN_MS, MEASURES, render, table
from hearth.topology.topology import Topology

FRONT_CONNECTIONS: Final = 1_024
"""Client requests at once in one Pod; further connections wait in the kernel's queue."""
CLIENT_CONNECTIONS: Final = 256
"""Requests at once from one client address; the next is answered with 429, so that one app cannot take every place."""
IDLE_CONNECTIONS: Final = 1_024
"""Connections that LiteLLM may keep open to its way out without a request on them."""
GUARD_DIRECTORY: Final = "/etc/haproxy-guard"
"""Where the front finds the guard's CA `ca.pem`, `credentials.map` with a credential for each upstream, and
`management.map` with the digest of the management token."""
MAX_REQUEST_BYTES: Final = 16_777_216
"""Largest request body in bytes, unless a sidecar of the claim takes a larger one."""
END_USER_HEADER: Final = "x-litellm-end-user-id"
"""The one header by which a client may name a person (S3-56)."""
PASSED_HEADERS: Final = (
    "accept",
    "accept-encoding",
    "api-key",
    "authorization",
    "content-encoding",
    "content-length",
    "content-type",
    "host",
    "traceparent",
    "tracestate",
    "transfer-encoding",
    "user-agent",
    "x-api-key",
    END_USER_HEADER,
)
"""Request headers that reach LiteLLM. It takes orders by header: timeouts, tags, callbacks, another key."""
DROPPED_RESPONSE_HEADERS: Final = (
    "llm_provider-.*",
    "server",
    "set-cookie",
    "x-litellm-(?!(attempted-fallbacks|attempted-retries|call-id|model-group|response-cost)$).*",
)
"""Response headers that would tell a tenant about upstreams, keys and other tenants' models (S4-145)."""


@dataclass(frozen=True)
class GuardServer:
    """One replica of the guard."""

    name: str
    """Its Service."""
    host: str
    """DNS name that its certificate has."""
    address: str
    """Where to connect to, as HAProxy's `server` spells it."""


def guard_servers(topology: Topology) -> tuple[GuardServer, ...]:
    """Return the replicas of the guard."""
    hosts = {name: topology.service_host(name) for name in GUARDS[: topology.gateway.guards]}
    return tuple(GuardServer(name, host, f"{host}:{GUARD_PORT}") for name, host in hosts.items())


def largest_request_bytes(topology: Topology) -> int:
    """Return the size of the largest request body that any upstream takes, in bytes."""
    return max([MAX_REQUEST_BYTES, *(upstream.bounds.request_bytes or 0 for upstream in topology.upstreams)])


def compile_front(
    topology: Topology,
    *,
    listen: str = f":{GATEWAY_PORT}",
    probe: str = f":{FRONT_PROBE_PORT}",
    litellm: str = f"unix@{CLIENT_SOCKET}",
    management: str = f"127.0.0.1:{LITELLM_PORT}",
    management_door: str = f"unix@{MANAGEMENT_SOCKET}",
    config_directory: str = CONFIG_DIRECTORY,
    guard_directory: str = GUARD_DIRECTORY,
    guard_door: str = f"127.0.0.1:{GUARD_DOOR_PORT}",
    guards: Sequence[GuardServer] = (),
) -> ConfigFiles:
    """Compile the front.

    Args:
        topology: the topology.
        listen: where clients connect to, as HAProxy's `bind` spells it.
        probe: where the kubelet asks for readiness (`/readyz`) and liveness (`/health/liveliness`).
        litellm: address of LiteLLM's door for clients.
        management: where port-forward connects to, with the management token.
        management_door: address of LiteLLM's other door.
        config_directory: folder that the files are mounted at.
        guard_directory: folder with the guard's CA and the credentials that it asks for.
        guard_door: where LiteLLM connects to for its upstreams.
        guards: replicas of the guard; those of the topology's own Services when absent.

    Returns:
        front.cfg, and homes.map, which names each upstream's home.
    """
    replicas = tuple(guards) or guard_servers(topology)
    text = render(
        "front.cfg.j2",
        client_connections=CLIENT_CONNECTIONS,
        common=refusals.COMMON,
        connections=FRONT_CONNECTIONS,
        directory=config_directory,
        door_log_fields={
            "ts": "%Ts.%ms",
            "proxy": '"guard_door"',
            "server": '"%s"',
            **MEASURES,
            "retries": '"%rc"',
            "tls_err": '"%[ssl_bc_err_str]"',
        },
        dropped_response_headers="^(" + "|".join(DROPPED_RESPONSE_HEADERS) + ")$",
        guard_directory=guard_directory,
        guard_door=guard_door,
        guards=[replicas[index:] + replicas[:index] for index in range(len(replicas))],
        hard_stop_ms=topology.longest_request_ms + DRAIN_MARGIN_MS,
        listen=listen,
        litellm=litellm,
        management=management,
        management_header=MANAGEMENT_HEADER,
        management_map=f"{guard_directory}/{MANAGEMENT_MAP}",
        management_door=management_door,
        # Each request of a client is one connection from it and one from LiteLLM.
        max_connections=2 * FRONT_CONNECTIONS + IDLE_CONNECTIONS,
        log_fields={
            "ts": "%Ts.%ms",
            "proxy": '"front"',
            "client": '"%ci"',
            "operation": '"%[var(txn.operation)]"',
            **MEASURES,
        },
        passed_headers="^(?!(" + "|".join(PASSED_HEADERS) + ")$)",
        paths=[(operation, f"/v1{spec.path}") for operation, spec in OPERATIONS.items()],
        probe=probe,
        refusals=refusals,
        request_bytes=largest_request_bytes(topology),
        server_timeout_ms=topology.longest_request_ms + 10_000,
    )
    homes = table(f"{upstream.name} {home(upstream, len(replicas))}" for upstream in topology.upstreams)
    return ConfigFiles({"front.cfg": text, "homes.map": homes})
