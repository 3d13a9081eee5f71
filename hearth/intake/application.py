"""The ASGI application that stands before LiteLLM's at the door for clients."""

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from typing import Any, Final

from hearth.intake import errors
from hearth.intake.admission import Admitted, ModelRefusedError, admit
from hearth.intake.answers import EventStream, Headers, error_response, passed_headers, translated
from hearth.intake.errors import RefusedError
from hearth.intake.requests import END_USER_HEADER, MODELS_PATH, Target, check_content, header, target
from hearth.intake.requests import passed_headers as request_headers
from hearth.intake.settings import Operation, Settings
from hearth.intake.state import CURRENT, RequestState

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

LARGE_BODY: Final = 65_536
"""Bodies above this many bytes are judged in a thread, so that the others go on meanwhile."""
MOST_ERROR_BYTES: Final = 1_048_576
"""How much of an error of LiteLLM is read; its status is all that the rest could change."""
MOST_LIST_BYTES: Final = 67_108_864
"""Largest list of models that is read."""
BODY_SECONDS: Final = 60
"""How long a body may take to arrive, in seconds."""
READ_TO_THE_END: Final[frozenset[Operation]] = frozenset({"completion", "responses"})
"""Operations of whose streams LiteLLM records the cost at their end alone: whoever goes away shortly before it would
pay nothing. Of a chat it records what was streamed until then, and the model stops."""
GIVE_UP_SECONDS: Final = 2
"""How long after the deadline LiteLLM may still say by itself that a request has failed, in seconds."""
MOST_BUFFERED_BYTES: Final = 134_217_728
"""What the large bodies of all requests may take together, each up to the end of its answer. Small ones do not count,
so that a caller with many large ones takes the place of other large ones and of nothing else."""

_LOG: Final = logging.getLogger("hearth.intake")


class ClientGoneError(Exception):
    """The client closed the connection before its request had arrived."""


