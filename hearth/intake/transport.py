"""Bounds the time until a model server's answer begins, in LiteLLM's way out.

LiteLLM knows one timeout for an attempt, and gives it to the socket: it is the longest pause between two pieces. A
short one for the beginning of a stream would cut the stream at its first longer pause, and an answer that sends a byte
now and then is bounded by nothing. What the claim means is applied here, below LiteLLM: an answer begins within the
time of its deployment and within what is left for the request, and after that only the pauses are bounded (S4-113,
S4-141).
"""

import asyncio
import functools
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

import httpx

from hearth.intake.state import CURRENT

Send = Callable[[Any, httpx.Request], Awaitable[httpx.Response]]

_MARK: Final = "hearth_bounded"


class _Begun(httpx.AsyncByteStream):
    """A body whose first piece was read already."""

    def __init__(self, first: bytes, rest: AsyncIterator[bytes], whole: httpx.AsyncByteStream) -> None:
        self._first, self._rest, self._whole = first, rest, whole

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._first
        async for piece in self._rest:
            yield piece

    async def aclose(self) -> None:
        await self._whole.aclose()


def bounded(send: Send) -> Send:
    """Return a transport's method that also ends an attempt whose answer does not begin in time.

    Args:
        send: the method `handle_async_request` of a transport of httpx.
    """

    @functools.wraps(send)
    async def handle(transport: Any, request: httpx.Request) -> httpx.Response:
        state = CURRENT.get()
        if state is None or state.deadline is None or state.attempt_seconds is None:
            return await send(transport, request)  # not a client's request
        # A pause within a stream may be as long as an answer that is not one.
        request.extensions = {**request.extensions, "timeout": _pauses(request, state.pause_seconds)}
        response: httpx.Response | None = None
        try:
            async with asyncio.timeout(min(state.attempt_seconds, state.remaining())):
                response = await send(transport, request)
                if not isinstance(response.stream, httpx.AsyncByteStream):
                    return response
                whole = response.stream
                rest = aiter(whole)
                first = await anext(rest, b"")
        except TimeoutError:
            if response is not None:
                await response.aclose()
            raise httpx.ReadTimeout("the answer did not begin in time", request=request) from None
        response.stream = _Begun(first, rest, whole)
        return response

    setattr(handle, _MARK, True)
    return handle


def _pauses(request: httpx.Request, seconds: float | None) -> dict[str, Any]:
    return {**request.extensions.get("timeout", {}), "read": seconds}


def bound_litellm() -> None:
    """Put the bound into the one transport that LiteLLM calls model servers by; once for a process.

    Raises:
        ImportError: this LiteLLM has another transport; a process without the bound must not live.
    """
    from litellm.llms.custom_httpx.aiohttp_transport import LiteLLMAiohttpTransport

    if not hasattr(LiteLLMAiohttpTransport.handle_async_request, _MARK):
        LiteLLMAiohttpTransport.handle_async_request = bounded(LiteLLMAiohttpTransport.handle_async_request)
