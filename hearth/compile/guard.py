"""The guard: the only way from the gateway to a model.

One TLS listener, in Pods of their own. A request names its upstream by path and by a credential that opens this one
alone. It goes through four gates before a connection is opened: exact method and path, a credential that is there, one
resolution whose very answer is checked against the zone, and a free place. The connection goes to the checked address,
is verified with the upstream's own CA and name, and is used once.
"""

import json
from dataclasses import dataclass
from typing import Final

from hearth.claim.operations import OPERATIONS
from hearth.compile import proxy_refusals as refusals
from hearth.compile.files import ConfigFiles
from hearth.compile.guard_ranges import Allowed, public_addresses, zone_addresses
from hearth.compile.names import GUARD_PORT, GUARD_PROBE_PORT, credential_variable
from hearth.compile.proxy_text import DRAIN_MARGIN_MS, MEASURES, render, table, template_text
from hearth.topology.topology import Topology
from hearth.topology.upstreams import Upstream

CONFIG_DIRECTORY: Final = "/etc/haproxy"
"""Where HAProxy finds its configuration, in the guard's Pods and in the gateway's."""
CA_DIRECTORY: Final = "/etc/haproxy-ca"
"""Where the guard finds one `<bundle>.pem` for each trust bundle."""
SECRET_DIRECTORY: Final = "/etc/haproxy-secret"  # noqa: S105 - a folder's name
"""Where the guard finds its certificate `tls.crt`, `tls.key`, and `tokens.map`."""
PUBLIC_CA: Final = "@system-ca"
"""The public CAs: those of the image's operating system."""
CONNECT_TIMEOUT_MS: Final = 5_000
"""Longest time until a TCP and TLS connection stands, in ms (U-17)."""
DEFAULT_REQUEST_BYTES: Final = 16_777_216
"""Largest request body in bytes where the claim has no sidecar that says it."""
DEFAULT_RESPONSE_BYTES: Final = 67_108_864
"""Largest answer in bytes where the claim has no sidecar that says it."""
GUARD_CONNECTIONS: Final = 4_096
"""Connections of all gateway Pods at once in one Pod of the guard; further ones wait in the kernel's queue."""

FAILURES: Final = "certificate.verify.failed _certificate\n"
"""Which TLS failures add a word to the code of `upstream_failed`."""


@dataclass(frozen=True)
class DnsSettings:
    """Where the guard asks for addresses."""

    nameservers: tuple[str, ...] = ()
    """Servers as `<address>:<port>`; those of /etc/resolv.conf when empty."""


@dataclass(frozen=True)
class _Target:
    """What the template needs to know of one upstream."""

    upstream: Upstream
    paths: tuple[tuple[str, str, str], ...]
    """Operation, path at the guard, path at the upstream."""
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


LOG_FIELDS: Final = {
    "ts": "%Ts.%ms",
    "proxy": '"guard"',
    "client": '"%ci"',
    "upstream": '"%[var(txn.upstream)]"',
    "operation": '"%[var(txn.operation)]"',
    "resolved": '"%[var(txn.address)]"',
    "peer": '"%[var(txn.peer)]"',
    **MEASURES,
    "srv_err": '"%[bc_err_str]"',
    "tls_err": '"%[ssl_bc_err_str]"',
}
"""Fields of a log line. What a request names and the guard does not know is not among them."""


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


def guard_path(upstream: Upstream) -> str:
    """Return the path at the guard below which an upstream's operations are."""
    return f"/u/{upstream.name}"


def _target(upstream: Upstream, ca_directory: str, public_ca: str) -> _Target:
    bounds = upstream.bounds
    public = upstream.mode == "public_tls"
    return _Target(
        upstream=upstream,
        paths=tuple(
            (
                operation,
                guard_path(upstream) + OPERATIONS[operation].path,
                upstream.address.path + OPERATIONS[operation].path,
            )
            for operation in upstream.operations
        ),
        addresses=public_addresses() if public else zone_addresses(upstream.destinations),
        request_bytes=bounds.request_bytes or DEFAULT_REQUEST_BYTES,
        response_bytes=bounds.response_bytes or DEFAULT_RESPONSE_BYTES,
        tls=_tls(upstream, ca_directory, public_ca),
    )


def compile_guard(
    topology: Topology,
    *,
    listen: str = f":{GUARD_PORT}",
    config_directory: str = CONFIG_DIRECTORY,
    secret_directory: str = SECRET_DIRECTORY,
    haproxy_ca_directory: str = CA_DIRECTORY,
    public_ca: str = PUBLIC_CA,
    dns: DnsSettings | None = None,
    probe: str = f":{GUARD_PROBE_PORT}",
) -> ConfigFiles:
    """Compile the guard.

    Args:
        topology: the topology.
        listen: where the gateway connects to, as HAProxy's `bind` spells it.
        config_directory: folder that the files are mounted at.
        secret_directory: folder with the guard's certificate and the digests of its callers' credentials.
        haproxy_ca_directory: folder with one `<bundle>.pem` for each trust bundle.
        public_ca: file or folder with the public CAs.
        dns: where addresses are asked for; the Pod's own servers when absent.
        probe: where the health probe listens, as HAProxy's `bind` spells it.

    Returns:
        guard.cfg and the files that it refers to. No credential is among them: the guard reads credentials from its
        environment (S3-40).
    """
    targets = tuple(_target(upstream, haproxy_ca_directory, public_ca) for upstream in topology.upstreams)
    files = {
        "failures.map": FAILURES,
        "response_limit.lua": template_text("response_limit.lua"),
        "upstreams.map": table(f"{target.upstream.name} {target.upstream.name}" for target in targets),
    }
    for target in targets:
        files[f"{target.address_file}.ipv4"] = table(target.addresses.ipv4)
        files[f"{target.address_file}.ipv6"] = table(target.addresses.ipv6)
    files["guard.cfg"] = render(
        "guard.cfg.j2",
        common=refusals.COMMON,
        directory=config_directory,
        hard_stop_ms=topology.longest_request_ms + DRAIN_MARGIN_MS,
        listen=listen,
        log_fields=LOG_FIELDS,
        max_connections=GUARD_CONNECTIONS,
        nameservers=(dns or DnsSettings()).nameservers,
        probe=probe,
        refusals=refusals,
        secret_directory=secret_directory,
        targets=targets,
        upstream_failed=_upstream_failed(config_directory),
        upstream_failed_code=_upstream_failed_code(config_directory),
    )
    return ConfigFiles(files)
