"""What crosses the guard: paths, credentials, headers, sizes, queue, streams, and what is logged."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.pki import Authority
from tests.support.proxy_claims import capacity, claim, plaintext_endpoint, private_endpoint
from tests.wire.client import Server, wait_for
from tests.wire.counting import Connection, CountingUpstream, Gate, Request, answers, says
from tests.wire.guard_bench import INSIDE, NAME, Bench, running_guard, tls_upstream

pytestmark = pytest.mark.wire

OWN = Authority("the endpoint's CA")
CREDENTIAL = "canary-endpoint-credential"
PLACEHOLDER = "canary-placeholder"
TARGET = "/chat/completions"
HEADERS = {"x-hearth-team": 'it\'s 100% "ours" \\ %[src]', "x-plain": "a, b"}


def auth(mode: str, **more: str) -> dict[str, str]:
    return {"mode": mode, "credentialRef": "credential://lan/workload", **more}


@pytest.fixture(scope="module")
def bench(image_haproxy_binary: str, folder: Path) -> Iterator[Bench]:
    url = f"https://{NAME}:8443/base/v1"
    bounds = capacity(2, 2, request_ms=3_000, setup_ms=2_000)
    found = claim(
        {
            "bearer": private_endpoint(url, headers=HEADERS, runtimeCapacity=bounds),
            "key": private_endpoint(url, endpointAuth=auth("api_key", header="x-api-key")),
            "raw": private_endpoint(url, endpointAuth=auth("api_key", header="authorization")),
            "none": private_endpoint(url, endpointAuth={"mode": "none"}),
            "missing": private_endpoint(url),
            "empty": private_endpoint(url),
            "newline": private_endpoint(url),
            "unqueued": private_endpoint(url, runtimeCapacity=capacity(2, 0)),
            "plain": plaintext_endpoint(f"http://{NAME}:11434"),
        }
    )
    environment = {
        "ENDPOINT_CREDENTIAL_BEARER": CREDENTIAL,
        "ENDPOINT_CREDENTIAL_KEY": CREDENTIAL,
        "ENDPOINT_CREDENTIAL_RAW": CREDENTIAL,
        "ENDPOINT_CREDENTIAL_EMPTY": "",
        "ENDPOINT_CREDENTIAL_NEWLINE": f"{CREDENTIAL}\n",
        "ENDPOINT_CREDENTIAL_UNQUEUED": CREDENTIAL,
    }
    with running_guard(image_haproxy_binary, folder, found, authority=OWN, environment=environment) as running:
        running.dns.names[NAME] = [INSIDE]
        yield running


@pytest.fixture(scope="module")
def shared(folder: Path, network: None) -> Iterator[CountingUpstream]:
    with tls_upstream(OWN, folder, INSIDE, NAME) as upstream:
        yield upstream


@pytest.fixture
def upstream(shared: CountingUpstream) -> CountingUpstream:
    shared.reset()
    return shared


def ask(bench: Bench, name: str, body: bytes = b"{}", **headers: str):  # type: ignore[no-untyped-def]
    named = {"X-Api-Key": PLACEHOLDER}
    named.update({key.replace("_", "-"): value for key, value in headers.items()})
    return bench.post(f"endpoint-{name}", body, target=TARGET, headers=named)


@pytest.mark.parametrize(
    ("name", "header", "value"),
    [
        ("bearer", "authorization", f"Bearer {CREDENTIAL}"),
        ("key", "x-api-key", CREDENTIAL),
        ("raw", "authorization", CREDENTIAL),
    ],
)
def test_the_endpoints_own_credential_takes_the_place_of_the_callers(
    bench: Bench, upstream: CountingUpstream, name: str, header: str, value: str
) -> None:
    assert ask(bench, name).status == 200
    (request,) = upstream.requests
    credentials = [(key, found) for key, found in request.headers if key in ("authorization", "x-api-key")]
    assert credentials == [(header, value)]


def test_no_authentication_is_no_credential_header_at_all(bench: Bench, upstream: CountingUpstream) -> None:
    assert ask(bench, "none").status == 200
    assert upstream.requests[0].names.isdisjoint({"authorization", "x-api-key", "api-key", "proxy-authorization"})


@pytest.mark.parametrize(
    ("name", "code"),
    [("missing", "credential_missing"), ("empty", "credential_missing"), ("newline", "credential_malformed")],
)
def test_without_its_credential_an_upstream_is_not_connected_to(
    bench: Bench, upstream: CountingUpstream, name: str, code: str
) -> None:
    queries = bench.dns.queries
    answer = ask(bench, name)
    assert (answer.status, answer.code) == (401, code)
    assert answer.json()["error"]["type"] == "authentication_error"
    assert answer.headers["x-refusal"] == code
    bench.haproxy.lines(1, upstream=f"endpoint-{name}", status=401, code=code)
    assert upstream.connections == 0
    assert bench.dns.queries == queries, "nothing is looked up either"


def test_exactly_the_declared_headers_reach_the_upstream(bench: Bench, upstream: CountingUpstream) -> None:
    answer = ask(
        bench,
        "bearer",
        b'{"a":1}',
        Accept="text/event-stream",
        Accept_Encoding="gzip",
        Connection="keep-alive, X-Hop",
        Cookie="a=b",
        User_Agent="OpenAI/Python",
        X_Forwarded_For="1.2.3.4",
        X_Hearth_Team="evil",
        X_Hop="1",
        X_Stainless_Os="Linux",
    )
    assert answer.status == 200
    (request,) = upstream.requests
    assert request.body == b'{"a":1}'
    assert sorted(request.headers) == sorted(
        {
            "accept": "application/json",
            "accept-encoding": "identity",
            "authorization": f"Bearer {CREDENTIAL}",
            "connection": "close",
            "content-length": "7",
            "content-type": "application/json",
            "host": f"{NAME}:8443",
            "user-agent": "hearth",
            **HEADERS,
        }.items()
    )


def test_nothing_that_names_the_upstream_comes_back(bench: Bench, upstream: CountingUpstream) -> None:
    upstream.behaviour = answers(
        429,
        ("server", "vllm"),
        ("x-refusal", "x"),
        ("x-ratelimit-remaining", "1"),
        ("set-cookie", "a=b"),
        ("retry-after", "9"),
    )
    answer = ask(bench, "bearer")
    assert answer.status == 429
    assert set(answer.headers) == {"content-type", "content-length", "retry-after"}


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("GET", TARGET),
        ("PUT", TARGET),
        ("POST", "/v1/chat/completions"),
        ("POST", "/base/v1/chat/completions"),
        ("POST", "/embeddings"),
        ("POST", "/models"),
        ("POST", "/files"),
        ("POST", f"{TARGET}/"),
        ("POST", f"{TARGET}?a=b"),
        ("POST", f"/{TARGET}"),
        ("POST", "/../endpoint-bearer/chat/completions"),
        ("POST", "/chat%2fcompletions"),
        ("POST", "/"),
    ],
)
def test_another_method_or_path_is_not_found(
    bench: Bench, upstream: CountingUpstream, method: str, target: str
) -> None:
    answer = bench.servers["endpoint-bearer"].request(method, target, b"{}" if method == "POST" else None)
    assert (answer.status, answer.code) == (404, "not_found")
    assert upstream.connections == 0


def test_a_body_needs_a_length_within_the_bound(bench: Bench, upstream: CountingUpstream) -> None:
    server = bench.servers["endpoint-bearer"]
    chunked = server.send(server.head("POST", TARGET, {"Transfer-Encoding": "chunked"}) + b"2\r\n{}\r\n0\r\n\r\n")
    assert (chunked.status, chunked.code) == (411, "length_required")
    large = server.send(server.head("POST", TARGET, {"Content-Length": str(16_777_217)}))
    assert (large.status, large.code) == (413, "request_too_large")
    assert upstream.connections == 0


def test_an_answer_above_the_bound_is_refused(bench: Bench, upstream: CountingUpstream) -> None:
    upstream.behaviour = says(b"HTTP/1.1 200 OK\r\ncontent-length: 67108865\r\n\r\n")
    answer = ask(bench, "bearer")
    assert (answer.status, answer.code) == (502, "response_too_large")


@pytest.mark.parametrize(("name", "places"), [("bearer", 4), ("unqueued", 2)])
def test_a_burst_gets_exactly_the_declared_places(
    bench: Bench, upstream: CountingUpstream, name: str, places: int
) -> None:
    gate = upstream.behaviour = Gate()
    with ThreadPoolExecutor(12) as pool:
        found = [pool.submit(ask, bench, name) for _ in range(12)]
        assert wait_for(lambda: sum(answer.done() for answer in found) == 12 - places and gate.held == 2)
        gate.open()
        results = [answer.result() for answer in found]
    assert sorted(answer.status for answer in results) == [200] * places + [429] * (12 - places)
    refused = [answer for answer in results if answer.status == 429]
    assert {(answer.code, answer.headers["retry-after"]) for answer in refused} == {("queue_full", "1")}
    assert gate.most_held == 2
    assert len(upstream.requests) == places


def test_one_full_upstream_does_not_stop_another(bench: Bench, upstream: CountingUpstream) -> None:
    gate = Gate()

    def only_the_first(connection: Connection, request: Request) -> None:
        if request.header("x-plain"):
            gate(connection, request)
        else:
            connection.json(200, {})

    upstream.behaviour = only_the_first
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(ask, bench, "bearer") for _ in range(4)]
        assert wait_for(lambda: upstream.active == 2)
        assert ask(bench, "key").status == 200
        gate.open()
        assert {answer.result().status for answer in waiting} == {200}


def test_an_upstream_that_is_silent_for_too_long_is_a_timeout(bench: Bench, upstream: CountingUpstream) -> None:
    def silent(connection: Connection, _: Request) -> None:
        connection.wait_closed(20)

    upstream.behaviour = silent
    answer = ask(bench, "bearer")
    assert (answer.status, answer.code) == (504, "gateway_timeout")
    assert len(upstream.requests) == 1


def test_events_pass_one_by_one_and_a_caller_that_leaves_ends_the_work(
    bench: Bench, upstream: CountingUpstream
) -> None:
    step, closed = threading.Semaphore(0), threading.Event()

    def stream(connection: Connection, _: Request) -> None:
        connection.start_stream()
        for number in range(3):
            step.acquire(timeout=20)
            connection.chunk(f"event-{number}".encode())
        if connection.wait_closed(20):
            closed.set()

    upstream.behaviour = stream
    server = bench.servers["endpoint-bearer"]
    with server.connect() as connection:
        connection.sendall(server.head("POST", TARGET, None, b"{}") + b"{}")
        received = b""
        for number in range(3):
            step.release()
            while f"event-{number}".encode() not in received:
                piece = connection.recv(65_536)
                assert piece
                received += piece
    assert closed.wait(10)


def test_the_log_says_where_a_request_went_and_nothing_of_it(bench: Bench, upstream: CountingUpstream) -> None:
    before = len(bench.haproxy.log())
    assert ask(bench, "bearer", b'"canary-body"', X_Canary="canary-header").status == 200
    bench.post("endpoint-bearer", target="/canary-path")
    (line,) = bench.haproxy.lines(1, after=before, upstream="endpoint-bearer", operation="chat", status=200)
    bench.haproxy.lines(1, after=before, upstream="endpoint-bearer", operation="-", status=404, code="not_found")
    assert line["proxy"] == "guard"
    assert (line["resolved"], line["peer"]) == (INSIDE, INSIDE)
    assert line["srv_err"] in ("-", "Success")
    assert {"ms_request", "ms_queue", "ms_connect", "ms_response", "ms_total", "bytes", "queued"} <= set(line)
    assert "canary" not in bench.haproxy.text()


def test_the_probe_says_that_it_runs_and_nothing_else(bench: Bench) -> None:
    probe = Server("127.0.0.1", 8405)
    assert probe.request("GET", "/healthz").status == 200
    assert probe.request("GET", "/").status == 404
    assert probe.request("POST", TARGET, b"{}").status == 404
