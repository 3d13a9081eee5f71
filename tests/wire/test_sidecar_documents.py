"""/sidecar/health and /sidecar/identity: local, authenticated, and about the certificate of this very connection."""

import hashlib
import json
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from hearth.compile.files import ConfigFiles
from tests.support.proxy_claims import capacity, claim, sidecar_endpoint
from tests.wire.client import Server, wait_for
from tests.wire.sidecar_bench import ENDPOINT, NAME, RUNTIME_KEY, TOKEN, Bench, running_sidecar

pytestmark = pytest.mark.wire

RUNTIME_ID = 'box 1/"llama" 100% ü'


@pytest.fixture(scope="module")
def bench(haproxy_binary: str, folder: Path) -> Iterator[Bench]:
    endpoint = sidecar_endpoint(runtimeCapacity={**capacity(), "physicalRuntimeId": RUNTIME_ID})
    found = claim({ENDPOINT: endpoint}, operations=("chat", "responses"))
    shorter = {"check inter 5s": "check inter 200ms"}
    with running_sidecar(haproxy_binary, folder, found, shorter=shorter) as running:
        yield running


@pytest.fixture(autouse=True)
def _fresh(bench: Bench) -> None:
    bench.upstream.reset()


def served_certificate(bench: Bench) -> x509.Certificate:
    context = ssl.create_default_context(cadata=bench.authority.pem)
    plain = socket.create_connection(("127.0.0.1", 8443), 5)
    with context.wrap_socket(plain, server_hostname=NAME) as connection:
        der = connection.getpeercert(binary_form=True)
    assert der is not None
    return x509.load_der_x509_certificate(der)


def test_identity_says_what_runs_here(bench: Bench) -> None:
    answer = bench.get("/sidecar/identity")
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    document = answer.json()
    certificate = document.pop("certificate")
    assert document.pop("tls") == "TLSv1.3"
    assert document == {
        "profile": "model-provider-sidecar/v1",
        "configSha256": bench.config.config_sha256,
        "filesSha256": bench.config.files_sha256,
        "physicalRuntimeId": RUNTIME_ID,
        "operations": [
            {"operation": "chat", "method": "POST", "path": "/v1/chat/completions"},
            {"operation": "responses", "method": "POST", "path": "/v1/responses"},
        ],
    }
    served = served_certificate(bench)
    der = served.public_bytes(Encoding.DER)
    assert certificate["sha256"] == hashlib.sha256(der).hexdigest()
    assert int(certificate["serial"], 16) == served.serial_number
    assert certificate["notAfter"] == served.not_valid_after_utc.strftime("%y%m%d%H%M%SZ")
    assert certificate["notBefore"] == served.not_valid_before_utc.strftime("%y%m%d%H%M%SZ")
    assert certificate["issuerCn"] == "sidecar CA"
    assert certificate["subjectCn"] == served.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value
    assert bench.upstream.connections == 0


def test_the_digest_is_that_of_the_installed_files(bench: Bench) -> None:
    installed = {
        path.name: path.read_text()
        for path in bench.folder.iterdir()
        if path.name in ("sidecar.cfg", "response_limit.lua")
    }
    original = installed["sidecar.cfg"].replace("check inter 200ms", "check inter 5s")
    assert ConfigFiles({**installed, "sidecar.cfg": original}).digest == bench.config.files_sha256
    assert ConfigFiles(installed).digest != bench.config.files_sha256, "another text has another digest"


def test_health_is_fixed_and_carries_no_identity(bench: Bench) -> None:
    answer = bench.get("/sidecar/health")
    assert (answer.status, answer.json()) == (200, {"status": "ok"})
    assert answer.headers["cache-control"] == "no-store"
    assert bench.upstream.connections == 0


def test_health_follows_the_runtime(bench: Bench) -> None:
    probe = Server("127.0.0.1", 8405)
    bench.upstream.healthy = False
    assert wait_for(lambda: bench.get("/sidecar/health").status == 503)
    assert bench.get("/sidecar/health").json() == {"status": "down"}
    assert probe.request("GET", "/healthz").status == 503
    bench.upstream.healthy = True
    assert wait_for(lambda: bench.get("/sidecar/health").status == 200)
    assert probe.request("GET", "/healthz").status == 200


def test_the_probe_has_no_other_answer(bench: Bench) -> None:
    probe = Server("127.0.0.1", 8405)
    for method, target in (
        ("GET", "/sidecar/identity"),
        ("POST", "/v1/chat/completions"),
        ("GET", "/"),
        ("GET", "/healthz/"),
    ):
        assert probe.request(method, target, b"{}" if method == "POST" else None).status == 404
    assert bench.upstream.connections == 0


def test_the_documents_hold_no_secret(bench: Bench) -> None:
    text = json.dumps([bench.get("/sidecar/identity").json(), bench.get("/sidecar/health").json()])
    assert TOKEN not in text
    assert RUNTIME_KEY not in text
