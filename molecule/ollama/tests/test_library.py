"""A model of the Ollama library is pulled and is only used when its manifest has the declared digest (U-22).

The library is a mock: an HTTPS server with the files of a model that Ollama itself made, under the library's name.
"""

import contextlib
import hashlib
import http.server
import json
import re
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import openai
import pytest
from cryptography import x509

from tests.support.edge import ROOT, EdgeHost, ephemeral, hosts, play
from tests.support.pki import Authority
from tests.support.serving import serving

REGISTRY = "registry.ollama.ai"
BLOBS = "blobs.library.test"
"""Where the library sends a client for the parts of a model, as the real one does."""
STORE = "/var/lib/hearth/ollama/ollama-debian13/models"
CLAIM = "site/stacks/Pulumi.edge.yaml"


class Library(http.server.BaseHTTPRequestHandler):
    """Serves manifests and blobs as a registry does."""

    folder: Path

    def do_GET(self) -> None:
        kind, name = self.path.split("/")[-2:]
        file = self.folder / ("manifest" if kind == "manifests" else name.replace(":", "-"))
        if self.path.endswith("/huge/manifests/latest"):
            file = self.folder / "huge"
        if not file.is_file():
            self.send_error(404)
            return
        if kind == "blobs" and self.headers["Host"] == REGISTRY:
            self.send_response(307)
            self.send_header("Location", f"https://{BLOBS}{self.path}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        first, last = 0, file.stat().st_size - 1
        if match := re.match(r"bytes=(\d+)-(\d+)?", self.headers.get("Range", "")):
            first, last = int(match[1]), int(match[2] or last)
        self.send_response(206 if "Range" in self.headers else 200)
        self.send_header("Content-Length", str(last - first + 1))
        self.send_header("Accept-Ranges", "bytes")
        self.end_headers()
        if self.command == "GET":
            with file.open("rb") as source:
                source.seek(first)
                self.wfile.write(source.read(last - first + 1))

    do_HEAD = do_GET  # noqa: N815 - the name that http.server calls

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def host() -> EdgeHost:
    return next(one for one in hosts() if one.name.startswith("debian13"))


@pytest.fixture(scope="module")
def digest(host: EdgeHost, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run the library on the network's own address, where the host finds it under its real name."""
    folder = tmp_path_factory.mktemp("library")
    # `ollama create` ends the file with a newline; a library's manifest has none, and `ollama pull` writes none
    manifest = host.inside.file(f"{STORE}/manifests/{REGISTRY}/library/gemma3-270m/latest").content.rstrip(b"\n")
    (folder / "manifest").write_bytes(manifest)
    huge = json.loads(manifest)
    huge["layers"][0]["size"] = 1 << 50
    (folder / "huge").write_text(json.dumps(huge))
    for name in host.run(f"ls {STORE}/blobs").splitlines():
        (folder / name).write_bytes(host.inside.file(f"{STORE}/blobs/{name}").content)
    authority = Authority("library CA")
    certificate, key = authority.issue(x509.DNSName(REGISTRY), x509.DNSName(BLOBS))
    (folder / "tls.pem").write_text(certificate + key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "tls.pem")
    gateway = host.run("ip route show default").split()[2]
    server = http.server.ThreadingHTTPServer((gateway, 443), type("Here", (Library,), {"folder": folder}))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    host.run("printf %%s %s >/usr/local/share/ca-certificates/library.crt && update-ca-certificates", authority.pem)
    host.run("echo %s >>/etc/hosts", f"{gateway} {REGISTRY} {BLOBS}")
    with serving(server):
        yield hashlib.sha256(manifest).hexdigest()
        with contextlib.suppress(subprocess.SubprocessError):
            host.run("rm /usr/local/share/ca-certificates/library.crt && update-ca-certificates --fresh")


def declare(digest: str) -> None:
    """Let the endpoint of the host serve a model of the library."""
    file = ephemeral() / CLAIM
    before, after = file.read_text().split("    ollama-debian13:\n", 1)
    after = re.sub(
        r"\{source: \{[^}]*\}, digest: [^}]*\}",
        f'{{source: {{ollama: "pulled:1"}}, digest: "sha256:{digest}"}}',
        after,
        count=1,
    )
    text = f"{before}    ollama-debian13:\n{after}"
    head, deployment = text.split("    ollama-debian13-gemma:\n", 1)
    deployment = re.sub(r"model: \S+", 'model: "pulled:1"', deployment, count=1)
    file.write_text(f"{head}    ollama-debian13-gemma:\n{deployment}")


def test_a_proxy_that_cannot_be_reached_is_one_short_message(host: EdgeHost) -> None:
    """The pull goes through the proxy that the inventory names."""
    claim = (ephemeral() / CLAIM).read_text()
    declare("0" * 64)
    proxy = '{"common_proxy": {"https_proxy": "http://127.0.0.1:9"}}'
    try:
        found = play("playbooks/edge.yml", "--limit", host.name, "-e", proxy, check=False)
    finally:
        (ephemeral() / CLAIM).write_text(claim)
    assert found.returncode != 0
    said = " ".join(found.stdout.split())
    assert "the model pulled:1 could not be brought from pulled:1: ollama pull ended with 1: Error:" in said
    assert "proxyconnect" in said
    assert "127.0.0.1:9: connect: connection refused. See that the host reaches it" in said
    assert "\x1b" not in found.stdout
    assert host.run(f"ls -A {STORE}/.. | grep incoming || true") == ""


@pytest.mark.usefixtures("digest")
def test_a_model_that_is_larger_than_the_disk_is_refused_before_anything_is_brought(host: EdgeHost) -> None:
    """As the role calls it; what it says is the role's message, as above."""
    program = (ROOT / "roles/ollama/files/models.py").read_text()
    ollama = host.run("ls -d /opt/hearth/ollama/*/program")
    found = host.inside.run(
        "python3 -I -c %s provide %s %s huge %s", program, ollama, STORE.removesuffix("/models"), "0" * 64
    )
    assert found.rc != 0
    assert "MiB are needed (1073741" in found.stderr
    assert "ollama pull" not in found.stderr
    assert host.run(f"ls -A {STORE}/.. | grep incoming || true") == ""


def test_another_version_in_the_library_is_refused(host: EdgeHost, digest: str) -> None:
    declare("0" * 64)
    found = play("playbooks/edge.yml", "--limit", host.name, check=False)
    assert found.returncode != 0
    assert f"the model pulled:1 came with the digest {digest}" in " ".join(found.stdout.split())
    assert "pulled" not in host.run(f"find {STORE}/manifests")
    with host.sidecars[0].client() as client:  # what served before goes on
        assert client.chat.completions.create(
            model="gemma3-270m", messages=[{"role": "user", "content": "Hello"}], max_tokens=2
        ).choices


def test_the_declared_version_is_served(host: EdgeHost, digest: str) -> None:
    declare(digest)
    play("playbooks/edge.yml", "--limit", host.name)
    with host.sidecars[0].client() as client:
        answer = client.chat.completions.create(
            model="pulled:1", messages=[{"role": "user", "content": "Hello"}], max_tokens=4
        )
        assert answer.choices[0].message.content
        with pytest.raises(openai.NotFoundError):  # what is no longer declared is no longer served
            client.chat.completions.create(
                model="gemma3-270m", messages=[{"role": "user", "content": "Hello"}], max_tokens=2
            )
    assert "changed=0" in play("playbooks/edge.yml", "--limit", host.name, "-e", "hearth_full=true").stdout
