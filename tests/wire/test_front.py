"""The front: the client API with exact method and path, and nothing else reaches LiteLLM (S4-70, S3-59, C-8)."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hearth.compile.front import CLIENT_CONNECTIONS
from hearth.topology.resolve import resolve
from tests.support.proxy_claims import claim
from tests.wire.client import MALFORMED, Server, head, read_answer, wait_for
from tests.wire.counting import Connection, CountingUpstream, Gate, Request, answers
from tests.wire.front_bench import front_files
from tests.wire.haproxy import Haproxy

pytestmark = pytest.mark.wire

CHAT = "/v1/chat/completions"
KEY = {"Authorization": "Bearer sk-tenant"}
FRONT = Server("127.0.0.1", 4000)
PROBE = Server("127.0.0.1", 8406)


def front(binary: str, folder: Path) -> Haproxy:
    files = front_files(
        resolve(claim()),
        folder,
        litellm="127.0.0.1:4001",
        management="127.0.0.1:4102",
        management_door="127.0.0.1:4103",
    )
    for name, text in files.items():
        (folder / name).write_text(text.replace("check inter 2s", "check inter 200ms"))
    return Haproxy(binary, folder, [folder / "front.cfg"], [4000, 8406])


def test_readiness_waits_for_the_first_answer_of_litellm(image_haproxy_binary: str, tmp_path: Path) -> None:
    """HAProxy begins with LiteLLM up, and a LiteLLM that accepts and stays silent is not ready."""
    with CountingUpstream("127.0.0.1", 4001) as upstream:
        upstream.checks_answered.clear()
        with front(image_haproxy_binary, tmp_path):
            assert PROBE.request("GET", "/readyz").status == 503
            upstream.checks_answered.set()
            assert wait_for(lambda: PROBE.request("GET", "/readyz").status == 200)


@pytest.fixture(scope="module")
def haproxy(image_haproxy_binary: str, folder: Path) -> Iterator[Haproxy]:
    with front(image_haproxy_binary, folder) as running:
        yield running


@pytest.fixture(scope="module")
def running_litellm(haproxy: Haproxy) -> Iterator[CountingUpstream]:
    with CountingUpstream("127.0.0.1", 4001) as upstream:
        assert wait_for(lambda: PROBE.request("GET", "/readyz").status == 200)
        yield upstream


@pytest.fixture
def litellm(running_litellm: CountingUpstream) -> CountingUpstream:
    running_litellm.reset()
    return running_litellm


@pytest.mark.parametrize("target", [CHAT, "/v1/completions", "/v1/embeddings", "/v1/responses"])
def test_the_operations_pass(litellm: CountingUpstream, target: str) -> None:
    assert FRONT.request("POST", target, b'{"a": 1}', KEY).status == 200
    (request,) = litellm.requests
    assert request.line == f"POST {target} HTTP/1.1"
    assert request.body == b'{"a": 1}'
    assert request.header("authorization") == "Bearer sk-tenant"


@pytest.mark.parametrize("target", ["/v1/models", "/v1/models/gemma", "/v1/models/gemma3:270m-it_q4.1"])
def test_the_model_list_passes(litellm: CountingUpstream, target: str) -> None:
    assert FRONT.request("GET", target, None, KEY).status == 200
    assert litellm.requests[0].line == f"GET {target} HTTP/1.1"


MANAGEMENT = [
    "/",
    "/active/callbacks",
    "/budget/new",
    "/chat/completions",
    "/config/list",
    "/config/update",
    "/config/yaml",
    "/customer/new",
    "/debug/memory/summary",
    "/docs",
    "/embeddings",
    "/engines/m/chat/completions",
    "/favicon.ico",
    "/get/config/callbacks",
    "/global/spend",
    "/health",
    "/health/drain",
    "/health/liveliness",
    "/health/readiness",
    "/key/generate",
    "/key/info",
    "/key/list",
    "/metrics",
    "/model/info",
    "/model/new",
    "/models",
    "/openai/deployments/m/chat/completions",
    "/openapi.json",
    "/public/model_hub",
    "/redoc",
    "/routes",
    "/settings",
    "/spend/logs",
    "/sso/key/generate",
    "/team/new",
    "/test",
    "/ui",
    "/ui/",
    "/user/info",
    "/v1/audio/speech",
    "/v1/batches",
    "/v1/files",
    "/v1/images/generations",
    "/v1/mcp/tools",
    "/v1/messages",
    "/v1/model/info",
    "/v1/moderations",
    "/v1/realtime",
    "/v1/rerank",
    "/v1/responses/resp_1",
    "/v2/model/info",
    "/vertex_ai/x",
]
TRICKS = [
    f"{CHAT}/",
    f"{CHAT}?",
    f"{CHAT}?api_base=http://evil",
    f"{CHAT};x",
    f"{CHAT}%2f",
    f"/{CHAT}",
    "//v1/models",
    "/v1//models",
    "/v1/models/",
    "/v1/models?",
    "/v1/models?return_wildcard_routes=true",
    "/v1/models/a/b/c",
    "/v1/models/a%2Fb",
    "/v1/models/.",
    "/v1/models/..",
    "/v1/models/../../key/info",
    "/v1/models/%2e%2e/%2e%2e/key/info",
    "/v1/models/a/../../../key/list",
    "/v1/models/a?x",
    "/v1/./models",
    "/v1/../v1/models",
    "/v1/../key/info",
    "/v1%2fmodels",
    "/%76%31/models",
    "/V1/models",
    "/v1/MODELS",
]


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("target", MANAGEMENT + TRICKS)
def test_nothing_else_reaches_litellm(litellm: CountingUpstream, method: str, target: str) -> None:
    answer = FRONT.request(method, target, b"{}" if method == "POST" else None, KEY)
    assert (answer.status, answer.code) == (404, "not_found")
    assert litellm.connections == 0


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "post"])
def test_another_method_is_not_found(litellm: CountingUpstream, method: str) -> None:
    assert FRONT.request(method, CHAT, None, KEY).status in (400, 404)
    assert litellm.connections == 0


@pytest.mark.parametrize("method", ["HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
def test_the_model_list_is_read_only(litellm: CountingUpstream, method: str) -> None:
    assert FRONT.request(method, "/v1/models", b"{}", KEY).status == 404
    assert litellm.connections == 0


def test_only_the_clients_own_headers_reach_litellm(litellm: CountingUpstream) -> None:
    passed = {
        "Accept": "application/json",
        "Authorization": "Bearer sk-tenant",
        "Content-Length": "2",
        "Content-Type": "application/json",
        "Host": "llm-gateway:4000",
        "User-Agent": "OpenAI/Python 2",
        "X-LiteLLM-End-User-Id": "anna",
    }
    dropped = {
        "Connection": "keep-alive, X-Any",
        "Cookie": "token=x",
        "Forwarded": "for=1.2.3.4",
        "X-Any": "1",
        "X-Forwarded-For": "1.2.3.4",
        "X-LiteLLM-Api-Key": "sk-other",
        "X-LiteLLM-Customer-Id": "bob",
        "X-LiteLLM-Num-Retries": "99",
        "X-LiteLLM-Tags": "a",
        "X-LiteLLM-Timeout": "9999",
        "X-Real-IP": "1.2.3.4",
        "langfuse_trace_id": "x",
    }
    assert FRONT.request("POST", CHAT, b"{}", {**passed, **dropped}).status == 200
    (request,) = litellm.requests
    assert dict(request.headers) == {**{name.lower(): value for name, value in passed.items()}, "connection": "close"}


def test_headers_about_upstreams_do_not_reach_the_client(litellm: CountingUpstream) -> None:
    litellm.behaviour = answers(
        200,
        ("server", "uvicorn"),
        ("x-refusal", "x"),
        ("x-litellm-model-api-base", "http://127.0.0.1:9101/v1"),
        ("x-litellm-model-id", "deployment"),
        ("x-litellm-key-spend", "1"),
        ("x-litellm-call-id", "call"),
        ("x-litellm-response-cost", "0.1"),
        ("llm_provider-server", "vllm"),
        ("x-ratelimit-remaining-requests", "7"),
    )
    answer = FRONT.request("POST", CHAT, b"{}", KEY)
    assert set(answer.headers) == {
        "connection",
        "content-length",
        "content-type",
        "x-litellm-call-id",
        "x-litellm-response-cost",
        "x-ratelimit-remaining-requests",
    }


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({}, b"", 411),
        ({"Content-Length": "2x"}, b"{}", 400),
        ({"Content-Length": "16777217"}, b"", 413),
        ({"Content-Length": "4294967300"}, b"", 413),
        ({"Content-Length": "2", "Authorization": "Bearer a, Bearer b"}, b"{}", 400),
    ],
)
def test_framing_is_plain_and_bounded(
    litellm: CountingUpstream, headers: dict[str, str], body: bytes, status: int
) -> None:
    answer = FRONT.send(head("POST", CHAT, {**KEY, **headers}) + body)
    assert answer.status == status
    assert litellm.connections == 0


@pytest.mark.parametrize("coding", ["gzip", "gzip, chunked", "chunked, chunked", "chunked, identity", "xchunked"])
def test_no_other_transfer_coding_passes(litellm: CountingUpstream, coding: str) -> None:
    answer = FRONT.send(head("POST", CHAT, {**KEY, "Transfer-Encoding": coding}) + b"2\r\n{}\r\n0\r\n\r\n")
    assert answer.status in (400, 411, 422)
    assert litellm.connections == 0


@pytest.mark.parametrize("protocol", ["h2c", "h2c, websocket", "websocket", "any"])
def test_an_offer_of_another_protocol_is_ignored(litellm: CountingUpstream, protocol: str) -> None:
    """Java's client offers HTTP/2 in every first request."""
    offer = {"Connection": "Upgrade, HTTP2-Settings", "Upgrade": protocol, "HTTP2-Settings": "AAMAAABkAARAAAAAAAIAAAAA"}
    answer = FRONT.request("POST", CHAT, b"{}", {**KEY, **offer})
    # HAProxy itself reads one of a websocket that has no key as malformed.
    assert answer.status == 200 or (answer.status in MALFORMED and "websocket" in protocol)
    assert "upgrade" not in answer.headers
    for request in litellm.requests:
        assert request.names <= {"authorization", "connection", "content-length", "content-type", "host"}
        assert request.header("connection") == "close"


