"""The sidecar and what no rule for headers sees of the runtime's answer: informational answers and trailers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.proxy_claims import claim, sidecar_endpoint
from tests.wire.client import NOTHING
from tests.wire.informational import INFORMATIONAL, PLAIN, TRAILERS, Processing, in_pieces
from tests.wire.sidecar_bench import ENDPOINT, Bench, running_sidecar
from tests.wire.streams import ASK

pytestmark = pytest.mark.wire


@pytest.fixture(scope="module")
def running(haproxy_binary: str, folder: Path) -> Iterator[Bench]:
    with running_sidecar(haproxy_binary, folder, claim({ENDPOINT: sidecar_endpoint()})) as started:
        yield started


@pytest.fixture
def bench(running: Bench) -> Bench:
    running.upstream.reset()
    return running


def everything(bench: Bench) -> bytes:
    """Return every byte of the answer."""
    with bench.server.connect() as connection:
        connection.sendall(ASK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
        found = b""
        while piece := connection.recv(65_536):
            found += piece
    return found


@pytest.mark.parametrize("name", INFORMATIONAL)
def test_an_informational_answer_is_refused(bench: Bench, name: str) -> None:
    before = len(bench.haproxy.log())
    bench.upstream.behaviour = in_pieces(INFORMATIONAL[name])
    assert everything(bench) == b""
    assert len(bench.upstream.requests) == 1
    bench.haproxy.lines(1, after=before, operation="chat")


def test_informational_answers_do_not_hold_a_place(bench: Bench) -> None:
    bench.upstream.behaviour = processing = Processing()
    assert bench.post() == NOTHING
    assert processing.closed.wait(10)


@pytest.mark.parametrize("name", TRAILERS)
def test_trailers_do_not_arrive(bench: Bench, name: str) -> None:
    bench.upstream.behaviour = in_pieces(TRAILERS[name])
    found = everything(bench)
    assert b"spoilt" not in found.lower()
    assert b"zone" not in found
    assert not found.endswith(b"0\r\n\r\n"), "the answer is cut, and does not look whole"


@pytest.mark.parametrize("name", PLAIN)
def test_an_answer_without_them_is_whole(bench: Bench, name: str) -> None:
    bench.upstream.behaviour = in_pieces(PLAIN[name])
    answer = bench.post()
    assert (answer.status, answer.body) == (200, b"{}")
