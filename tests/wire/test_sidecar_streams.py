"""Streams: every event at once, a client that stops reading, a runtime that is silent (S4-77, S4-80)."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.proxy_claims import capacity, claim, sidecar_endpoint
from tests.wire.client import wait_for
from tests.wire.sidecar_bench import ENDPOINT, Bench, running_sidecar
from tests.wire.streams import ASK, Stream, read_until

pytestmark = pytest.mark.wire


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


def test_every_event_arrives_before_the_next_is_made(bench: Bench, stream: Stream) -> None:
    with bench.server.connect() as connection:
        connection.sendall(ASK)
        for number in range(20):
            event = f"data: {number}\n\n".encode()
            stream.events.put(event)
            read_until(connection, event)
        stream.events.put(None)
        read_until(connection, b"0\r\n\r\n")


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
    # The client's side timed out while data was moving.
    bench.haproxy.lines(1, end="cD")