def test_a_chunked_body_passes_and_nothing_follows_it(litellm: CountingUpstream) -> None:
    """Its bytes are counted by the intake; what comes behind its end is no request."""
    body = b"2\r\n{}\r\n0\r\n\r\n"
    smuggled = head("GET", "/key/list", {"Authorization": "Bearer sk-tenant"})
    for more in ({}, {"Content-Length": "2"}):
        litellm.reset()
        answer = FRONT.send(head("POST", CHAT, {**KEY, "Transfer-Encoding": "chunked", **more}) + body + smuggled)
        assert answer.status in (200, *MALFORMED)
        for request in litellm.requests:
            assert request.body == body
            assert request.header("transfer-encoding") == "chunked"
            assert request.header("content-length") is None
        assert [request.line for request in litellm.requests] == [f"POST {CHAT} HTTP/1.1"] * (answer.status == 200)
        assert (answer.status == 200) or more


def test_whoever_waits_for_leave_to_send_gets_it_at_once(litellm: CountingUpstream) -> None:
    headers = {**KEY, "Expect": "100-continue", "Content-Length": "2", "Content-Type": "application/json"}
    with FRONT.connect() as connection:
        connection.sendall(head("POST", CHAT, headers))
        assert connection.recv(64).startswith(b"HTTP/1.1 100 ")
        assert litellm.requests == []
        connection.sendall(b"{}")
        assert read_answer(connection, "POST").status == 200
    assert litellm.requests[0].header("expect") is None


