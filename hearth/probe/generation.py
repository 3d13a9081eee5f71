"""Probes of operations that generate text: answer, usage, stream and disconnect (S4-97, S4-106)."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final

from hearth.claim.operations import Operation
from hearth.probe.case import Facts, FailedError
from hearth.probe.target import Target, ask, body_of, opened

LONG: Final = 512
"""Tokens of an answer that is broken off."""
MOST_EVENTS: Final = 10_000
"""Most events of a stream that are read."""


@dataclass(frozen=True)
class Asked:
    """One operation of one deployment."""

    target: Target
    """The endpoint."""
    model: str
    """Name of the model."""
    operation: Operation
    """The operation."""

    def whole(self, **more: Any) -> dict[str, Any]:
        """Return the object that answers a small request.

        Raises:
            FailedError: there is none.
        """
        path = self.target.path_of(self.operation)
        answer = ask(self.target, "POST", path, body_of(self.operation, self.model, **more))
        if answer.status != 200:
            raise FailedError("not_answered", status=answer.status)
        try:
            return answer.json()
        except ValueError:
            raise FailedError("answer_is_no_object") from None

    def events(self, tokens: int = 16) -> Iterator[str]:
        """Yield the data of a stream's events as they come.

        Raises:
            FailedError: there is no stream, or it is no stream of events.
        """
        path = self.target.path_of(self.operation)
        body = body_of(self.operation, self.model, tokens=tokens, stream=True)
        with opened(self.target, "POST", path, body) as (response, _):
            if response.status != 200:
                raise FailedError("stream_not_begun", status=response.status)
            if not str(response.getheader("content-type")).startswith("text/event-stream"):
                raise FailedError("not_a_stream_of_events")
            for _ in range(MOST_EVENTS):
                line = response.readline(1_048_576)
                if not line:
                    return
                if line.startswith(b"data:"):
                    yield line.removeprefix(b"data:").strip().decode("utf-8", "replace")


def _text(operation: Operation, document: Mapping[str, Any]) -> str:
    """Return the text of a whole answer; empty when it has none where it belongs."""
    try:
        if operation == "chat":
            return str(document["choices"][0]["message"]["content"] or "")
        if operation == "completion":
            return str(document["choices"][0]["text"] or "")
        return "".join(
            part["text"] for item in document["output"] for part in item.get("content", ()) if "text" in part
        )
    except (KeyError, IndexError, TypeError, AttributeError):
        return ""


def _answer(asked: Asked) -> Facts:
    started = time.monotonic()
    if not _text(asked.operation, asked.whole()).strip():
        raise FailedError("answer_without_text")
    return {"answer_ms": int((time.monotonic() - started) * 1000)}


def counted(usage: object, operation: Operation) -> Facts:
    """Return the tokens that an answer says it used.

    Raises:
        FailedError: it says none, or what it says contradicts itself.
    """
    names = ("input_tokens", "output_tokens") if operation == "responses" else ("prompt_tokens", "completion_tokens")
    if operation == "embedding":
        names = ("prompt_tokens",)  # type: ignore[assignment]
    if not isinstance(usage, Mapping):
        raise FailedError("usage_absent")
    values = [usage.get(name) for name in (*names, "total_tokens")]
    if not all(isinstance(value, int) and not isinstance(value, bool) and value > 0 for value in values):
        raise FailedError("usage_incomplete")
    numbers = [value for value in values if isinstance(value, int)]
    if sum(numbers[:-1]) != numbers[-1]:
        raise FailedError("usage_contradicts_itself")
    return dict(zip((*names, "total_tokens"), numbers, strict=True))


def _usage(asked: Asked) -> Facts:
    return counted(asked.whole().get("usage"), asked.operation)


def _parsed(data: str) -> Mapping[str, Any]:
    try:
        value = json.loads(data)
    except ValueError:
        raise FailedError("event_is_no_json") from None
    if not isinstance(value, Mapping):
        raise FailedError("event_is_no_object")
    return value


def _stream(asked: Asked) -> Facts:
    """The events are objects, come one after the other, end as they must, and say what was used exactly once."""
    started, arrivals, usages, ended = time.monotonic(), list[float](), list[object](), False
    for data in asked.events():
        if ended:
            raise FailedError("event_after_the_end")
        arrivals.append(time.monotonic() - started)
        if data == "[DONE]":
            ended = asked.operation != "responses"
            continue
        event = _parsed(data)
        if asked.operation == "responses" and event.get("type") == "response.completed":
            ended = True
            response = event.get("response")
            event = response if isinstance(response, Mapping) else {}
        if event.get("usage") is not None:
            usages.append(event["usage"])
    if not ended:
        raise FailedError("stream_without_end", events=len(arrivals))
    if len(arrivals) < 3:
        raise FailedError("stream_in_one_piece", events=len(arrivals))
    if len(usages) != 1:
        raise FailedError("usage_absent" if not usages else "usage_ambiguous", events=len(arrivals))
    counted(usages[0], asked.operation)
    return {
        "events": len(arrivals),
        "first_event_ms": int(arrivals[0] * 1000),
        "last_event_ms": int(arrivals[-1] * 1000),
    }


def _disconnect(asked: Asked) -> Facts:
    """As many streams as there are places are broken off, and the next request gets a place at once."""
    target, body = asked.target, body_of(asked.operation, asked.model, tokens=LONG, stream=True)
    path = target.path_of(asked.operation)
    with ExitStack() as streams:
        for _ in range(target.bounds.parallel_requests):
            response, _ = streams.enter_context(opened(target, "POST", path, body))
            if response.status != 200 or not response.readline(1_048_576):
                raise FailedError("stream_not_begun", status=response.status)
    broken_off = time.monotonic()
    with opened(target, "POST", path, body_of(asked.operation, asked.model, stream=True)) as (response, _):
        if response.status != 200 or not response.readline(1_048_576):
            raise FailedError("place_not_freed", status=response.status)
        return {"freed_ms": int((time.monotonic() - broken_off) * 1000)}


CAPABILITIES: Final[Mapping[str, Callable[[Asked], Facts]]] = {
    "answer": _answer,
    "usage": _usage,
    "stream": _stream,
    "stream_framing": _stream,
    "stream_setup": _stream,
    "disconnect": _disconnect,
}
"""Probes of an operation that generates text, by capability."""
