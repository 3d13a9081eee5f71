"""Framing tricks: what one hop reads as one request, the next must not read as two (S4-76, U-18)."""

import re
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.proxy_claims import claim, sidecar_endpoint
from tests.wire.client import MALFORMED, Server, head
from tests.wire.sidecar_bench import CHAT, ENDPOINT, RUNTIME_KEY, TOKEN, Bench, running_sidecar

pytestmark = pytest.mark.wire

SMUGGLED = b"POST /api/pull HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\n\r\n"
CHUNKED = b"2\r\n{}\r\n0\r\n\r\n"


@pytest.fixture(scope="module")
def bench(haproxy_binary: str, folder: Path) -> Iterator[Bench]:
    with running_sidecar(haproxy_binary, folder, claim({ENDPOINT: sidecar_endpoint()})) as running:
        yield running


@pytest.fixture(autouse=True)
def _fresh(bench: Bench) -> None:
    bench.upstream.reset()


def raw(lines: str, body: bytes) -> bytes:
    """Return a request to the chat path with the right credential and the given framing lines."""
    fixed = f"POST {CHAT} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
    return f"{fixed}{lines}\r\n".encode("latin-1") + body


@pytest.mark.parametrize(
    "lines",
    [
        "Transfer-Encoding: chunked\r\n",
        "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding : chunked\r\n",
        "Transfer-Encoding: \x0bchunked\r\nContent-Length: 2\r\n",
        "Content-Length: 2\r\nContent-Length: 3\r\n",
        "Content-Length: +2\r\n",
        "Content-Length: 0x2\r\n",
        "Content-Length: -2\r\n",
        "Content-Length: 2 2\r\n",
        "Content-Length:\r\n",
        "Content-Length: 99999999999999999999\r\n",
        "",
        "Content-Length: 2\r\n: empty\r\n",
        "Content-Length: 2\r\nX-A: b\rEvil: c\r\n",
        "Content-Length: 2\r\n folded\r\n",
        "Content-Length: 2\r\nUpgrade: h2c\r\nConnection: Upgrade\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n",
    ],
)
def test_ambiguous_framing_is_refused(bench: Bench, lines: str) -> None:
    answer = bench.server.send(raw(lines, CHUNKED), timeout=10)
    assert answer.status in (*MALFORMED, 408, 411, 413, 422, 501)
    assert bench.upstream.connections == 0


@pytest.mark.parametrize("lines", ["Content-Length: 2\r\nContent-Length: 2\r\n", "Content-Length: 2, 2\r\n"])
def test_equal_lengths_are_one_length(bench: Bench, lines: str) -> None:
    assert bench.server.send(raw(lines, b"{}")).status == 200
    (request,) = bench.upstream.requests
    assert [value for name, value in request.headers if name == "content-length"] == ["2"]


def test_a_request_inside_a_body_stays_a_body(bench: Bench) -> None:
    length = f"Content-Length: {len(SMUGGLED)}\r\n"
    data = raw(length, SMUGGLED)
    assert bench.server.send(data).status == 200
    assert [request.line for request in bench.upstream.requests] == [f"POST {CHAT} HTTP/1.1"]
    assert bench.upstream.requests[0].body == SMUGGLED


@pytest.mark.parametrize("credential", ["Bearer wrong", f"Bearer {TOKEN}"])
def test_the_body_of_a_refused_request_is_not_read_as_a_request(bench: Bench, credential: str) -> None:
    target = CHAT if credential.endswith("wrong") else "/api/tags"
    smuggled = head("POST", CHAT, {"Authorization": f"Bearer {TOKEN}"}, b"{}") + b"{}"
    data = head("POST", target, {"Authorization": credential}, smuggled) + smuggled
    with bench.server.connect(1) as connection:
        connection.sendall(data)
        received = b""
        try:
            while piece := connection.recv(65_536):
                received += piece
        except (TimeoutError, ConnectionError):
            pass
    assert re.findall(rb"HTTP/1.1 (\d+)", received) in ([b"401"], [b"404"])
    assert bench.upstream.connections == 0


def test_a_websocket_upgrade_is_never_passed_on(bench: Bench) -> None:
    answer = bench.post(Upgrade="websocket", Connection="Upgrade", Sec_WebSocket_Key="x")
    assert answer.status in (200, *MALFORMED)
    assert all("upgrade" not in request.names for request in bench.upstream.requests)


def test_trailers_never_reach_the_runtime(bench: Bench) -> None:
    trailing = b"2\r\n{}\r\n0\r\nAuthorization: Bearer x\r\nHost: evil\r\n\r\n"
    assert bench.server.send(raw("Transfer-Encoding: chunked\r\nTrailer: Authorization\r\n", trailing)).status == 411
    assert bench.upstream.connections == 0


def test_no_header_of_the_caller_reaches_the_runtime_but_the_length(bench: Bench) -> None:
    answer = bench.post(
        b"{}",
        Accept="text/event-stream",
        Connection="keep-alive, X-Hop",
        Cookie="a=b",
        Expect="100-continue",
        Forwarded="for=1.2.3.4",
        Keep_Alive="timeout=5",
        Origin="https://evil.example",
        Proxy_Authorization="Basic x",
        TE="trailers",
        Via="1.1 evil",
        X_Api_Key="x",
        X_Forwarded_For="1.2.3.4",
        X_Hop="1",
    )
    assert answer.status == 200
    (request,) = bench.upstream.requests
    assert dict(request.headers) == {
        "host": "127.0.0.1:8081",
        "content-length": "2",
        "content-type": "application/json",
        "authorization": f"Bearer {RUNTIME_KEY}",
        "accept-encoding": "identity",
        "connection": "close",
    }


def test_a_content_type_other_than_json_is_refused(bench: Bench) -> None:
    for wrong in ("text/plain", "application/jsonx", "multipart/form-data; boundary=x", ""):
        assert bench.post(Content_Type=wrong).status == 415
    assert bench.upstream.connections == 0
    assert bench.post(Content_Type="Application/JSON; charset=utf-8").status == 200


def test_http2_is_refused_by_preface_and_by_negotiation(bench: Bench) -> None:
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
    for protocols in (["h2"], ["h2", "http/1.1"], ["http/1.1"], []):
        context = ssl.create_default_context(cadata=bench.authority.pem)
        if protocols:
            context.set_alpn_protocols(protocols)
        with socket.create_connection(("127.0.0.1", 8443), 5) as plain:
            try:
                connection = context.wrap_socket(plain, server_hostname=bench.server.name)
            except ssl.SSLError:
                continue  # no common protocol: the handshake ends
            with connection:
                assert connection.selected_alpn_protocol() != "h2"
                connection.sendall(preface)
                assert connection.recv(64).startswith(b"HTTP/1.1 400")
    assert bench.upstream.connections == 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_cleartext_and_old_tls_get_no_answer(bench: Bench) -> None:
    assert Server("127.0.0.1", 8443).send(head("GET", "/sidecar/health")).status == 0
    context = ssl.create_default_context(cadata=bench.authority.pem)
    context.options &= ~(ssl.OP_NO_TLSv1 | ssl.OP_NO_TLSv1_1)
    context.options |= ssl.OP_NO_TLSv1_2 | ssl.OP_NO_TLSv1_3
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    with pytest.raises((ssl.SSLError, ConnectionError)):
        Server("127.0.0.1", 8443, context, bench.server.name).connect()
    assert bench.upstream.connections == 0
