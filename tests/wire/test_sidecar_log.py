"""The log: one JSON line a request, with labels and numbers, and nothing of what was said (S4-78, S4-145)."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.proxy_claims import claim, sidecar_endpoint
from tests.wire.client import Server, head
from tests.wire.counting import says
from tests.wire.sidecar_bench import CHAT, ENDPOINT, OTHER_TOKEN, RUNTIME_KEY, TOKEN, Bench, running_sidecar

pytestmark = pytest.mark.wire

CANARY = "zq7canary"


@pytest.fixture
def bench(haproxy_binary: str, folder: Path) -> Iterator[Bench]:
    with running_sidecar(haproxy_binary, folder, claim({ENDPOINT: sidecar_endpoint()})) as running:
        yield running


def test_nothing_of_a_request_or_an_answer_is_logged(bench: Bench) -> None:
    before = len(bench.haproxy.log())
    credential = {"Authorization": f"Bearer {TOKEN}"}
    body = json.dumps({"messages": [CANARY]}).encode()
    bench.upstream.behaviour = says(
        f"HTTP/1.1 200 OK\r\nx-{CANARY}: {CANARY}\r\ncontent-length: 9\r\n\r\n{CANARY}".encode()
    )
    assert bench.server.request("POST", CHAT, body, credential).status == 200
    for target in (f"/{CANARY}", f"{CHAT}?{CANARY}", f"/v1/{CANARY}\x01"):
        bench.server.request("POST", target, body, credential)
    bench.server.request(CANARY.upper(), CHAT, body, credential)
    bench.server.request("POST", CHAT, body, {"Authorization": f"Bearer {CANARY}"})
    bench.server.request("POST", CHAT, body, {**credential, "Cookie": CANARY, "Host": CANARY, f"X-{CANARY}": CANARY})
    bench.server.send(f"{CANARY} {CANARY}\r\n\r\n".encode())
    bench.server.send(head("POST", CHAT, {**credential, "Content-Length": CANARY}))
    with contextlib.suppress(OSError):
        Server("127.0.0.1", 8443, bench.server.tls, f"{CANARY}.example").request("GET", "/")
    bench.haproxy.lines(9, after=before)
    bench.haproxy.lines(1, after=before, status=401, code="invalid_api_key")
    text = bench.haproxy.text()
    for secret in (CANARY, CANARY.upper(), TOKEN, OTHER_TOKEN, RUNTIME_KEY):
        assert secret not in text


def test_a_line_says_who_what_and_how_long(bench: Bench) -> None:
    before = len(bench.haproxy.log())
    assert bench.post().status == 200
    (line,) = bench.haproxy.lines(
        1,
        after=before,
        proxy="sidecar",
        endpoint=ENDPOINT,
        operation="chat",
        credential="credential-1",
        status=200,
        code="-",
        tls="TLSv1.3",
        client="127.0.0.1",
    )
    assert {"ms_request", "ms_queue", "ms_connect", "ms_response", "ms_total", "queued", "bytes"} <= set(line)


def test_a_failed_handshake_is_one_json_line(bench: Bench) -> None:
    before = len(bench.haproxy.log())
    Server("127.0.0.1", 8443).send(b"GET / HTTP/1.1\r\n\r\n")
    (line,) = bench.haproxy.lines(1, after=before, event="connection_failed")
    assert line["error"]


def test_every_line_after_the_start_is_json(bench: Bench) -> None:
    bench.post()
    bench.haproxy.lines(1, operation="chat")
    other = [line for line in bench.haproxy.text().splitlines() if not line.startswith("{")]
    assert all(line.startswith(("[NOTICE]", "[WARNING]")) for line in other), other
