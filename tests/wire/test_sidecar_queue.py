"""Bounded parallelism and a bounded queue: the next request is answered at once (S4-116, S4-141)."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.proxy_claims import capacity, claim, sidecar_endpoint
from tests.wire.client import Answer, head, wait_for
from tests.wire.counting import Gate
from tests.wire.sidecar_bench import CHAT, ENDPOINT, TOKEN, Bench, running_sidecar

pytestmark = pytest.mark.wire

BURST = 16


@pytest.fixture(params=[(2, 2), (2, 0), (1, 3)], ids=lambda bounds: f"{bounds[0]} at once, {bounds[1]} waiting")
def bounds(request: pytest.FixtureRequest) -> tuple[int, int]:
    found: tuple[int, int] = request.param
    return found


@pytest.fixture
def bench(haproxy_binary: str, tmp_path: Path, bounds: tuple[int, int]) -> Iterator[Bench]:
    found = claim({ENDPOINT: sidecar_endpoint(runtimeCapacity=capacity(*bounds))})
    with running_sidecar(haproxy_binary, tmp_path, found) as running:
        yield running


def test_a_burst_gets_exactly_the_declared_places(bench: Bench, bounds: tuple[int, int]) -> None:
    parallel, queued = bounds
    gate = bench.upstream.behaviour = Gate()
    with ThreadPoolExecutor(BURST) as pool:
        answers = [pool.submit(bench.post) for _ in range(BURST)]
        refused = BURST - parallel - queued
        assert wait_for(lambda: sum(answer.done() for answer in answers) == refused and gate.held == parallel)
        health = bench.get("/sidecar/health")
        gate.open()
        found = [answer.result() for answer in answers]
    assert sorted(answer.status for answer in found) == [200] * (parallel + queued) + [429] * refused
    assert {answer.code for answer in found if answer.status == 429} == {"queue_full"}
    assert {answer.headers["retry-after"] for answer in found if answer.status == 429} == {"1"}
    assert gate.most_held == parallel
    assert len(bench.upstream.requests) == parallel + queued
    assert health.status == 200, "health answers while every place is taken"


def test_the_places_are_free_again_afterwards(bench: Bench, bounds: tuple[int, int]) -> None:
    for _ in range(3):
        gate = bench.upstream.behaviour = Gate()
        with ThreadPoolExecutor(BURST) as pool:
            answers = [pool.submit(bench.post) for _ in range(BURST)]
            assert wait_for(lambda answers=answers: sum(a.done() for a in answers) == BURST - sum(bounds))
            gate.open()
            assert sum(answer.result().status == 200 for answer in answers) == sum(bounds)


def test_a_waiting_client_that_leaves_gives_its_place_away(haproxy_binary: str, tmp_path: Path) -> None:
    found = claim({ENDPOINT: sidecar_endpoint(runtimeCapacity=capacity(1, 1))})
    with running_sidecar(haproxy_binary, tmp_path, found) as bench, ThreadPoolExecutor(4) as pool:
        gate = bench.upstream.behaviour = Gate()
        first: Future[Answer] = pool.submit(bench.post)
        assert wait_for(lambda: bench.upstream.active == 1)
        waiting = bench.server.connect()
        waiting.sendall(head("POST", CHAT, {"Authorization": f"Bearer {TOKEN}"}, b"{}") + b"{}")
        assert wait_for(lambda: bench.post().status == 429)
        waiting.close()
        second: list[Future[Answer]] = []

        def got_the_place() -> bool:
            second.append(pool.submit(bench.post))
            return not wait_for(second[-1].done, 0.3)

        assert wait_for(got_the_place)
        gate.open()
        assert first.result().status == 200
        assert second[-1].result().status == 200
        assert len(bench.upstream.requests) == 2, "the request of the client that left was never sent"


def test_the_servers_own_queue_is_bounded_where_the_rule_is_not_seen(haproxy_binary: str, tmp_path: Path) -> None:
    """The rule that answers 429 looks before it queues; behind it the queue itself is bounded."""
    found = claim({ENDPOINT: sidecar_endpoint(runtimeCapacity=capacity(2, 2))})
    without_rule = {"if { queue(runtime) ge 2 }": "if { always_false }"}
    with (
        running_sidecar(haproxy_binary, tmp_path, found, shorter=without_rule) as bench,
        ThreadPoolExecutor(BURST) as pool,
    ):
        gate = bench.upstream.behaviour = Gate()
        answers = [pool.submit(bench.post) for _ in range(BURST)]
        assert wait_for(lambda: sum(answer.done() for answer in answers) == BURST - 4)
        gate.open()
        assert sorted(answer.result().status for answer in answers) == [200] * 4 + [503] * (BURST - 4)


def test_waiting_ends_after_the_declared_time(haproxy_binary: str, tmp_path: Path) -> None:
    found = claim({ENDPOINT: sidecar_endpoint(runtimeCapacity=capacity(1, 1, setup_ms=500))})
    with running_sidecar(haproxy_binary, tmp_path, found) as bench, ThreadPoolExecutor(2) as pool:
        gate = bench.upstream.behaviour = Gate()
        first = pool.submit(bench.post)
        assert wait_for(lambda: bench.upstream.active == 1)
        late = bench.post()
        gate.open()
        assert (late.status, late.code) == (503, "unavailable")
        assert first.result().status == 200
        assert len(bench.upstream.requests) == 1
