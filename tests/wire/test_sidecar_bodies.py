"""Sizes and times of requests, sizes of answers, and a runtime that misbehaves (S4-77, C-12)."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.proxy_claims import claim, sidecar_endpoint
from tests.wire.client import Answer, head, read_answer, wait_for
from tests.wire.counting import Behaviour, Connection, CountingUpstream, Request, answer_ok, answers, says
from tests.wire.sidecar_bench import CHAT, ENDPOINT, TOKEN, Bench, running_sidecar

pytestmark = pytest.mark.wire

CREDENTIAL = {"Authorization": f"Bearer {TOKEN}"}
REQUEST_LIMIT = 262_144
RESPONSE_LIMIT = 1_048_576


@pytest.fixture(scope="module")
def bench(haproxy_binary: str, folder: Path) -> Iterator[Bench]:
    with running_sidecar(
        haproxy_binary,
        folder,
        claim({ENDPOINT: sidecar_endpoint()}),
        shorter={
            "timeout http-request 5s": "timeout http-request 1s",
            "wait-for-body time 5262ms": "wait-for-body time 1s",
        },
    ) as running:
        yield running


@pytest.fixture(autouse=True)
def _fresh(bench: Bench) -> None:
    bench.upstream.reset()


def declared(bench: Bench, length: str) -> Answer:
    """Send only a head that declares a length."""
    return bench.server.send(
        head("POST", CHAT, {**CREDENTIAL, "Content-Length": length, "Content-Type": "application/json"})
    )


def test_a_body_of_the_limit_passes_and_one_byte_more_does_not(bench: Bench) -> None:
    largest = b"x" * REQUEST_LIMIT
    assert bench.post(largest).status == 200
    assert bench.upstream.requests[0].body == largest
    bench.upstream.reset()
    answer = bench.post(largest + b"x")
    assert (answer.status, answer.code) == (413, "request_too_large")
    assert bench.upstream.connections == 0


@pytest.mark.parametrize("length", [str(2**32), str(2**32 + 5), str(2**33), "999999999999"])
def test_a_length_beyond_32_bits_is_too_large_before_the_body_comes(bench: Bench, length: str) -> None:
    assert declared(bench, length).status == 413
    assert bench.upstream.connections == 0


def test_refusals_come_before_the_upload(bench: Bench) -> None:
    length = {"Content-Length": str(REQUEST_LIMIT), "Content-Type": "application/json"}
    assert bench.server.send(head("POST", CHAT, {**length, "Authorization": "Bearer wrong"})).status == 401
    assert bench.server.send(head("POST", "/api/pull", {**length, **CREDENTIAL})).status == 404
    assert bench.upstream.connections == 0


def test_a_slow_head_never_reaches_the_runtime(bench: Bench) -> None:
    assert bench.server.send(head("POST", CHAT, CREDENTIAL)[:-2]).status == 408
    assert bench.upstream.connections == 0


def test_slow_bodies_hold_no_place_of_the_runtime(bench: Bench) -> None:
    slow = head("POST", CHAT, {**CREDENTIAL, "Content-Length": "100", "Content-Type": "application/json"}) + b"{"
    sockets: list[socket.socket] = []
    try:
        for _ in range(6):
            connection = bench.server.connect()
            connection.sendall(slow)
            sockets.append(connection)
        assert bench.post().status == 200
        assert bench.upstream.connections == 1
        answers_ = [read_answer(connection) for connection in sockets]
    finally:
        for connection in sockets:
            connection.close()
    assert [(answer.status, answer.code) for answer in answers_] == [(408, "request_timeout")] * 6
    assert bench.upstream.connections == 1


def test_a_large_upload_that_stalls_holds_no_place_either(bench: Bench) -> None:
    length = {**CREDENTIAL, "Content-Length": str(REQUEST_LIMIT), "Content-Type": "application/json"}
    answer = bench.server.send(head("POST", CHAT, length) + b"x" * (REQUEST_LIMIT - 1))
    assert (answer.status, answer.code) == (408, "request_timeout")
    assert bench.upstream.connections == 0


def of_length(size: int, *, chunked: bool) -> Behaviour:
    def behave(connection: Connection, _: Request) -> None:
        if chunked:
            connection.start_stream()
            for _ in range(size // 1024):
                connection.chunk(b"y" * 1024)
            connection.chunk(b"y" * (size % 1024)) if size % 1024 else None
            connection.end_stream()
        else:
            connection.send(f"HTTP/1.1 200 OK\r\ncontent-length: {size}\r\n\r\n".encode() + b"y" * size)

    return behave


@pytest.mark.parametrize("chunked", [False, True])
def test_an_answer_of_the_limit_passes(bench: Bench, chunked: bool) -> None:
    bench.upstream.behaviour = of_length(RESPONSE_LIMIT, chunked=chunked)
    answer = bench.post()
    assert answer.status == 200
    assert answer.body == b"y" * RESPONSE_LIMIT


def test_a_declared_answer_above_the_limit_is_refused_whole(bench: Bench) -> None:
    bench.upstream.behaviour = of_length(RESPONSE_LIMIT + 1, chunked=False)
    answer = bench.post()
    assert (answer.status, answer.code) == (502, "response_too_large")


def test_a_stream_above_the_limit_is_cut_at_the_limit(bench: Bench) -> None:
    bench.upstream.behaviour = of_length(RESPONSE_LIMIT + 1, chunked=True)
    answer = bench.post()
    assert answer.status == 200
    assert answer.body.endswith(b"<cut>")
    assert len(answer.body) - len(b"<cut>") <= RESPONSE_LIMIT


@pytest.mark.parametrize(
    ("behaviour", "code"),
    [
        (answers(301, ("location", "http://127.0.0.1:8081/api/tags")), "redirect_refused"),
        (answers(307, ("location", "https://evil.example/")), "redirect_refused"),
        (says(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nraw"), "bad_response"),
        (answers(200, ("content-encoding", "gzip")), "encoding_refused"),
        (answers(200, ("content-encoding", "gzip"), ("content-encoding", "identity")), "encoding_refused"),
        (answers(600), "bad_response"),
        (says(b"not http at all\r\n\r\n"), "bad_response"),
        (says(b""), "bad_response"),
        (says(b"HTTP/1.1 200 OK\r\nx: " + b"y" * 1_000_000 + b"\r\n\r\n"), "bad_response"),
        (says(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab"), "bad_response"),
    ],
)
def test_what_is_no_answer_is_an_error_of_the_runtime(bench: Bench, behaviour: Behaviour, code: str) -> None:
    bench.upstream.behaviour = behaviour
    answer = bench.post()
    assert (answer.status, answer.code) == (502, code)
    assert len(bench.upstream.requests) == 1, "a failed request is not sent twice"


def test_a_truncated_answer_is_seen_as_truncated(bench: Bench) -> None:
    bench.upstream.behaviour = says(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc")
    assert bench.post().body == b"abc<cut>"


@pytest.mark.parametrize("status", [400, 404, 422, 429, 500, 503])
def test_an_error_of_the_runtime_passes_unchanged(bench: Bench, status: int) -> None:
    bench.upstream.behaviour = answers(status, ("retry-after", "7"), payload={"error": {"message": "its own"}})
    answer = bench.post()
    assert answer.status == status
    assert answer.json() == {"error": {"message": "its own"}}
    assert answer.headers["retry-after"] == "7"


def test_headers_that_tell_about_the_runtime_are_dropped(bench: Bench) -> None:
    bench.upstream.behaviour = answers(
        200,
        ("server", "llama.cpp"),
        ("set-cookie", "a=b"),
        ("access-control-allow-origin", "*"),
        ("x-any", "1"),
        ("x-refusal", "x"),
    )
    assert set(bench.post().headers) == {"content-type", "content-length"}


def test_a_runtime_that_is_away_is_unavailable(haproxy_binary: str, bench: Bench) -> None:
    bench.upstream.__exit__()
    try:
        answer = bench.post()
        assert (answer.status, answer.code) == (503, "unavailable")
        assert answer.headers["retry-after"] == "2"
    finally:
        bench.upstream = CountingUpstream("127.0.0.1", 8081)
    bench.upstream.behaviour = answer_ok
    assert wait_for(lambda: bench.post().status == 200)
