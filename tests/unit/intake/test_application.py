"""The wrapper around an application that stands for LiteLLM's."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from hearth.intake import application as module
from hearth.intake.application import LARGE_BODY, Intake, Message, Receive, Scope, Send
from hearth.intake.requests import OPERATION_PATHS
from hearth.intake.state import CURRENT, Failure
from tests.unit.intake.bodies import BODIES, SETTINGS

KEY = (b"authorization", b"Bearer sk-0123456789abcdef")
JSON = (b"content-type", b"application/json")
VISIBLE = ("gemma", "large")
Handler = Callable[[Scope, Receive, Send], Awaitable[None]]


class LiteLLM:
    """Lists its models, and hands every other request to the test."""

    def __init__(self, handler: Handler | None = None) -> None:
        self.handler = handler
        self.scopes: list[Scope] = []
        self.bodies: list[bytes] = []
        self.models_status = 200

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scopes.append(scope)
        if scope["path"] == "/v1/models":
            data = [{"id": name, "object": "model", "created": 1, "owned_by": "x", "secret": 1} for name in VISIBLE]
            data.append({"id": "not-in-the-claim", "object": "model", "created": 1, "owned_by": "x"})
            await answer(send, self.models_status, json.dumps({"data": data} if self.models_status == 200 else {}))
            return
        self.bodies.append((await receive())["body"])
        if self.handler:
            await self.handler(scope, receive, send)
        else:
            await answer(send, 200, '{"id":"x"}')


async def answer(send: Send, status: int, text: str, *headers: tuple[bytes, bytes]) -> None:
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [JSON, (b"content-length", str(len(text)).encode()), *headers],
        }
    )
    await send({"type": "http.response.body", "body": text.encode()})


class Answer:
    def __init__(self, messages: list[Message]) -> None:
        self.starts = [message for message in messages if message["type"] == "http.response.start"]
        assert len(self.starts) == 1
        assert messages[0] is self.starts[0]
        self.status = self.starts[0]["status"]
        self.headers = dict(self.starts[0]["headers"])
        self.pieces = [message.get("body", b"") for message in messages[1:]]
        self.body = b"".join(self.pieces)

    @property
    def error(self) -> dict[str, Any]:
        error: dict[str, Any] = json.loads(self.body)["error"]
        assert set(error) == {"message", "type", "param", "code"}
        return error


def ask(
    application: Any,
    body: Any = None,
    *headers: tuple[bytes, bytes],
    path: str = "/v1/chat/completions",
    pieces: list[bytes] | None = None,
    key: tuple[bytes, bytes] = KEY,
) -> Answer:
    text = body if isinstance(body, bytes) else json.dumps(BODIES["chat"] if body is None else body).encode()
    return ask_of(Intake(application, SETTINGS), text, *headers, path=path, pieces=pieces, key=key)


def request(path: str, *headers: tuple[bytes, bytes], key: tuple[bytes, bytes] = KEY) -> Scope:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "method": "GET" if path.startswith(("/v1/models", "/health")) else "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [key, JSON, *headers],
        "client": None,
        "server": None,
    }


def ask_of(
    intake: Intake,
    body: Any,
    *headers: tuple[bytes, bytes],
    path: str = "/v1/chat/completions",
    pieces: list[bytes] | None = None,
    key: tuple[bytes, bytes] = KEY,
) -> Answer:
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    told = [
        {"type": "http.request", "body": piece, "more_body": True}
        for piece in (pieces if pieces is not None else [text])
    ]
    told[-1]["more_body"] = False
    sent: list[Message] = []

    async def receive() -> Message:
        return told.pop(0) if told else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(intake(request(path, *headers, key=key), receive, send))
    return Answer(sent)


def test_litellm_sees_a_request_of_our_own() -> None:
    litellm = LiteLLM()
    found = ask(litellm, {**BODIES["chat"], "store": True}, (b"x-litellm-timeout", b"1"), (b"host", b"h"))
    assert (found.status, found.body) == (200, b'{"id":"x"}')
    assert json.loads(litellm.bodies[0]) == {**BODIES["chat"], "max_tokens": 1_024}
    headers = litellm.scopes[0]["headers"]
    assert headers == [
        KEY,
        (b"host", b"h"),
        JSON,
        (b"content-length", str(len(litellm.bodies[0])).encode()),
        (b"accept-encoding", b"identity"),
    ]


def test_a_body_in_pieces_is_one() -> None:
    litellm = LiteLLM()
    text = json.dumps(BODIES["chat"]).encode()
    assert ask(litellm, pieces=[text[:10], b"", text[10:]]).status == 200


def test_a_large_body_is_judged_too() -> None:
    large = {"model": "gemma", "messages": [{"role": "user", "content": "x" * LARGE_BODY}]}
    assert ask(LiteLLM(), large).status == 200
    assert ask(LiteLLM(), {**large, "no-log": True}).error["code"] == "unknown_parameter"


@pytest.mark.parametrize("declared", [True, False])
def test_no_body_is_larger_than_permitted(declared: bool) -> None:
    litellm = LiteLLM()
    size = SETTINGS.max_request_bytes + 1
    headers = [(b"content-length", str(size).encode())] if declared else []
    found = ask(litellm, None, *headers, pieces=[b" " * (size // 2), b" " * (size - size // 2)])
    assert (found.status, found.error["code"]) == (413, "request_too_large")
    assert not litellm.scopes


def test_a_client_that_goes_away_is_told_nothing() -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(Intake(LiteLLM(), SETTINGS)(request("/v1/embeddings"), receive, send))
    assert not sent


def test_litellm_learns_when_the_client_goes_away() -> None:
    seen = []

    async def handler(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append((await receive())["type"])
        await answer(send, 200, "{}")

    ask(LiteLLM(handler))
    assert seen == ["http.disconnect"]


@pytest.mark.parametrize(
    ("operation", "begun", "told"),
    [
        ("chat", True, True),
        ("completion", True, False),
        ("responses", True, False),
        ("completion", False, True),
        ("responses", False, True),
    ],
)
def test_a_stream_whose_cost_is_known_at_its_end_is_read_to_it(operation: Any, begun: bool, told: bool) -> None:
    seen = []

    async def handler(scope: Scope, receive: Receive, send: Send) -> None:
        if begun:
            await send(
                {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]}
            )
        gone = asyncio.ensure_future(receive())
        await asyncio.sleep(0.01)
        seen.append(gone.done())
        gone.cancel()
        if not begun:
            await answer(send, 200, "{}")

    path = next(path for path, found in OPERATION_PATHS.items() if found == operation)
    ask(LiteLLM(handler), {**BODIES[operation], "stream": True}, path=path)
    assert seen == [told]


def test_a_refusal_reaches_nobody() -> None:
    litellm = LiteLLM()
    found = ask(litellm, {**BODIES["chat"], "api_base": "http://127.0.0.1:1"})
    assert (found.status, found.error["code"], found.error["param"]) == (400, "unknown_parameter", "api_base")
    assert found.headers[b"x-refusal"] == b"unknown_parameter"
    assert not litellm.scopes


@pytest.mark.parametrize(
    "body",
    [
        {**BODIES["chat"], "model": "nothing"},
        {**BODIES["chat"], "model": "vendor/chat", "top_k": 1},  # there, and not the key's
        {**BODIES["chat"], "model": "vendor/chat", "max_tokens": 5_000},
    ],
)
def test_unknown_and_invisible_are_the_same(body: Any) -> None:
    found = ask(LiteLLM(), body)
    assert (found.status, found.body) == (404, ask(LiteLLM(), {**BODIES["chat"], "model": "no"}).body)
    assert found.error["code"] == "model_not_found"


def test_what_a_model_permits_is_told_to_those_who_may_use_it() -> None:
    assert ask(LiteLLM(), {**BODIES["chat"], "model": "large", "mirostat": 1}).error["code"] == "unknown_parameter"
    found = ask(LiteLLM(), {**BODIES["embedding"], "model": "large"}, path="/v1/embeddings")
    assert found.error["code"] == "operation_not_offered"


def test_a_wrong_key_learns_of_no_model() -> None:
    litellm = LiteLLM()
    litellm.models_status = 401
    found = ask(litellm, {**BODIES["chat"], "model": "nothing"})
    assert (found.status, found.error["code"]) == (401, "invalid_api_key")
    assert found.headers[b"www-authenticate"] == b"Bearer"


def test_models_are_listed_without_what_litellm_adds() -> None:
    found = ask(LiteLLM(), path="/v1/models")
    assert json.loads(found.body) == {
        "object": "list",
        "data": [{"id": name, "object": "model", "created": 1, "owned_by": "x"} for name in VISIBLE],
    }
    assert json.loads(ask(LiteLLM(), path="/v1/models/gemma").body)["id"] == "gemma"
    for name in ("vendor/chat", "not-in-the-claim", "nothing"):
        assert ask(LiteLLM(), path=f"/v1/models/{name}").error["code"] == "model_not_found"


def test_liveliness_needs_no_key() -> None:
    litellm = LiteLLM()
    assert ask(litellm, path="/health/liveliness", key=(b"x", b"y")).status == 200
    assert litellm.scopes[0]["headers"] == []


@pytest.mark.parametrize(
    ("status", "body", "code", "shown"),
    [
        (401, {"error": {"message": "key sk-hash at 10.0.0.1", "type": "auth_error"}}, "invalid_api_key", 401),
        (403, {"error": {"message": "team x", "type": "key_model_access_denied"}}, "model_not_found", 404),
        (401, {"error": {"message": "team x", "type": "team_model_access_denied"}}, "model_not_found", 404),
        (429, {"error": {"message": "ExceededBudget", "type": "budget_exceeded"}}, "budget_exceeded", 429),
        (429, {"error": {"message": "x", "type": "throttling_error"}}, "rate_limit_exceeded", 429),
        (400, {"error": {"message": "x"}}, "bad_request", 400),
        (422, {"detail": "x"}, "bad_request", 400),
        (503, {"error": {"message": "x"}}, "unavailable", 503),
        (500, {"error": "x"}, "internal_error", 500),
        (500, "Internal Server Error: secret", "internal_error", 500),
        (302, {}, "internal_error", 500),
        (599, [1], "internal_error", 500),
    ],
)
def test_nothing_of_litellms_errors_is_seen(status: int, body: Any, code: str, shown: int) -> None:
    async def handler(scope: Scope, receive: Receive, send: Send) -> None:
        await answer(send, status, json.dumps(body), (b"x-litellm-key", b"x"), (b"retry-after", b"2.5"))

    found = ask(LiteLLM(handler))
    assert (found.status, found.error["code"]) == (shown, code)
    assert found.headers[b"retry-after"] == b"3"
    for text in (b"sk-hash", b"10.0.0.1", b"team", b"secret", b"litellm"):
        assert text not in found.body.lower() + repr(found.headers).encode().lower()


def failing(failure: Failure) -> Handler:
    async def handler(scope: Scope, receive: Receive, send: Send) -> None:
        state = CURRENT.get()
        assert state is not None
        state.failure = failure
        await answer(send, 500, '{"error":{"message":"litellm.InternalServerError: http://10.0.0.1"}}')

    return handler


@pytest.mark.parametrize(
    ("failure", "status", "code", "message"),
    [
        (Failure("queue_full", 429, "x", 7), 429, "queue_full", None),
        (Failure("zone_denied", 502, "10.0.0.1", None), 502, "upstream_refused", None),
        (Failure("never-heard-of", 503, "10.0.0.1", None), 502, "upstream_refused", None),
        (Failure("credential_missing", 401, None, None), 401, "credential_missing", None),
        (Failure(None, 400, "context\tlength is 8192", None), 400, "upstream_rejected", "context length is 8192"),
        (Failure(None, 422, "x" * 5_000, None), 422, "upstream_rejected", "x" * 999 + "…"),
        (Failure(None, 400, None, None), 400, "upstream_rejected", None),
        (Failure(None, 401, "your key sk-1", None), 401, "credential_rejected", None),
        (Failure(None, 404, "no such model", None), 502, "upstream_failed", None),
        (Failure(None, 500, "trace", None), 502, "upstream_failed", None),
        (Failure(None, None, "Cannot connect to 10.0.0.1", None), 503, "unavailable", None),
    ],
)
def test_a_failure_of_the_upstream_is_told_by_the_table(
    failure: Failure, status: int, code: str, message: str | None
) -> None:
    found = ask(LiteLLM(failing(failure)))
    assert (found.status, found.error["code"]) == (status, code)
    if message is not None:
        assert found.error["message"] == message
    assert "10.0.0.1" not in found.error["message"]
    if failure.retry_after:
        assert found.headers[b"retry-after"] == b"7"


def streaming(*pieces: bytes, failure: Failure | None = None) -> Handler:
    async def handler(scope: Scope, receive: Receive, send: Send) -> None:
        state = CURRENT.get()
        assert state is not None
        state.failure = failure
        await send(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [(b"content-type", b"text/event-stream; charset=utf-8")],
            }
        )
        for piece in pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    return handler


EVENTS = [b'data: {"choices":[{"delta":{"content":"data: {\\"error\\": 1}"}}]}\n\n', b"data: [DONE]\n\n"]


def test_a_stream_passes_piece_by_piece() -> None:
    found = ask(LiteLLM(streaming(*EVENTS)))
    assert found.pieces == [*EVENTS, b""]


@pytest.mark.parametrize("size", [1, 2, 7, 1_000])
@pytest.mark.parametrize(
    "error",
    [
        b'data: {"error": {"message": "litellm 10.0.0.1", "type": "None", "code": "500"}}\n\n',
        b'event: error\ndata: {"type":"error","message":"litellm 10.0.0.1"}\n\n',
        b'data: {"type":"error","error":{"message":"litellm 10.0.0.1"}}\n\n',
        b'data: {"type": "response.failed", "response": {"error": {"message": "litellm 10.0.0.1"}}}\n\n',
        b'event: response.failed\ndata: {"response": {"error": {"message": "litellm 10.0.0.1"}}}\n\n',
    ],
)
def test_an_error_in_a_stream_is_told_by_the_table(error: bytes, size: int) -> None:
    text = EVENTS[0] + error + EVENTS[1]
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    found = ask(LiteLLM(streaming(*pieces)))
    assert found.status == 200
    assert found.body.startswith(EVENTS[0])
    assert found.body.endswith(EVENTS[1])
    assert b"10.0.0.1" not in found.body
    assert b'"code":"upstream_failed"' in found.body
    for event in found.body.split(b"\n\n")[:-2]:
        json.loads(event.split(b"data: ", 1)[1])


def test_an_application_that_breaks_is_500_and_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async def handler(scope: Scope, receive: Receive, send: Send) -> None:
        raise RuntimeError("the prompt, and sk-secret")

    with caplog.at_level(logging.ERROR):
        found = ask(LiteLLM(handler))
    assert (found.status, found.error["code"]) == (500, "internal_error")
    assert "RuntimeError" in caplog.text
    assert "secret" not in caplog.text


def test_an_answer_that_breaks_off_is_not_made_whole() -> None:
    async def handler(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [JSON]})
        raise RuntimeError

    with pytest.raises(RuntimeError):
        ask(LiteLLM(handler))


def test_response_headers_that_tell_of_upstreams_stay_here() -> None:
    async def handler(scope: Scope, receive: Receive, send: Send) -> None:
        await answer(
            send, 200, "{}", (b"X-LiteLLM-Model-API-Base", b"x"), (b"llm_provider-server", b"x"), (b"set-cookie", b"x"),
            (b"x-litellm-call-id", b"1"),
        )  # fmt: skip

    assert set(ask(LiteLLM(handler)).headers) == {b"content-type", b"content-length", b"x-litellm-call-id"}


def test_every_other_kind_of_event_is_closed() -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    litellm = LiteLLM()
    asyncio.run(Intake(litellm, SETTINGS)({"type": "websocket", "path": "/v1/realtime"}, receive, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]
    with pytest.raises(ValueError, match="no such event"):
        asyncio.run(Intake(litellm, SETTINGS)({"type": "webtransport"}, receive, send))
    assert not litellm.scopes


def test_start_and_end_are_litellms() -> None:
    seen: list[str] = []

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["type"])

    async def receive() -> Message:
        return {"type": "lifespan.startup"}

    async def send(message: Message) -> None:
        raise AssertionError

    asyncio.run(Intake(application, SETTINGS)({"type": "lifespan"}, receive, send))
    assert seen == ["lifespan"]


def test_requests_know_nothing_of_each_other() -> None:
    states = []

    async def handler(scope: Scope, receive: Receive, send: Send) -> None:
        states.append(CURRENT.get())
        await answer(send, 200, "{}")

    ask(LiteLLM(handler))
    ask(LiteLLM(handler))
    assert states[0] is not states[1]
    assert CURRENT.get() is None


def test_large_bodies_take_the_place_of_large_ones_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BUFFERED_BYTES", 2 * LARGE_BODY)
    large = {"model": "gemma", "messages": [{"role": "user", "content": "x" * 2 * LARGE_BODY}]}
    answers: list[Answer] = []

    async def handler(scope: Scope, receive: Receive, send: Send) -> None:
        if not answers:
            answers.append(await asyncio.to_thread(ask_of, intake, large))
            answers.append(await asyncio.to_thread(ask_of, intake, BODIES["chat"]))
        await answer(send, 200, "{}")

    intake = Intake(LiteLLM(handler), SETTINGS)
    assert ask_of(intake, large).status == 200
    assert [found.status for found in answers] == [503, 200]
    assert answers[0].error["code"] == "unavailable"
    assert ask_of(intake, large).status == 200  # what was taken is free again


def test_a_body_has_a_time_to_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BODY_SECONDS", 0.05)
    sent: list[Message] = []

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(Intake(LiteLLM(), SETTINGS)(request("/v1/embeddings"), receive, send))
    assert Answer(sent).error["code"] == "request_timeout"


@pytest.mark.parametrize("begun", [False, True])
def test_an_answer_begins_by_the_deadline_and_then_takes_its_time(monkeypatch: pytest.MonkeyPatch, begun: bool) -> None:
    cancelled = []

    async def handler(scope: Scope, receive: Receive, send: Send) -> None:
        state = CURRENT.get()
        assert state is not None
        assert state.deadline is not None
        assert 59 < state.remaining() <= 60
        if begun:
            await send({"type": "http.response.start", "status": 200, "headers": [JSON]})
            await asyncio.sleep(0.2)
            await send({"type": "http.response.body", "body": b"{}"})
            return
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(state.asked)
            raise

    monkeypatch.setattr(module, "GIVE_UP_SECONDS", -59.9)
    found = ask(LiteLLM(handler))
    if begun:
        assert (found.status, found.body) == (200, b"{}")
    else:
        assert (found.status, found.error["code"]) == (504, "gateway_timeout")
        assert cancelled