def test_whoever_may_not_send_gets_no_leave(litellm: CountingUpstream) -> None:
    headers = {**KEY, "Expect": "100-continue", "Content-Length": "16777217"}
    with FRONT.connect() as connection:
        connection.sendall(head("POST", CHAT, headers))
        assert read_answer(connection, "POST").status == 413
    assert litellm.connections == 0


def test_http2_by_prior_knowledge_is_refused(litellm: CountingUpstream) -> None:
    with FRONT.connect() as connection:
        connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
        assert connection.recv(64).startswith(b"HTTP/1.1 400")
    assert litellm.connections == 0


def test_a_connection_serves_one_request_and_says_so(litellm: CountingUpstream) -> None:
    with FRONT.connect() as connection:
        connection.sendall(head("POST", CHAT, KEY, b"{}") + b"{}")
        answer = read_answer(connection, "POST")
        assert answer.status == 200
        assert answer.headers["connection"] == "close"
        assert connection.recv(1) == b""


def test_events_pass_one_by_one(litellm: CountingUpstream) -> None:
    gates = [Gate() for _ in range(3)]

    def stream(connection: Connection, _: Request) -> None:
        connection.start_stream()
        for number, gate in enumerate(gates):
            gate.wait()
            connection.chunk(f"event-{number}".encode())
        connection.end_stream()

    litellm.behaviour = stream
    with FRONT.connect() as connection:
        connection.sendall(head("POST", CHAT, KEY, b"{}") + b"{}")
        received = b""
        for number, gate in enumerate(gates):
            gate.open()
            while f"event-{number}".encode() not in received:
                piece = connection.recv(65_536)
                assert piece
                received += piece


