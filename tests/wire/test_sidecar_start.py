"""What a sidecar says of its runtime before the runtime was ever asked: after a start and after a reload."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.proxy_claims import claim, sidecar_endpoint
from tests.wire.client import Server, wait_for
from tests.wire.sidecar_bench import ENDPOINT, Bench, running_sidecar

pytestmark = pytest.mark.wire

PROBE = Server("127.0.0.1", 8405)
SHORTER = {"check inter 5s": "check inter 200ms"}


@pytest.fixture
def unasked(haproxy_binary: str, tmp_path: Path) -> Iterator[Bench]:
    """A sidecar whose runtime accepts connections and answers no check yet, as one that still loads its model."""
    found = claim({ENDPOINT: sidecar_endpoint()})
    with running_sidecar(haproxy_binary, tmp_path, found, shorter=SHORTER, checks_answered=False) as running:
        yield running


def test_health_waits_for_the_first_answer_of_the_runtime(unasked: Bench) -> None:
    """HAProxy begins with its server up; ok is said only of a runtime that answered a check since then (S4-85)."""
    answer = unasked.get("/sidecar/health")
    assert (answer.status, answer.json()) == (503, {"status": "down"})
    assert PROBE.request("GET", "/healthz").status == 503
    unasked.upstream.checks_answered.set()
    assert wait_for(lambda: unasked.get("/sidecar/health").status == 200)
    assert PROBE.request("GET", "/healthz").status == 200


def test_a_first_answer_that_is_an_error_is_no_health(unasked: Bench) -> None:
    unasked.upstream.healthy = False
    unasked.upstream.checks_answered.set()
    assert wait_for(lambda: unasked.upstream.checks > 2)
    assert unasked.get("/sidecar/health").status == 503
    assert PROBE.request("GET", "/healthz").status == 503


def test_a_request_is_not_held_up_by_the_first_check(unasked: Bench) -> None:
    """Only health waits: what the runtime answers is passed on from the first moment."""
    assert unasked.post().status == 200
    assert unasked.get("/sidecar/identity").status == 200


def test_after_a_reload_the_runtime_is_asked_at_once(haproxy_binary: str, tmp_path: Path) -> None:
    """A new process knows nothing of the checks of the one before it, and does not wait for the next regular one."""
    found, never = claim({ENDPOINT: sidecar_endpoint()}), {"check inter 5s": "check inter 1h"}
    with running_sidecar(haproxy_binary, tmp_path, found, master=True, shorter=never) as bench:
        bench.upstream.reset()
        assert bench.haproxy.reload()
        assert wait_for(lambda: bench.upstream.checks == 1)
        assert wait_for(lambda: bench.get("/sidecar/health").status == 200)
        assert bench.upstream.checks == 1
