"""The guard: the only way from the gateway to a model.

One loopback listener for each upstream. A request goes through four gates before a connection is opened: exact method
and path, a credential that is there, one resolution whose very answer is checked against the zone, and a free place.
The connection goes to the checked address, is verified with the upstream's own CA and name, and is used once.
"""

import json
from dataclasses import dataclass
from typing import Final

from hearth.claim.operations import OPERATIONS
from hearth.compile import proxy_refusals as refusals
from hearth.compile.files import ConfigFiles
from hearth.compile.front import FRONT_CONNECTIONS
from hearth.compile.guard_ranges import Allowed, public_addresses, zone_addresses
from hearth.compile.names import GUARD_PROBE_PORT, credential_variable
from hearth.compile.proxy_text import DRAIN_MARGIN_MS, MEASURES, render, template_text
from hearth.topology.topology import Topology
from hearth.topology.upstreams import Upstream

CONFIG_DIRECTORY: Final = "/etc/haproxy"
"""Where the gateway's HAProxy finds guard.cfg and front.cfg."""
CA_DIRECTORY: Final = "/etc/haproxy-ca"
"""Where it finds one `<bundle>.pem` for each trust bundle."""
PUBLIC_CA: Final = "@system-ca"
"""The public CAs: those of the image's operating system."""
CONNECT_TIMEOUT_MS: Final = 5_000
"""Longest time until a TCP and TLS connection stands, in ms (U-17)."""
DEFAULT_REQUEST_BYTES: Final = 16_777_216
"""Largest request body in bytes where the claim has no sidecar that says it."""
DEFAULT_RESPONSE_BYTES: Final = 67_108_864
"""Largest answer in bytes where the claim has no sidecar that says it."""
IDLE_CONNECTIONS: Final = 1_024
"""Connections that LiteLLM may keep open to the guard without a request on them."""

FAILURES: Final = "certificate.verify.failed _certificate\n"
"""Which TLS failures add a word to the code of `upstream_failed`."""


@dataclass(frozen=True)
class DnsSettings:
    """Where the guard asks for addresses."""

    nameservers: tuple[str, ...] = ()
    """Servers as `<address>:<port>`; those of /etc/resolv.conf when empty."""


@dataclass(frozen=True)
class _Listener:
    """What the template needs to know of one upstream."""

    upstream: Upstream
    paths: tuple[tuple[str, str], ...]
    addresses: Allowed
    request_bytes: int
    response_bytes: int
    tls: str

    @property
    def address_file(self) -> str:
        return "public" if self.upstream.mode == "public_tls" else self.upstream.name

    @property
    def authority(self) -> str:
        address = self.upstream.address
        default = 80 if self.upstream.mode == "private_plaintext" else 443
        return address.bracketed_host if address.port == default else address.authority

    @property
    def credential_variable(self) -> str:
        return credential_variable(self.upstream)

    @property
    def connect_timeout_ms(self) -> int:
        return min(CONNECT_TIMEOUT_MS, self.upstream.bounds.stream_setup_timeout_ms)

    @property
    def log_fields(self) -> dict[str, str]:
        return {
            "ts": "%Ts.%ms",
            "proxy": '"guard"',
            "upstream": f'"{self.upstream.name}"',
            "operation": '"%[var(txn.operation)]"',
            "resolved": '"%[var(txn.address)]"',
            "peer": '"%[var(txn.peer)]"',
            **MEASURES,
            "srv_err": '"%[bc_err_str]"',
            "tls_err": '"%[ssl_bc_err_str]"',
        }


def _lines(ranges: tuple[str, ...]) -> str:
    return "".join(f"{line}\n" for line in ranges or ("# none",))


def _upstream_failed_code(config_directory: str) -> str:
    """Return the log-format of the code: `upstream_failed` or `upstream_certificate_failed` (S4-138)."""
    return f"upstream%[ssl_bc_err_str,map_reg({config_directory}/failures.map)]_failed"


def _upstream_failed(config_directory: str) -> str:
    """Return the log-format of a failed connection's body."""
    error = {
        "message": "The upstream cannot be reached, or its certificate is not trusted.",
        "type": "api_error",
        "param": None,
        "code": _upstream_failed_code(config_directory),
    }
    return json.dumps({"error": error}, separators=(",", ":"))


def _tls(upstream: Upstream, ca_directory: str, public_ca: str) -> str:
    if upstream.mode == "private_plaintext":
        return ""
    ca_file = public_ca if upstream.trust_bundle is None else f"{ca_directory}/{upstream.trust_bundle}.pem"
    # RFC 6066 allows no address in SNI.
    host = upstream.address.host
    sni = "" if upstream.address.is_ip_address else f"sni str({host}) "
    return f" ssl verify required ca-file {ca_file} {sni}verifyhost {host} alpn http/1.1 no-ssl-reuse"


def _listener(upstream: Upstream, ca_directory: str, public_ca: str) -> _Listener:
    bounds = upstream.bounds
    public = upstream.mode == "public_tls"
    return _Listener(
        upstream=upstream,
        paths=tuple(
            (operation, upstream.address.path + OPERATIONS[operation].path) for operation in upstream.operations
        ),
        addresses=public_addresses() if public else zone_addresses(upstream.destinations),
        request_bytes=bounds.request_bytes or DEFAULT_REQUEST_BYTES,
        response_bytes=bounds.response_bytes or DEFAULT_RESPONSE_BYTES,
        tls=_tls(upstream, ca_directory, public_ca),
    )


def compile_guard(
    topology: Topology,
    *,
    config_directory: str = CONFIG_DIRECTORY,
    haproxy_ca_directory: str = CA_DIRECTORY,
    public_ca: str = PUBLIC_CA,
    dns: DnsSettings | None = None,
    probe: str = f":{GUARD_PROBE_PORT}",
) -> ConfigFiles:
    """Compile the guard.

    Args:
        topology: the topology.
        config_directory: folder that the files are mounted at.
        haproxy_ca_directory: folder with one `<bundle>.pem` for each trust bundle.
        public_ca: file or folder with the public CAs.
        dns: where addresses are asked for; the Pod's own servers when absent.
        probe: where the health probe listens, as HAProxy's `bind` spells it.

    Returns:
        guard.cfg and the files that it refers to. No credential is among them: the guard reads credentials from its
        environment (S3-40).
    """
    listeners = tuple(_listener(upstream, haproxy_ca_directory, public_ca) for upstream in topology.upstreams)
    files = {"failures.map": FAILURES, "response_limit.lua": template_text("response_limit.lua")}
    for listener in listeners:
        files[f"{listener.address_file}.ipv4"] = _lines(listener.addresses.ipv4)
        files[f"{listener.address_file}.ipv6"] = _lines(listener.addresses.ipv6)
    longest_ms = max((listener.upstream.bounds.request_timeout_ms for listener in listeners), default=0)
    files["guard.cfg"] = render(
        "guard.cfg.j2",
        common=refusals.COMMON,
        directory=config_directory,
        hard_stop_ms=longest_ms + DRAIN_MARGIN_MS,
        listeners=listeners,
        max_connections=2 * FRONT_CONNECTIONS + IDLE_CONNECTIONS,
        nameservers=(dns or DnsSettings()).nameservers,
        probe=probe,
        refusals=refusals,
        upstream_failed=_upstream_failed(config_directory),
        upstream_failed_code=_upstream_failed_code(config_directory),
    )
    return ConfigFiles(files)