def test_one_client_cannot_take_every_place(litellm: CountingUpstream) -> None:
    gate = litellm.behaviour = Gate()
    elsewhere = Server("10.77.0.1", 4000)
    with ThreadPoolExecutor(CLIENT_CONNECTIONS + 8) as pool:
        found = [pool.submit(FRONT.request, "POST", CHAT, b"{}", KEY, 40) for _ in range(CLIENT_CONNECTIONS + 4)]
        assert wait_for(lambda: sum(answer.done() for answer in found) == 4)
        refused = [answer.result() for answer in found if answer.done()]
        gate.open()
        results = [answer.result().status for answer in found]
    assert {(answer.status, answer.code) for answer in refused} == {(429, "too_many_connections")}
    assert {answer.headers["retry-after"] for answer in refused} == {"1"}
    assert results.count(200) == CLIENT_CONNECTIONS
    assert elsewhere.request("POST", CHAT, b"{}", KEY).status == 200


def test_readiness_follows_litellm_and_a_dead_one_is_unavailable(litellm: CountingUpstream) -> None:
    litellm.healthy = False
    assert wait_for(lambda: PROBE.request("GET", "/readyz").status == 503)
    answer = FRONT.request("POST", CHAT, b"{}", KEY)
    assert (answer.status, answer.code) == (503, "unavailable")
    assert litellm.requests == []
    litellm.healthy = True
    assert wait_for(lambda: PROBE.request("GET", "/readyz").status == 200)
    assert FRONT.request("POST", CHAT, b"{}", KEY).status == 200


def test_liveness_is_litellms_own_and_the_probe_has_no_other_answer(litellm: CountingUpstream) -> None:
    assert PROBE.request("GET", "/health/liveliness").status == 200
    for method, target in (("GET", "/health"), ("GET", "/key/list"), ("POST", "/health/liveliness"), ("GET", CHAT)):
        assert PROBE.request(method, target, b"{}" if method == "POST" else None).status == 404
    assert litellm.requests == []


def test_the_log_has_no_target_no_key_and_no_body(haproxy: Haproxy, litellm: CountingUpstream) -> None:
    before = len(haproxy.log())
    canary = "zq7canary"
    FRONT.request("POST", CHAT, canary.encode(), {**KEY, f"X-{canary}": canary})
    FRONT.request("GET", f"/{canary}", None, {"Authorization": f"Bearer {canary}"})
    haproxy.lines(1, after=before, proxy="front", operation="chat", status=200, client="127.0.0.1")
    haproxy.lines(1, after=before, proxy="front", operation="-", status=404, code="not_found")
    assert canary not in haproxy.text()
    assert "sk-tenant" not in haproxy.text()
