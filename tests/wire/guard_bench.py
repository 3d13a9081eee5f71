"""A compiled guard that runs with a name server of its own; upstreams are made by the tests."""

import contextlib
import ipaddress
import ssl
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509

from hearth.claim.claim import Claim
from hearth.compile.guard import DnsSettings, compile_guard
from hearth.compile.manifests.credentials import guard_contents
from hearth.topology.resolve import resolve
from tests.support.pki import Authority
from tests.wire.client import Answer, Server, head, read_answer
from tests.wire.counting import CountingUpstream
from tests.wire.dns_stub import DnsStub
from tests.wire.haproxy import Haproxy

NAME = "gpu.lan.test"
VENDOR = "api.vendor.example"
INSIDE = "10.77.0.1"
ALSO_INSIDE = "10.77.0.2"
OUTSIDE = "10.77.1.1"
DNS_PORT = 5399
CHAT = "/chat/completions"
GUARD_PORT = 9443
GUARD_HOST = "llm-guard-0.system-llm.svc.cluster.local"


@dataclass
class Bench:
    """A running guard and its name server."""

    haproxy: Haproxy
    dns: DnsStub
    servers: Mapping[str, "Upstream"]

    def post(
        self,
        upstream: str,
        body: bytes = b"{}",
        *,
        target: str = CHAT,
        headers: Mapping[str, str] | None = None,
        timeout: float = 20,
    ) -> Answer:
        """Ask as the gateway's front does."""
        return self.servers[upstream].request("POST", target, body, dict(headers or {}), timeout)


@dataclass(frozen=True)
class Upstream(Server):
    """The guard as the gateway asks it for one upstream: below its path and with the credential that opens it."""

    upstream: str = ""

    def head(self, method: str, target: str, headers: dict[str, str] | None = None, body: bytes | None = None) -> bytes:
        """A request head; the target is below the upstream's path."""
        sent = {"Authorization": f"Bearer {caller_token(self.upstream)}", **(headers or {})}
        return head(method, f"/u/{self.upstream}{target}", sent, body)


def caller_token(upstream: str) -> str:
    """The credential that opens an upstream."""
    return f"caller-of-{upstream}"


class Kept:
    """A client that keeps one connection to the guard and asks over it again and again, as LiteLLM does."""

    def __init__(self, bench: Bench, upstream: str) -> None:
        self._server = bench.servers[upstream]
        self._connection = self._server.connect()

    def __enter__(self) -> "Kept":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def post(self) -> Answer:
        self._connection.sendall(self._server.head("POST", CHAT, {}, b"{}") + b"{}")
        return read_answer(self._connection, "POST")


def leaf(
    authority: Authority, folder: Path, *names: str, days: float = 10, common_name: str = "test server"
) -> tuple[Path, Path]:
    """Write a certificate for names and addresses, and return its file and its key's."""
    found = [_general_name(name) for name in names]
    certificate, key = authority.issue(*found, days=days, common_name=common_name)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tls.crt").write_text(certificate)
    (folder / "tls.key").write_text(key)
    return folder / "tls.crt", folder / "tls.key"


def _general_name(name: str) -> x509.GeneralName:
    with contextlib.suppress(ValueError):
        return x509.IPAddress(ipaddress.ip_address(name))
    return x509.DNSName(name)


@contextlib.contextmanager
def running_guard(
    binary: str,
    folder: Path,
    claim: Claim,
    *,
    authority: Authority | None = None,
    public: Authority | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Bench]:
    """Run the compiled guard.

    Args:
        binary: HAProxy.
        folder: an empty folder.
        claim: the claim.
        authority: CA of the bundle `lan-ca`.
        public: stands for the public CAs.
        environment: the guard's credentials.
    """
    topology = resolve(claim)
    own = Authority("the guard's CA")
    files = compile_guard(
        topology,
        listen=f"127.0.0.1:{GUARD_PORT}",
        config_directory=str(folder),
        secret_directory=str(folder / "secret"),
        haproxy_ca_directory=str(folder / "ca"),
        public_ca=str(folder / "ca/public.pem"),
        dns=DnsSettings((f"127.0.0.1:{DNS_PORT}",)),
    )
    for name, text in files.files.items():
        (folder / name).write_text(text)
    for name, found in (("ca/lan-ca.pem", authority), ("ca/public.pem", public)):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text((found or Authority("nobody's CA")).pem)
    guard_secret(folder / "secret", own, GUARD_HOST, [found.name for found in topology.upstreams])
    tls = trusting(own)
    servers = {
        found.name: Upstream("127.0.0.1", GUARD_PORT, tls, GUARD_HOST, found.name) for found in topology.upstreams
    }
    with (
        DnsStub(DNS_PORT) as dns,
        Haproxy(binary, folder, [folder / "guard.cfg"], [8405, GUARD_PORT], environment=environment) as haproxy,
    ):
        yield Bench(haproxy, dns, servers)


def guard_secret(folder: Path, authority: Authority, host: str, upstreams: Sequence[str]) -> None:
    """Write what the guard's Secret has."""
    certificate, key = authority.issue(x509.DNSName(host))
    folder.mkdir(parents=True, exist_ok=True)
    tokens = {name: caller_token(name) for name in upstreams}
    for name, text in guard_contents(tokens, certificate=certificate, private_key=key).items():
        (folder / name).write_text(text)


def trusting(authority: Authority) -> ssl.SSLContext:
    """A client's context that trusts one CA and no other."""
    return ssl.create_default_context(cadata=authority.pem)


@contextlib.contextmanager
def tls_upstream(
    authority: Authority, folder: Path, address: str, *names: str, port: int = 8443, **issue: float | str
) -> Iterator[CountingUpstream]:
    """Run a counting upstream with a certificate for the given names."""
    certificate = leaf(authority, folder / f"{address}-{port}".replace(":", "_"), *names, **issue)  # type: ignore[arg-type]
    with CountingUpstream(address, port, tls=certificate) as upstream:
        yield upstream
