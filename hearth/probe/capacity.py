"""Probes of the declared capacity: parallelism that is reached, and a queue that ends (S4-113 … S4-116)."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from typing import Final

from hearth.claim.operations import OPERATIONS
from hearth.probe.case import Facts, FailedError, Probe, SkippedError
from hearth.probe.generation import LONG
from hearth.probe.target import Target, ask, body_of, opened

_SETTLE_SECONDS: Final = 0.5
"""Time in which waiting requests reach the queue."""
_AT_ONCE_SECONDS: Final = 3.0
"""Time in which a request that finds the queue full is refused; a waiting one waits for the streams to end."""
MOST_AT_ONCE: Final = 64
"""Most requests at once that a run makes, whatever is declared: a probe is no load test."""


def _generating(target: Target) -> tuple[str, bytes, bytes]:
    """Return path and bodies of a long stream and of a short one.

    Raises:
        SkippedError: nothing that is declared generates text.
    """
    for deployment in target.expected.deployments.values():
        for operation in deployment.operations:
            if not OPERATIONS[operation].vectors:
                long = body_of(operation, deployment.model, tokens=LONG, stream=True)
                return target.path_of(operation), long, body_of(operation, deployment.model, stream=True)
    raise SkippedError("no_operation_that_takes_time")


def _parallel(target: Target) -> Facts:
    """Every place is taken by a stream that has begun while all others stand."""
    wanted = target.bounds.parallel_requests
    if wanted > MOST_AT_ONCE:
        raise SkippedError("more_parallelism_than_a_run_may_cause")
    try:
        path, body, _ = _generating(target)
    except SkippedError:
        statuses = _statuses_of_vectors(target, wanted)
    else:
        statuses = _statuses_of_streams(target, wanted, path, body)
    if any(status != 200 for status in statuses):
        raise FailedError("declared_parallelism_not_reached", declared=wanted)
    return {"parallel": wanted}


def _statuses_of_streams(target: Target, wanted: int, path: str, body: bytes) -> list[int]:
    with ExitStack() as streams, ThreadPoolExecutor(wanted) as pool:
        begun = threading.Barrier(wanted)

        def one() -> int:
            with opened(target, "POST", path, body) as (response, _):
                if response.status == 200 and response.readline(1_048_576):
                    begun.wait(target.bounds.request_seconds)
                else:
                    begun.abort()
                return response.status

        streams.callback(begun.abort)
        try:
            return [found.result() for found in [pool.submit(one) for _ in range(wanted)]]
        except threading.BrokenBarrierError:
            raise FailedError("declared_parallelism_not_reached", declared=wanted) from None


def _statuses_of_vectors(target: Target, wanted: int) -> list[int]:
    model, operation = target.first_operation()
    with ThreadPoolExecutor(wanted) as pool:
        body, path = body_of(operation, model), target.path_of(operation)
        return [
            found.result().status for found in [pool.submit(ask, target, "POST", path, body) for _ in range(wanted)]
        ]


def _queue_bounded(target: Target) -> Facts:
    """With every place taken and every seat in the queue, the next request is refused at once with 429."""
    bounds = target.bounds
    if bounds.parallel_requests + bounds.queued_requests > MOST_AT_ONCE:
        raise SkippedError("more_requests_than_a_run_may_cause")
    path, body, short = _generating(target)
    with ExitStack() as streams, ThreadPoolExecutor(bounds.queued_requests + 1) as pool:
        for _ in range(bounds.parallel_requests):
            response, _ = streams.enter_context(opened(target, "POST", path, body))
            if response.status != 200 or not response.readline(1_048_576):
                raise FailedError("declared_parallelism_not_reached", declared=bounds.parallel_requests)
        waiting = [pool.submit(ask, target, "POST", path, short) for _ in range(bounds.queued_requests)]
        time.sleep(_SETTLE_SECONDS)
        early = sum(found.done() for found in waiting)
        beyond = pool.submit(ask, target, "POST", path, short)
        refused_at_once = bool(wait([beyond], _AT_ONCE_SECONDS).done)
        streams.close()
        statuses = [found.result().status for found in waiting]
        status = beyond.result().status
    if status != 429 or not refused_at_once:
        raise FailedError("queue_not_bounded", status=status)
    if early or any(each != 200 for each in statuses):
        raise FailedError("queued_request_refused", declared=bounds.queued_requests)
    return {"queued": bounds.queued_requests}


PROBES: Final = (
    Probe("capacity.parallel", "it bears the declared requests at once", _parallel),
    Probe("sidecar.queue_bounded", "the request after the last seat of the queue is refused at once", _queue_bounded),
)
"""Probes of the capacity."""
