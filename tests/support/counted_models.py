"""Model servers that count: what each request cost them, told by a number that its prompt carries.

They stand for runtimes of which a test has to know exactly what they were asked and what they answered. The prompt also
says how they behave, so that many requests may run at once. They are not model servers.
"""

import contextlib
import json
import secrets
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PATIENCE_SECONDS = 60
"""How long a held request waits for its caller to go away."""
NOTICE_SECONDS = 1.5
"""How long the gateway has to go away as well, once a client has."""
INPUT_PRICE, OUTPUT_PRICE = 2**-7, 2**-6
"""Prices of a token. Powers of two, so that every sum of them is exact."""
WORD = " blue"
CHUNKS_BEFORE_HOLD = 3
"""Pieces of a held stream."""


def prompt(number: int, plan: str = "answer") -> str:
    """Return a prompt that carries a request's number and how its model server behaves.

    Args:
        number: unique in a run.
        plan: `answer`; `fail` with 500; `fail-first`, where only the first deployment does; `reject` with 400;
            `broken`, a stream that ends in its middle; `hold`, no further byte until the gateway has gone; `leave`, a
            stream that stands still until the client has gone, and ends then, unless the gateway goes as well.
    """
    return json.dumps({"number": number, "plan": plan})


@dataclass
class Served:
    """One request that arrived at a model server."""

    number: int
    deployment: str
    identity: str
    """Id of the answer, which is the id of the spend log's row."""
    prompt_tokens: int
    completion_tokens: int
    """What the whole answer has."""
    status: int = 0
    """Of the answer; 0 before it has begun."""
    whole: bool = False
    """Whether the answer was sent to its end."""
    abandoned: bool = False
    """Whether the caller went away first."""
    ended: threading.Event = field(default_factory=threading.Event)
    """Set once nothing more becomes of it."""

    @property
    def price(self) -> float:
        return self.prompt_tokens * INPUT_PRICE + self.completion_tokens * OUTPUT_PRICE


class CountedModels(ThreadingHTTPServer):
    """All of them behind one port, by path: /u/<deployment>/v1/…"""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.run = secrets.token_hex(4)
        """Part of every id: LiteLLM records one answer of an id, in all runs over a database."""
        self._lock = threading.Lock()
        self._served: list[Served] = []
        self._arrived: dict[int, threading.Event] = {}
        self._left: dict[int, threading.Event] = {}

    @property
    def served(self) -> list[Served]:
        """What arrived since the last reset, in order."""
        with self._lock:
            return list(self._served)

    def reset(self) -> None:
        """Forget what arrived, and begin another run."""
        self.run = secrets.token_hex(4)
        with self._lock:
            self._served.clear()
            self._arrived.clear()
            self._left.clear()

    def handle_error(self, *_: object) -> None:
        """Say nothing: the gateway may go away at any place."""

    def arrived(self, number: int) -> threading.Event:
        """Return what is set once a request with this number is there."""
        with self._lock:
            return self._arrived.setdefault(number, threading.Event())

    def left(self, number: int) -> threading.Event:
        """Return what is set once the client of this number has gone away."""
        with self._lock:
            return self._left.setdefault(number, threading.Event())

    def count(self, served: Served) -> None:
        """Note a request."""
        with self._lock:
            self._served.append(served)
            attempt = sum(one.number == served.number for one in self._served)
        served.identity = f"{served.identity}-{attempt}"
        self.arrived(served.number).set()


def counted_models(models: CountedModels) -> list[dict[str, Any]]:
    """Return LiteLLM's entries for `spend`, with a second deployment, and `spend-brief`, which has two seconds."""

    def entry(public: str, deployment: str, order: int, seconds: float) -> dict[str, Any]:
        return {
            "model_name": public,
            "litellm_params": {
                "model": f"openai/{deployment}",
                "api_base": f"http://127.0.0.1:{models.server_address[1]}/u/{deployment}/v1",
                "api_key": "unused",
                "timeout": seconds,
                "stream_timeout": seconds,
                "max_retries": 0,
                "order": order,
                "additional_drop_params": ["user"],
            },
            "model_info": {
                "id": f"{public}-{deployment}",
                "supports_reasoning": True,
                "input_cost_per_token": INPUT_PRICE,
                "output_cost_per_token": OUTPUT_PRICE,
            },
        }

    return [
        entry("spend", "first", 1, 60),
        entry("spend", "second", 2, 60),
        entry("spend-brief", "brief", 1, 2),
    ]