class Intake:
    """Admits requests to LiteLLM's application, and renders its errors. It fails closed."""

    def __init__(self, application: Application, settings: Settings) -> None:
        self._application = application
        self._settings = settings
        self._room = _Room(MOST_BUFFERED_BYTES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection's event: a request, or the start and end of the process.

        LiteLLM has websocket routes; here every other kind of event is closed.
        """
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
        elif scope["type"] == "http":
            with self._room.share() as share:
                await _Exchange(self._application, self._settings, share, scope, receive, send).serve()
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        else:
            raise ValueError(f"no such event: {scope['type']!r}")


class _Room:
    """Memory for large bodies, in bytes."""

    def __init__(self, size: int) -> None:
        self._free = size

    @contextlib.contextmanager
    def share(self) -> Iterator[Callable[[int], None]]:
        """Give one request what takes memory for it; all of it is free again when the request ends."""
        taken = 0

        def take(size: int) -> None:
            nonlocal taken
            if size > self._free:
                raise RefusedError(errors.UNAVAILABLE, ["Too many large requests are open."])
            self._free -= size
            taken += size

        try:
            yield take
        finally:
            self._free += taken


class _Exchange:
    """One request and its answer."""

    def __init__(
        self,
        application: Application,
        settings: Settings,
        take: Callable[[int], None],
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        self._application, self._settings, self._take = application, settings, take
        self._scope, self._receive, self._send = scope, receive, send
        self._state = RequestState()
        self._started = False

    async def serve(self) -> None:
        token = CURRENT.set(self._state)
        try:
            await self._serve()
        except RefusedError as error:
            await self._answer(*error_response(error.refusal, message=error.message, param=error.param))
        except ClientGoneError:
            return
        except Exception as error:
            # Its text may hold a prompt, an address or a key; the kind of the error says where to look.
            _LOG.error("a request failed in the gateway: %s", type(error).__name__)
            if self._started:
                raise  # the server closes the connection; an answer that has begun cannot be taken back
            await self._answer(*error_response(errors.INTERNAL_ERROR))
        finally:
            CURRENT.reset(token)

    async def _serve(self) -> None:
        wanted = target(dict(self._scope))
        headers: Headers = list(self._scope["headers"])
        if wanted.liveliness:
            await self._application(self._inner("GET", self._scope["path"], []), self._replay(b""), self._pass)
            return
        passed = request_headers(headers)
        if wanted.operation is None:
            await self._models(wanted, passed)
            return
        check_content(headers)
        admitted = await self._admitted(wanted.operation, headers, passed)
        inner = [
            *passed,
            (b"content-type", b"application/json"),
            (b"content-length", str(len(admitted.body)).encode()),
            (b"accept-encoding", b"identity"),
        ]
        self._state.stream, self._state.embedding_space = admitted.stream, admitted.embedding_space
        self._state.to_the_end = admitted.stream and wanted.operation in READ_TO_THE_END
        self._state.deadline = asyncio.get_running_loop().time() + admitted.deadline_seconds
        await self._by_the_deadline(self._inner("POST", self._scope["path"], inner), admitted.body)

    async def _by_the_deadline(self, scope: Scope, body: bytes) -> None:
        """Let LiteLLM answer. An answer that has not begun shortly after the deadline is given up.

        The hook and `transport.py` end what waits for a model server, in LiteLLM's own way; this bounds the rest, such
        as a whole answer that arrives byte by byte.
        """
        answer = _Answer(self._state, self._pass)
        late = asyncio.timeout(self._state.remaining() + GIVE_UP_SECONDS)

        async def send(message: Message) -> None:
            await answer.send(message)
            if self._started:
                late.reschedule(None)

        try:
            async with late:
                await self._application(scope, self._replay(body), send)
        except TimeoutError:
            if not late.expired():
                raise
            self._state.ended = True
            raise RefusedError(errors.GATEWAY_TIMEOUT) from None

    async def _admitted(self, operation: Operation, headers: Headers, passed: Headers) -> Admitted:
        try:
            async with asyncio.timeout(BODY_SECONDS):
                text = await self._body(headers)
        except TimeoutError:
            raise RefusedError(errors.REQUEST_TIMEOUT) from None
        person = header(headers, END_USER_HEADER)
        try:
            if len(text) <= LARGE_BODY:
                return admit(self._settings, operation, text, header_user=person)
            return await asyncio.to_thread(admit, self._settings, operation, text, header_user=person)
        except ModelRefusedError as error:
            # Whoever may not use the model gets the answer that he gets for one that does not exist.
            if error.model not in {model["id"] for model in await self._visible(passed)}:
                raise RefusedError(errors.MODEL_NOT_FOUND, param="model") from None
            raise

    async def _body(self, headers: Headers) -> bytes:
        most = self._settings.max_request_bytes
        length = header(headers, b"content-length")
        if length is not None and (not length.isascii() or not length.isdigit() or int(length[:16]) > most):
            raise RefusedError(errors.REQUEST_TOO_LARGE if length.isdigit() else errors.BAD_REQUEST)
        pieces, size = [], 0
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientGoneError
            piece = message.get("body", b"")
            size += len(piece)
            if size > most:
                raise RefusedError(errors.REQUEST_TOO_LARGE)
            if size > LARGE_BODY:
                self._take(min(len(piece), size - LARGE_BODY))
            pieces.append(piece)
            if not message.get("more_body", False):
                return b"".join(pieces)

    async def _models(self, wanted: Target, passed: Headers) -> None:
        visible = await self._visible(passed)
        if wanted.model is None:
            content: object = {"object": "list", "data": visible}
        else:
            content = next((model for model in visible if model["id"] == wanted.model), None)
            if content is None:
                raise RefusedError(errors.MODEL_NOT_FOUND)
        text = json.dumps(content, separators=(",", ":")).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(text)).encode())]
        await self._answer(200, headers, text)

    async def _visible(self, passed: Headers) -> list[dict[str, Any]]:
        """Return the models that the caller's key may use: LiteLLM's own list for it.

        Raises:
            RefusedError: the key is not known, or LiteLLM cannot say.
        """
        answer = _Collected(MOST_LIST_BYTES)
        await self._application(self._inner("GET", MODELS_PATH, passed), self._replay(b""), answer.send)
        if answer.status != 200:
            status, _, text = translated(answer.status, answer.headers, bytes(answer.body), self._state)
            code = json.loads(text)["error"]["code"]
            row = next(row for row in errors.TABLE if row.code == code and row.status == status)
            raise RefusedError(row)
        return [
            {"id": model["id"], "object": "model", "created": model["created"], "owned_by": model["owned_by"]}
            for model in json.loads(answer.body)["data"]
            if model["id"] in self._settings.models
        ]

    def _replay(self, body: bytes) -> Receive:
        """Return what tells LiteLLM the body, and after it when the client goes away."""
        message: Message | None = {"type": "http.request", "body": body, "more_body": False}

        async def receive() -> Message:
            nonlocal message
            if message is None:
                return await self._gone()
            told, message = message, None
            return told

        return receive

    async def _gone(self) -> Message:
        """Return what tells that the client went away, once it has; never for an answer that is read to its end."""
        message = await self._receive()
        if self._started and self._state.to_the_end:
            await asyncio.Event().wait()
        return message

    def _inner(self, method: str, path: str, headers: Headers) -> Scope:
        """Return a request of our own for LiteLLM's application; nothing of the client's but what is named here."""
        return {
            "type": "http",
            "asgi": self._scope["asgi"],
            "http_version": "1.1",
            "scheme": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": headers,
            "client": self._scope.get("client"),
            "server": self._scope.get("server"),
            **({"state": self._scope["state"]} if "state" in self._scope else {}),
        }

    async def _pass(self, message: Message) -> None:
        self._started = True
        await self._send(message)

    async def _answer(self, status: int, headers: Headers, body: bytes) -> None:
        await self._pass({"type": "http.response.start", "status": status, "headers": headers})
        await self._pass({"type": "http.response.body", "body": body, "more_body": False})


class _Answer:
    """LiteLLM's answer on its way to the client."""

    def __init__(self, state: RequestState, send: Send) -> None:
        self._state, self._send = state, send
        self._error: _Collected | None = None
        self._events: EventStream | None = None

    async def send(self, message: Message) -> None:
        """Take the next event of the answer."""
        if message["type"] == "http.response.start":
            await self._start(message)
        elif message["type"] == "http.response.body":
            await self._body(message)
        # Trailers, early hints and whatever else a server might know have nothing for a client.

    async def _start(self, message: Message) -> None:
        headers: Headers = [(bytes(name).lower(), bytes(value)) for name, value in message.get("headers", ())]
        if not 200 <= message["status"] <= 299:
            self._error = _Collected(MOST_ERROR_BYTES)
            await self._error.send(message)
            return
        passed = passed_headers(headers)
        if dict(headers).get(b"content-type", b"").startswith(b"text/event-stream"):
            self._events = EventStream(self._state)
        else:
            passed += [(name, value) for name, value in headers if name == b"content-length"]
        await self._send({"type": "http.response.start", "status": message["status"], "headers": passed})

    async def _body(self, message: Message) -> None:
        if self._error is not None:
            await self._error.send(message)
            if not message.get("more_body", False):
                status, headers, text = translated(
                    self._error.status, self._error.headers, bytes(self._error.body), self._state
                )
                await self._send({"type": "http.response.start", "status": status, "headers": headers})
                await self._send({"type": "http.response.body", "body": text, "more_body": False})
        elif self._events is not None:
            last = not message.get("more_body", False)
            piece = self._events.feed(message.get("body", b""), last=last)
            if piece or last:
                await self._send({"type": "http.response.body", "body": piece, "more_body": not last})
        else:
            await self._send(message)


class _Collected:
    """An answer that is read here."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.status = 0
        self.headers: Headers = []
        self.body = bytearray()

    async def send(self, message: Message) -> None:
        """Take the next event of the answer."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = [(bytes(name).lower(), bytes(value)) for name, value in message.get("headers", ())]
        elif message["type"] == "http.response.body":
            self.body += message.get("body", b"")[: self._most - len(self.body)]
