"""100,000 bodies through the intake, before an application that stands for LiteLLM's: no 500, and nothing but JSON."""

import asyncio
import contextlib
import json
import random
from collections.abc import Iterator
from typing import Any, Final

import pytest

from hearth.intake.admission import SCHEMAS, admit
from hearth.intake.application import Intake, Message, Receive, Scope, Send
from hearth.intake.engines import FIELD_VALIDATORS
from hearth.intake.errors import TABLE, RefusedError
from hearth.intake.names import NEVER
from hearth.intake.requests import OPERATION_PATHS
from hearth.intake.settings import Operation, Settings
from tests.support.litellm_reads import RECORD
from tests.unit.intake.bodies import BODIES, SETTINGS

BODIES_IN_ALL: Final = 100_000
PATHS: Final = {operation: path for path, operation in OPERATION_PATHS.items()}
VALUES: Final[list[Any]] = [
    *(None, True, False, 0, 1, -1, 8, 9, 2**31, 2**63, 10**30, 0.5, -2.0, 1e308, "", "x", "é", "\x00", "\ud800", "a b"),
    *("gemma", "nothing", "auto", "none", "text", "user", "x" * 300, "data:image/png;base64,AAAA", "http://127.0.0.1/"),
    *([], [1], ["x"], [[]], [None], {}, {"a": 1}, {"type": "text", "text": "x"}, {"type": "mcp"}, {"role": "user"}),
    *({"$ref": "http://x"}, [{"type": "function", "function": {"name": "f"}}], [{"role": "user", "content": "x"}]),
]  # fmt: skip
RAW: Final = [b"", b"null", b"[]", b"{", b"\xff", b'{"a":NaN}', b'{"a":1,"a":1}', b"[" * 5_000, b"{}" * 2, b'{"model":']


class Application:
    """Answers, and holds what it is given to the promise: canonical JSON with known fields."""

    def __init__(self) -> None:
        self.seen = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/v1/models":
            text = json.dumps({"data": [{"id": name, "created": 1, "owned_by": "x"} for name in SETTINGS.models]})
        else:
            body = (await receive())["body"]
            found = json.loads(body)
            schema = SCHEMAS[OPERATION_PATHS[scope["path"]]]
            passing = {name for name, field in schema.model_fields.items() if not field.exclude}
            assert set(found) - {"extra_body"} <= passing
            assert set(found.get("extra_body", {})) <= SETTINGS.fields - NEVER
            assert found["model"] in SETTINGS.models
            assert b"\\u0000" not in body.replace(b"\\\\", b"")
            self.seen += 1
            text = "{}"
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": text.encode()})


def changed(choose: random.Random, value: Any, names: list[str], depth: int = 0) -> Any:
    """Return a value with something else at a random place."""
    if depth > 4 or choose.random() < 0.25:
        return choose.choice(VALUES)
    if isinstance(value, dict) and value:
        made = dict(value)
        name = choose.choice([*made, choose.choice(names)])
        made[name] = changed(choose, made.get(name), names, depth + 1)
        return made
    if isinstance(value, list) and value:
        made_list = list(value)
        place = choose.randrange(len(made_list))
        made_list[place] = changed(choose, made_list[place], names, depth + 1)
        return made_list
    return choose.choice(VALUES)


NAMES: Final = [*RECORD.read_text(encoding="utf-8").split(), *FIELD_VALIDATORS, *NEVER]
"""Names of fields: all that LiteLLM could read, and the model servers' own."""


def body(choose: random.Random, operation: Operation, names: list[str]) -> bytes:
    if choose.random() < 0.02:
        return choose.choice(RAW)
    made: dict[str, Any] = dict(BODIES[operation])
    for _ in range(choose.randrange(4)):
        name = choose.choice([*made, *SCHEMAS[operation].model_fields, choose.choice(names)])
        made[name] = changed(choose, made.get(name, {}), names)
    text = json.dumps(made).encode()
    if choose.random() < 0.05:
        place = choose.randrange(len(text))
        text = text[:place] + choose.randbytes(choose.randrange(3)) + text[place + choose.randrange(3) :]
    return text


def admitted_bodies(settings: Settings, seed: int) -> Iterator[tuple[Operation, bytes]]:
    """Yield bodies that the intake passes, without an end."""
    choose = random.Random(seed)
    while True:
        operation = choose.choice(list(SCHEMAS))
        text = body(choose, operation, NAMES)
        with contextlib.suppress(RefusedError):
            admit(settings, operation, text)
            yield operation, text


@pytest.mark.long
def test_no_body_breaks_the_intake() -> None:
    choose = random.Random(20_261_130)
    application = Application()
    intake = Intake(application, SETTINGS)
    codes = {row.code for row in TABLE}
    statuses: dict[int, int] = {}

    async def one(operation: Operation, text: bytes) -> None:
        sent: list[Message] = []
        path = PATHS[operation]

        async def receive() -> Message:
            return {"type": "http.request", "body": text, "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        headers = [(b"authorization", b"Bearer sk-0123456789abcdef"), (b"content-type", b"application/json")]
        scope = {"type": "http", "asgi": {}, "method": "POST", "path": path, "query_string": b"", "headers": headers}
        await intake(scope, receive, send)
        status, answer = sent[0]["status"], json.loads(sent[1]["body"])
        assert status < 500, text
        if status != 200:
            assert answer["error"]["code"] in codes
        statuses[status] = statuses.get(status, 0) + 1

    async def every() -> None:
        for _ in range(BODIES_IN_ALL):
            operation = choose.choice(list(SCHEMAS))
            await one(operation, body(choose, operation, NAMES))

    asyncio.run(every())
    assert sum(statuses.values()) == BODIES_IN_ALL
    assert application.seen == statuses[200] > 1_000
    assert statuses[400] > 1_000
    assert statuses[404] > 100
