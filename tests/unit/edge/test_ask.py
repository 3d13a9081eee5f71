"""The question to a sidecar is asked as the gateway's HAProxy would ask it."""

import http.server
import json
import ssl
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from tests.support.serving import serving

ASK = (Path(__file__).parents[3] / "roles/tls_sidecar/files/ask.py").read_text(encoding="utf-8")


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        text = self.path.encode()
        self.send_response(200 if self.headers["Authorization"] == "Bearer good" else 401)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args: object) -> None:
        pass


def certificate(folder: Path) -> str:
    """Write a server's certificate and key, return its authority's: without key identifiers, as simple tools do."""
    keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    names = [x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]) for name in ("site", "gpu")]
    server = x509.SubjectAlternativeName([x509.DNSName("gpu.lan.test")])
    made = []
    for name, key, extension in zip(
        names, keys, (x509.BasicConstraints(ca=True, path_length=None), server), strict=True
    ):
        now = datetime.now(UTC)
        builder = x509.CertificateBuilder(names[0], name, key.public_key(), x509.random_serial_number())
        builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
        made.append(builder.add_extension(extension, critical=False).sign(keys[0], SHA256()).public_bytes(Encoding.PEM))
    (folder / "pem").write_bytes(made[1] + keys[1].private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return made[0].decode()


@pytest.fixture
def question(tmp_path: Path) -> Iterator[dict[str, object]]:
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    bundle = certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    with serving(server):
        yield {
            "address": "127.0.0.1",
            "port": server.server_port,
            "host": "gpu.lan.test",
            "bundle": bundle,
            "header": "Authorization",
            "credential": "Bearer good",
            "path": "/sidecar/health",
        }


def asked(question: dict[str, object]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", "-c", ASK], input=json.dumps(question), capture_output=True, text=True, check=False
    )


def test_a_chain_that_the_gateway_takes_is_taken(question: dict[str, object]) -> None:
    assert asked(question).stdout == "/sidecar/health\n"


@pytest.mark.parametrize(
    ("wrong", "status", "said"),
    [
        ({"credential": "Bearer bad"}, 1, "answers with 401"),
        ({"host": "other.lan.test"}, 1, "Hostname mismatch"),
        ({"port": 1}, 2, "no connection to 127.0.0.1 port 1"),
    ],
)
def test_what_is_wrong_is_said(question: dict[str, object], wrong: dict[str, object], status: int, said: str) -> None:
    found = asked({**question, **wrong})
    assert found.returncode == status
    assert said in found.stderr
