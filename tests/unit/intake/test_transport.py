"""The bound below LiteLLM, around a transport that the test scripts."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest

from hearth.intake.state import CURRENT, RequestState
from hearth.intake.transport import bounded

REQUEST = httpx.Request("POST", "http://127.0.0.1/v1", extensions={"timeout": {"connect": 1.0, "read": 2.0}})


class Body(httpx.AsyncByteStream):
    """Pieces, each after a pause in seconds; None never comes."""

    def __init__(self, *pieces: tuple[float | None, bytes]) -> None:
        self.pieces, self.closed = pieces, False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for pause, piece in self.pieces:
            await (asyncio.Event().wait() if pause is None else asyncio.sleep(pause))
            yield piece

    async def aclose(self) -> None:
        self.closed = True


class Transport:
    """Answers with a body, at once or never."""

    def __init__(self, body: Body | None) -> None:
        self.body = body
        self.timeouts: dict[str, float | None] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.timeouts = request.extensions["timeout"]
        if self.body is None:
            await asyncio.Event().wait()
        return httpx.Response(200, stream=self.body, request=request)

    bounded = bounded(handle_async_request)


def ask(
    transport: Transport,
    *,
    admitted: bool = True,
    left: float = 60,
    attempt: float | None = 60,
    pause: float | None = None,
) -> bytes:
    async def run() -> bytes:
        deadline = asyncio.get_running_loop().time() + left if admitted else None
        CURRENT.set(RequestState(deadline=deadline, attempt_seconds=attempt, pause_seconds=pause))
        request = httpx.Request(REQUEST.method, REQUEST.url, extensions=dict(REQUEST.extensions))
        return await (await transport.bounded(request)).aread()

    return asyncio.run(run())


def test_a_body_passes_whole_and_may_pause_longer_than_the_attempt() -> None:
    assert ask(Transport(Body((0, b"a"), (0.3, b"b"), (0, b"c"))), attempt=0.2) == b"abc"
    assert ask(Transport(Body())) == b""


@pytest.mark.parametrize("times", [{"attempt": 0.05}, {"left": 0.05}, {"left": -1}])
@pytest.mark.parametrize("body", [None, Body((None, b""))])
def test_an_answer_that_does_not_begin_is_a_timeout(times: dict[str, float], body: Body | None) -> None:
    with pytest.raises(httpx.ReadTimeout):
        ask(Transport(body), **times)  # type: ignore[arg-type]
    if body is not None and times != {"left": -1}:
        assert body.closed


def test_the_socket_bounds_pauses_alone() -> None:
    transport = Transport(Body((0, b"a")))
    ask(transport, pause=30)
    assert transport.timeouts == {"connect": 1.0, "read": 30}


def test_what_is_no_clients_request_is_left_alone() -> None:
    for change in ({"admitted": False}, {"attempt": None}):
        transport = Transport(Body((0, b"a")))
        assert ask(transport, **change) == b"a"  # type: ignore[arg-type]
        assert transport.timeouts == {"connect": 1.0, "read": 2.0}
