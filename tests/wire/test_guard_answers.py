"""The guard and what no rule for headers sees of an upstream's answer: informational answers and trailers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.proxy_claims import capacity, claim, plaintext_endpoint
from tests.wire.client import NOTHING
from tests.wire.counting import CountingUpstream
from tests.wire.guard_bench import CHAT, INSIDE, Bench, running_guard
from tests.wire.informational import INFORMATIONAL, PLAIN, TRAILERS, Processing, in_pieces

pytestmark = pytest.mark.wire

UPSTREAM = "endpoint-plain"


@pytest.fixture(scope="module")
def bench(haproxy_binary: str, folder: Path) -> Iterator[Bench]:
    endpoint = plaintext_endpoint(f"http://{INSIDE}:11434/v1", runtimeCapacity=capacity(request_ms=3_000))
    with running_guard(haproxy_binary, folder, claim({"plain": endpoint})) as running:
        yield running


@pytest.fixture
def upstream(bench: Bench) -> Iterator[CountingUpstream]:
    with CountingUpstream(INSIDE, 11434) as running:
        yield running


def everything(bench: Bench) -> bytes:
    """Return every byte of the answer."""
    server = bench.servers[UPSTREAM]
    with server.connect() as connection:
        connection.sendall(server.head("POST", CHAT, {"Connection": "close"}, b"{}") + b"{}")
        found = b""
        while piece := connection.recv(65_536):
            found += piece
    return found


@pytest.mark.parametrize("name", INFORMATIONAL)
def test_an_informational_answer_is_refused(bench: Bench, upstream: CountingUpstream, name: str) -> None:
    before = len(bench.haproxy.log())
    upstream.behaviour = in_pieces(INFORMATIONAL[name])
    assert everything(bench) == b""
    assert len(upstream.requests) == 1
    bench.haproxy.lines(1, after=before, upstream=UPSTREAM)


def test_informational_answers_do_not_hold_a_place(bench: Bench, upstream: CountingUpstream) -> None:
    upstream.behaviour = processing = Processing()
    assert bench.post(UPSTREAM) == NOTHING
    assert processing.closed.wait(10)


@pytest.mark.parametrize("name", TRAILERS)
def test_trailers_do_not_arrive(bench: Bench, upstream: CountingUpstream, name: str) -> None:
    upstream.behaviour = in_pieces(TRAILERS[name])
    found = everything(bench)
    assert b"spoilt" not in found.lower()
    assert b"zone" not in found
    assert not found.endswith(b"0\r\n\r\n"), "the answer is cut, and does not look whole"


@pytest.mark.parametrize("name", PLAIN)
def test_an_answer_without_them_is_whole(bench: Bench, upstream: CountingUpstream, name: str) -> None:
    upstream.behaviour = in_pieces(PLAIN[name])
    answer = bench.post(UPSTREAM)
    assert (answer.status, answer.body) == (200, b"{}")