class _Handler(BaseHTTPRequestHandler):
    server: CountedModels
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        _, _, deployment, _, path = self.path.split("/", 4)
        asked = json.loads(_prompt(body))
        number, plan = asked["number"], asked["plan"]
        choices = body.get("n") or 1
        served = Served(
            number,
            deployment,
            f"counted-{self.server.run}-{number}",
            prompt_tokens=3 + number % 17,
            completion_tokens=0 if path == "embeddings" else choices * (4 + number % 5),
        )
        self.server.count(served)
        try:
            with contextlib.suppress(OSError):  # the gateway may go away at any place
                self._behave(served, plan, path, body, choices)
        finally:
            served.ended.set()
        self.close_connection = True

    def _behave(self, served: Served, plan: str, path: str, body: dict[str, Any], choices: int) -> None:
        if plan == "reject" or plan == "fail" or (plan == "fail-first" and served.deployment == "first"):
            status = 400 if plan == "reject" else 500
            self._answer(served, status, {"error": {"message": "scripted", "type": "x", "code": "y"}})
        elif body.get("stream"):
            self._stream(served, plan, list(_events(served, path, body, choices)))
        elif plan == "hold":
            self._hold(served)
        else:
            self._answer(served, 200, _answer(served, path, body, choices))

    def _answer(self, served: Served, status: int, content: dict[str, Any]) -> None:
        text = json.dumps(content).encode()
        served.status = status
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
        served.whole = True

    def _stream(self, served: Served, plan: str, events: list[str]) -> None:
        served.status = 200
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for place, event in enumerate(events):
            if place == CHUNKS_BEFORE_HOLD and plan == "broken":
                return
            if place == CHUNKS_BEFORE_HOLD and plan == "hold":
                self._hold(served)
                return
            if place == CHUNKS_BEFORE_HOLD and plan == "leave":
                assert self.server.left(served.number).wait(PATIENCE_SECONDS)
                if self._abandoned(served, NOTICE_SECONDS):
                    return
            self.wfile.write(event.encode())
        served.whole = True

    def _hold(self, served: Served) -> None:
        assert self._abandoned(served, PATIENCE_SECONDS)

    def _abandoned(self, served: Served, seconds: float) -> bool:
        """Return whether the gateway closes within this time."""
        self.connection.settimeout(seconds)
        try:
            assert self.connection.recv(1) == b"", "the gateway sends nothing more"
        except TimeoutError:
            return False
        except ConnectionError:
            pass
        served.abandoned = True
        return True


def _prompt(body: dict[str, Any]) -> str:
    if "messages" in body:
        return str(body["messages"][-1]["content"])
    found = body.get("prompt", body.get("input"))
    return str(found[0] if isinstance(found, list) else found)


def _usage(served: Served) -> dict[str, int]:
    return {
        "prompt_tokens": served.prompt_tokens,
        "completion_tokens": served.completion_tokens,
        "total_tokens": served.prompt_tokens + served.completion_tokens,
    }


def _answer(served: Served, path: str, body: dict[str, Any], choices: int) -> dict[str, Any]:
    base = {"id": served.identity, "created": 1, "model": body["model"]}
    text = WORD * (served.completion_tokens // choices)
    if path == "chat/completions":
        message = {"role": "assistant", "content": text}
        found = [{"index": index, "message": message, "finish_reason": "stop"} for index in range(choices)]
        return {**base, "object": "chat.completion", "choices": found, "usage": _usage(served)}
    if path == "completions":
        found = [{"index": index, "text": text, "finish_reason": "stop"} for index in range(choices)]
        return {**base, "object": "text_completion", "choices": found, "usage": _usage(served)}
    if path == "embeddings":
        usage = {"prompt_tokens": served.prompt_tokens, "total_tokens": served.prompt_tokens}
        data = [{"object": "embedding", "index": 0, "embedding": [0.5]}]
        return {**base, "object": "list", "data": data, "usage": usage}
    return _response(served, body, text)


def _response(served: Served, body: dict[str, Any], text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {
        "id": served.identity,
        "object": "response",
        "created_at": 1,
        "model": body["model"],
        "status": "completed",
        "tools": [],
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "output": [{"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": content}],
        "usage": {
            "input_tokens": served.prompt_tokens,
            "output_tokens": served.completion_tokens,
            "total_tokens": served.prompt_tokens + served.completion_tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


def _events(served: Served, path: str, body: dict[str, Any], choices: int) -> Iterator[str]:
    words = served.completion_tokens // choices
    if path == "responses":
        yield from _response_events(served, body, words)
        return
    base = {"id": served.identity, "created": 1, "model": body["model"]}
    chat = path == "chat/completions"
    base |= {"object": "chat.completion.chunk" if chat else "text_completion"}
    for word in range(words):
        for index in range(choices):
            piece: dict[str, Any] = {"delta": {"role": "assistant", "content": WORD}} if chat else {"text": WORD}
            end = {"finish_reason": "stop" if word == words - 1 else None}
            yield f"data: {json.dumps({**base, 'choices': [{'index': index, **piece, **end}]})}\n\n"
    if (body.get("stream_options") or {}).get("include_usage"):
        yield f"data: {json.dumps({**base, 'choices': [], 'usage': _usage(served)})}\n\n"
    yield "data: [DONE]\n\n"


def _response_events(served: Served, body: dict[str, Any], words: int) -> Iterator[str]:
    whole = _response(served, body, WORD * words)
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
    delta = {"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "content_index": 0}
    events += [{**delta, "delta": WORD}] * words
    events.append({"type": "response.completed", "response": whole})
    for number, event in enumerate(events):
        yield f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': number})}\n\n"
