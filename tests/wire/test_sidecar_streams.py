"""Streams: every event at once, a client that leaves, a client that stops reading, a runtime that is silent (S4-80)."""

import queue
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.proxy_claims import capacity, claim, sidecar_endpoint
from tests.wire.client import head, wait_for
from tests.wire.counting import Connection, Request
from tests.wire.sidecar_bench import CHAT, ENDPOINT, TOKEN, Bench, running_sidecar

pytestmark = pytest.mark.wire

ASK = head("POST", CHAT, {"Authorization": f"Bearer {TOKEN}"}, b"{}") + b"{}"


class Stream:
    """A behaviour that sends the events the test puts in, and says when the other side has closed."""

    def __init__(self) -> None:
        self.events: queue.Queue[bytes | None] = queue.Queue()
        self.started = threading.Event()
        self.broken = threading.Event()

    def __call__(self, connection: Connection, _: Request) -> None:
        try:
            connection.start_stream()
            self.started.set()
            while True:
                try:
                    event = self.events.get(timeout=0.05)
                except queue.Empty:
                    if connection.wait_closed(0.01):
                        raise ConnectionResetError from None
                    continue
                if event is None:
                    break
                connection.chunk(event)
            connection.end_stream()
        except OSError:
            self.broken.set()
            raise


@pytest.fixture(scope="module")
def bench(haproxy_binary: str, folder: Path) -> Iterator[Bench]:
    endpoint = sidecar_endpoint(
        sidecar={"maxRequestBytes": 65_536, "maxResponseBytes": 67_108_864},
        runtimeCapacity=capacity(request_ms=3_000, setup_ms=3_000),
    )
    found = claim({ENDPOINT: endpoint})
    shorter = {"timeout client 30000ms": "timeout client 1s"}
    with running_sidecar(haproxy_binary, folder, found, shorter=shorter) as running:
        yield running


@pytest.fixture
def stream(bench: Bench) -> Stream:
    bench.upstream.reset()
    made = Stream()
    bench.upstream.behaviour = made
    return made


def read_until(connection: socket.socket, wanted: bytes) -> bytes:
    received = b""
    while wanted not in received:
        piece = connection.recv(65_536)
        assert piece, f"closed after {received!r}"
        received += piece
    return received


def test_every_event_arrives_before_the_next_is_made(bench: Bench, stream: Stream) -> None:
    with bench.server.connect() as connection:
        connection.sendall(ASK)
        for number in range(20):
            event = f"data: {number}\n\n".encode()
            stream.events.put(event)
            read_until(connection, event)
        stream.events.put(None)
        read_until(connection, b"0\r\n\r\n")


@pytest.mark.parametrize("started", [False, True], ids=["before the first byte", "in the stream"])
@pytest.mark.parametrize("how", ["close", "reset", "half-close"])
def test_a_client_that_leaves_ends_the_work_of_the_runtime(
    bench: Bench, stream: Stream, started: bool, how: str
) -> None:
    closed = threading.Event()

    def silent(connection: Connection, _: Request) -> None:
        stream.started.set()
        if connection.wait_closed(20):
            closed.set()

    if not started:
        bench.upstream.behaviour = silent
    connection = bench.server.connect()
    connection.sendall(ASK)
    assert stream.started.wait(10)
    if started:
        stream.events.put(b"data: 1\n\n")
        read_until(connection, b"data: 1")
    if how == "reset":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        connection.close()
    elif how == "close":
        connection.close()
    else:
        connection.shutdown(socket.SHUT_WR)
    assert (stream.broken if started else closed).wait(10)
    connection.close()


def test_silence_of_the_runtime_is_not_cut_by_the_clients_timeout(bench: Bench, stream: Stream) -> None:
    with bench.server.connect() as connection:
        connection.sendall(ASK)
        assert stream.started.wait(10)
        for _ in range(2):
            # The client's timeout is one second here and the runtime's three.
            assert not stream.broken.wait(1.6)
            stream.events.put(b"data: late\n\n")
            read_until(connection, b"data: late")


def test_a_runtime_that_never_answers_is_a_timeout(bench: Bench, stream: Stream) -> None:
    bench.upstream.behaviour = lambda connection, _: [connection.wait_closed(20), None][1]
    answer = bench.post()
    assert (answer.status, answer.code) == (504, "gateway_timeout")
    assert len(bench.upstream.requests) == 1


def test_a_client_that_stops_reading_loses_its_place(bench: Bench, stream: Stream) -> None:
    connection = bench.server.connect()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.sendall(ASK)
    assert stream.started.wait(10)
    for _ in range(3_000):
        stream.events.put(b"z" * 4096)
    assert stream.broken.wait(20)
    connection.close()
    assert wait_for(lambda: bench.upstream.active == 0)
    assert bench.haproxy.log()[-1]["end"] == "cD", "the client's side timed out while data was moving"
