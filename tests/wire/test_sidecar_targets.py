"""Which requests reach the runtime: exact method and target, and nothing else opens a connection (S4-68 … S4-73)."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.proxy_claims import claim, sidecar_endpoint
from tests.wire.client import MALFORMED, head
from tests.wire.sidecar_bench import CHAT, ENDPOINT, TOKEN, Bench, running_sidecar

pytestmark = pytest.mark.wire

CREDENTIAL = {"Authorization": f"Bearer {TOKEN}"}
ALLOWED = [CHAT, "/v1/embeddings"]
WRONG_METHODS = ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "post", "CONNECT"]
WRONG_TARGETS = [
    "/",
    "/api/tags",
    "/api/generate",
    "/api/pull",
    "/api/create",
    "/api/delete",
    "/api/embed",
    "/api/blobs/sha256:0",
    "/api/tags?/v1/chat/completions",
    "/completion",
    "/health",
    "/metrics",
    "/props",
    "/slots",
    "/v1",
    "/v1/",
    "/v1/completions",
    "/v1/messages",
    "/v1/models",
    "/v1/responses",
    f"{CHAT}/",
    f"{CHAT}?",
    f"{CHAT}?x=1",
    f"{CHAT};a=b",
    f"{CHAT}%00",
    f"{CHAT}%20",
    f"/{CHAT}",
    "/v1//chat/completions",
    "/v1/./chat/completions",
    "/v1/../v1/chat/completions",
    "/v1/%2e%2e/v1/chat/completions",
    "/v1%2fchat/completions",
    "/%76%31/chat/completions",
    "/V1/chat/completions",
    "/v1/chat/Completions",
    "/sidecar",
    "/sidecar/",
    "/sidecar/health/",
    "/sidecar//health",
]


@pytest.fixture(scope="module")
def bench(haproxy_binary: str, folder: Path) -> Iterator[Bench]:
    found = claim({ENDPOINT: sidecar_endpoint()}, operations=("chat", "embedding"))
    with running_sidecar(haproxy_binary, folder, found) as running:
        yield running


@pytest.fixture(autouse=True)
def _fresh(bench: Bench) -> None:
    bench.upstream.reset()


@pytest.mark.parametrize("target", ALLOWED)
def test_a_declared_operation_reaches_the_runtime_unchanged(bench: Bench, target: str) -> None:
    body = '{"input": "é\\n", "model": "m"}'.encode()
    answer = bench.post(body, target=target)
    assert answer.status == 200
    assert answer.json()["path"] == target
    (request,) = bench.upstream.requests
    assert request.line == f"POST {target} HTTP/1.1"
    assert request.body == body


@pytest.mark.parametrize("method", WRONG_METHODS)
@pytest.mark.parametrize("target", ALLOWED)
def test_another_method_is_not_found(bench: Bench, method: str, target: str) -> None:
    answer = bench.server.request(method, target, b"{}", CREDENTIAL)
    assert answer.status in (*MALFORMED, 404)
    assert bench.upstream.connections == 0


@pytest.mark.parametrize("method", ["HEAD", "POST", "PUT", "OPTIONS"])
@pytest.mark.parametrize("target", ["/sidecar/health", "/sidecar/identity"])
def test_the_local_documents_are_read_only(bench: Bench, method: str, target: str) -> None:
    assert bench.server.request(method, target, b"{}", CREDENTIAL).status == 404
    assert bench.upstream.connections == 0


@pytest.mark.parametrize("target", WRONG_TARGETS)
def test_another_target_is_not_found_and_opens_no_connection(bench: Bench, target: str) -> None:
    answer = bench.server.request("POST", target, b"{}", CREDENTIAL)
    assert answer.status == 404
    assert answer.code == "not_found"
    assert bench.upstream.connections == 0


@pytest.mark.parametrize(
    "target",
    [
        f"{CHAT}#fragment",
        f"{CHAT}\x0b",
        f"{CHAT} extra",
        "*",
        "\\v1\\chat\\completions",
        "v1/chat/completions",
        "http://",
        "http:///v1",
    ],
)
def test_a_target_that_is_no_target_is_refused(bench: Bench, target: str) -> None:
    assert bench.server.request("POST", target, b"{}", CREDENTIAL).status in (*MALFORMED, 404)
    assert bench.upstream.connections == 0


def test_the_absolute_form_is_judged_by_its_path_and_never_chooses_the_upstream(bench: Bench) -> None:
    good = bench.server.request("POST", f"http://test{CHAT}", b"{}", CREDENTIAL)
    assert good.status == 200
    assert bench.upstream.requests[0].line == f"POST {CHAT} HTTP/1.1"
    bench.upstream.reset()
    assert bench.server.request("POST", f"http://evil{CHAT}", b"{}", CREDENTIAL).status in MALFORMED
    assert bench.server.request("POST", "http://test/api/tags", b"{}", CREDENTIAL).status == 404
    assert bench.upstream.connections == 0


def test_the_host_of_the_caller_is_not_trusted(bench: Bench) -> None:
    assert bench.post(Host="evil.example").status == 200
    assert bench.upstream.requests[0].header("host") == "127.0.0.1:8081"


@pytest.mark.parametrize("hosts", [[], ["a", "b"]])
def test_one_host_line_is_required(bench: Bench, hosts: list[str]) -> None:
    lines = "".join(f"Host: {host}\r\n" for host in hosts)
    data = (
        f"POST {CHAT} HTTP/1.1\r\n{lines}Authorization: Bearer {TOKEN}\r\n"
        "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    )
    assert bench.server.send(data.encode()).status == 400
    assert bench.upstream.connections == 0


def test_many_requests_on_one_connection_are_judged_one_by_one(bench: Bench) -> None:
    denied = head("POST", "/api/pull", CREDENTIAL, b"{}") + b"{}"
    allowed = head("POST", CHAT, CREDENTIAL, b"{}") + b"{}"
    with bench.server.connect() as connection:
        connection.sendall(allowed + denied + allowed)
        received = b""
        while received.count(b"HTTP/1.1 ") < 3 and (piece := connection.recv(65_536)):
            received += piece
    assert re.findall(rb"HTTP/1.1 (\d+)", received) == [b"200", b"404", b"200"]
    assert [request.line for request in bench.upstream.requests] == [f"POST {CHAT} HTTP/1.1"] * 2
