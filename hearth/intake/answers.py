"""The way back: LiteLLM's errors become rows of the table, whole or as an event of a stream that has begun."""

import json
import re
from typing import Any, Final

from hearth.intake import errors
from hearth.intake.errors import Refusal
from hearth.intake.outcomes import of_failure, of_litellm
from hearth.intake.state import RequestState

Headers = list[tuple[bytes, bytes]]

PASSED_RESPONSE_HEADERS: Final = frozenset(
    {
        b"cache-control",
        b"content-type",
        b"x-litellm-attempted-fallbacks",
        b"x-litellm-attempted-retries",
        b"x-litellm-call-id",
        b"x-litellm-model-group",
        b"x-litellm-response-cost",
    }
)
"""Response headers that a client gets; the others tell of upstreams, keys and other tenants' models."""
CODE_HEADER: Final = b"x-refusal"
"""Carries the code of an error to the front, for its log; the front takes it off."""

_EVENT_END: Final = b"\n\n"
_CHAT_ERROR: Final = re.compile(rb'data: ?\{\s*"error"\s*:')
_RESPONSES_ERROR: Final = re.compile(
    rb'(?:event: ?(?:error|response\.failed)\n|data: ?\{\s*"type"\s*:\s*"(?:error|response\.failed)")'
)
_MOST_RETRY_AFTER: Final = 86_400


def error_response(
    refusal: Refusal,
    *,
    status: int | None = None,
    message: str | None = None,
    param: str | None = None,
    retry_after: int | None = None,
) -> tuple[int, Headers, bytes]:
    """Return status, headers and body of an error.

    Args:
        refusal: the row of the table.
        status: another status than the row's.
        message: another text than the row's.
        param: name of the field that it is about.
        retry_after: seconds, instead of the row's.
    """
    text = errors.body(refusal, message, param=param)
    headers: Headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(text)).encode()),
        (CODE_HEADER, refusal.code.encode()),
    ]
    wait = refusal.retry_after if retry_after is None else retry_after
    if wait is not None:
        headers.append((b"retry-after", str(wait).encode()))
    if refusal.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    return refusal.status if status is None else status, headers, text


def translated(status: int, headers: Headers, text: bytes, state: RequestState) -> tuple[int, Headers, bytes]:
    """Return what the client sees in place of an error of LiteLLM.

    Args:
        status: LiteLLM's status, 300 to 599.
        headers: its headers.
        text: its body.
        state: what the hook has seen of the request.
    """
    if state.failure is not None:
        row, shown, message = of_failure(state.failure)
        return error_response(row, status=shown, message=message, retry_after=state.failure.retry_after)
    try:
        body = json.loads(text)
    except ValueError:
        body = None
    return error_response(of_litellm(status, body), retry_after=retry_after(dict(headers).get(b"retry-after")))


def retry_after(value: bytes | str | None) -> int | None:
    """Return the seconds that a header Retry-After asks for; none when it has none, or a date."""
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    if text is None or not re.fullmatch(r"[0-9]{1,6}(?:\.[0-9]{1,6})?", text.strip()):
        return None
    return min(int(float(text)) + (0 if float(text).is_integer() else 1), _MOST_RETRY_AFTER)


def passed_headers(headers: Headers) -> Headers:
    """Return the headers of an answer that a client gets."""
    return [(name, value) for name, value in headers if name.lower() in PASSED_RESPONSE_HEADERS]


class EventStream:
    """A stream of events on its way to the client: every event as it is, but for errors.

    LiteLLM writes an error as an event of its own, with its text, the upstream's name and address. Text of a model
    cannot look like one: inside a JSON string the quotes are escaped, and a line break too.
    """

    def __init__(self, state: RequestState) -> None:
        self._state = state
        self._rest = b""

    def feed(self, chunk: bytes, *, last: bool) -> bytes:
        """Return what may go on after this piece; an event that is not whole waits for its end.

        Args:
            chunk: the next piece.
            last: no further one follows.
        """
        text = self._rest + chunk
        end = len(text) if last else text.rfind(_EVENT_END) + len(_EVENT_END)
        if not last and end < len(_EVENT_END):
            self._rest = text
            return b""
        whole, self._rest = text[:end], text[end:]
        if b"error" not in whole and b"failed" not in whole:
            return whole
        return _EVENT_END.join(self._event(event) for event in whole.split(_EVENT_END))

    def _event(self, event: bytes) -> bytes:
        start = event.lstrip(b"\n")
        if _CHAT_ERROR.match(start):
            return b"data: " + self.error()
        if _RESPONSES_ERROR.match(start):
            error: dict[str, Any] = json.loads(self.error())["error"]
            told = {"type": "error", "code": error["code"], "message": error["message"], "param": None}
            return b"event: error\ndata: " + json.dumps({**told, "sequence_number": 0}, separators=(",", ":")).encode()
        return event

    def error(self) -> bytes:
        """Return the JSON of the error that ended the stream."""
        if self._state.failure is None:
            return errors.body(errors.UPSTREAM_FAILED)
        row, _, message = of_failure(self._state.failure)
        return errors.body(row, message)
