"""A client that leaves ends the work of the runtime long before any timeout (S4-77, S4-80)."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.proxy_claims import capacity, claim, sidecar_endpoint
from tests.wire.counting import Connection, Request
from tests.wire.sidecar_bench import ENDPOINT, Bench, running_sidecar
from tests.wire.streams import ASK, Stream, read_until

pytestmark = pytest.mark.wire

TIMEOUT_SECONDS = 60
"""The shortest timeout that could end the work by itself; the tests wait for a quarter of it."""


@pytest.fixture(scope="module")
def bench(haproxy_binary: str, folder: Path) -> Iterator[Bench]:
    bounds = capacity(request_ms=TIMEOUT_SECONDS * 1_000, setup_ms=TIMEOUT_SECONDS * 1_000)
    found = claim({ENDPOINT: sidecar_endpoint(runtimeCapacity=bounds)})
    shorter = {"timeout client 30000ms": f"timeout client {TIMEOUT_SECONDS}s"}
    with running_sidecar(haproxy_binary, folder, found, shorter=shorter) as running:
        yield running


@pytest.fixture
def stream(bench: Bench) -> Stream:
    bench.upstream.reset()
    made = Stream()
    bench.upstream.behaviour = made
    return made


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
    assert (stream.broken if started else closed).wait(TIMEOUT_SECONDS / 4)
    connection.close()
