"""A compiled sidecar that runs in front of a counting upstream."""

import contextlib
import dataclasses
import hashlib
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509

from hearth.claim.claim import Claim
from hearth.compile.sidecar import POD_LAYOUT, SidecarConfig, SidecarLayout
from tests.support.compiling import compile_sidecar
from tests.support.pki import Authority
from tests.wire.client import Answer, Server, wait_for
from tests.wire.counting import CountingUpstream
from tests.wire.haproxy import Haproxy

ENDPOINT = "llama"
NAME = "llm-llama.system-llm.svc.cluster.local"
TOKEN = "canary-token-0123456789abcdefghijklmnopqrstuv"
OTHER_TOKEN = "canary-other-0123456789abcdefghijklmnopqrstuv"
RUNTIME_KEY = "canary-runtime-key-0123456789"
CHAT = "/v1/chat/completions"


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


@dataclass
class Bench:
    """A running sidecar, its upstream, and how to talk to it."""

    folder: Path
    config: SidecarConfig
    haproxy: Haproxy
    upstream: CountingUpstream
    server: Server
    authority: Authority

    def post(self, body: bytes = b"{}", *, target: str = CHAT, **headers: str) -> Answer:
        """POST with the right credential; `headers` add to it, with `_` for `-`."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.server.request("POST", target, body, {"Authorization": f"Bearer {TOKEN}", **named})

    def get(self, target: str) -> Answer:
        return self.server.request("GET", target, None, {"Authorization": f"Bearer {TOKEN}"})

    def write_tokens(self, *tokens: str) -> None:
        lines = "".join(f"{digest(token)} credential-{index}\n" for index, token in enumerate(tokens, 1))
        (self.folder / "tokens.map").write_text(lines)

    def write_certificate(self, authority: Authority, name: str = NAME) -> None:
        certificate, key = authority.issue(x509.DNSName(name), x509.IPAddress(ip_address("127.0.0.1")))
        (self.folder / "tls.crt").write_text(certificate)
        (self.folder / "tls.key").write_text(key)


def client_context(*authorities: Authority) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata="\n".join(authority.pem for authority in authorities))
    context.set_alpn_protocols(["http/1.1"])
    return context


@contextlib.contextmanager
def running_sidecar(
    binary: str,
    folder: Path,
    claim: Claim,
    *,
    master: bool = False,
    shorter: Mapping[str, str] | None = None,
    address: str = "127.0.0.1",
    layout: SidecarLayout = POD_LAYOUT,
    credential: Mapping[str, str] | None = None,
    checks_answered: bool = True,
    name: str = NAME,
) -> Iterator[Bench]:
    """Run the compiled sidecar of the endpoint `llama` and a counting upstream behind it.

    Args:
        binary: HAProxy.
        folder: an empty folder.
        claim: a claim with the endpoint `llama`.
        master: run with a master process, so that it can be reloaded.
        shorter: fixed times of the compiled text and what they become, so that a test need not wait for them.
        address: where the upstream listens.
        layout: the layout; its folders are replaced by the test's.
        credential: header of the right credential, for another kind than a bearer token.
        name: name in the certificate.
        checks_answered: let the upstream answer health checks from the start, and wait until it has answered one.
    """
    placed = dataclasses.replace(
        layout,
        config_directory=str(folder),
        secret_directory=str(folder),
        certificate=str(folder / "tls.crt"),
    )
    config = compile_sidecar(claim, ENDPOINT, placed)
    for file, text in config.files.items():
        for fixed, short in (shorter or {}).items():
            if file == "sidecar.cfg":
                assert fixed in text
                text = text.replace(fixed, short)
        (folder / file).write_text(text)
    (folder / "runtime.map").write_text(f"runtime {RUNTIME_KEY}\n")
    authority = Authority("sidecar CA")
    server = Server("127.0.0.1", 8443, client_context(authority), name)
    with CountingUpstream(address, 8081) as upstream:
        if not checks_answered:
            upstream.checks_answered.clear()
        bench = Bench(folder, config, None, upstream, server, authority)  # type: ignore[arg-type]
        bench.write_tokens(TOKEN, OTHER_TOKEN)
        bench.write_certificate(authority, name)
        with Haproxy(binary, folder, [folder / "sidecar.cfg"], [8443], master=master) as haproxy:
            bench.haproxy = haproxy
            if checks_answered:
                known = dict(credential or {"Authorization": f"Bearer {TOKEN}"})
                assert wait_for(lambda: server.request("GET", "/sidecar/health", None, known).status == 200)
            yield bench
