"""The one table of errors that a client of the gateway can see, in the form of the OpenAI API.

Codes are stable. No message says anything of LiteLLM, an address, an upstream or a key. The client guide's table is
made from this one (`python docs/generate.py`).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

MOST_TEXT: Final = 1_000
"""Most characters of a message that is not the table's own."""


@dataclass(frozen=True)
class Refusal:
    """One row: what a client sees, and what it can do about it."""

    status: int
    """HTTP status."""
    code: str
    """Stable code that clients and tests may rely on."""
    type: str
    """OpenAI's error type."""
    message: str
    """One sentence for people."""
    remedy: str
    """What the client guide says to do."""
    retry_after: int | None = None
    """Seconds for the header Retry-After, when the answer carries none of its own."""


_INVALID: Final = "invalid_request_error"
_AUTHENTICATION: Final = "authentication_error"
_LIMIT: Final = "rate_limit_error"
_API: Final = "api_error"

BAD_REQUEST: Final = Refusal(400, "bad_request", _INVALID, "The request is malformed.", "correct it")
INVALID_JSON: Final = Refusal(
    400, "invalid_json", _INVALID, "The body is not one JSON object.", "send strict JSON in UTF-8, every key once"
)
INVALID_PARAMETER: Final = Refusal(
    400, "invalid_parameter", _INVALID, "A field has a value that is not permitted.", "correct the fields it names"
)
UNKNOWN_PARAMETER: Final = Refusal(
    400,
    "unknown_parameter",
    _INVALID,
    "A field is not known here.",
    "leave the fields out that it names, or ask the operator for `extraFields` at the model's deployment",
)
OPERATION_NOT_OFFERED: Final = Refusal(
    400, "operation_not_offered", _INVALID, "This model does not offer this operation.", "use another model or path"
)
UPSTREAM_REJECTED: Final = Refusal(
    400,
    "upstream_rejected",
    _INVALID,
    "The model server rejected the request.",
    "correct it; the message is the model server's own (also with the statuses 409, 413 and 422)",
)
COST_ABOVE_BOUND: Final = Refusal(
    400,
    "cost_above_bound",
    _INVALID,
    "The request could cost more than one request to this model may.",
    "ask for less: `max_tokens`, `n`, or the number and length of the inputs",
)
INVALID_API_KEY: Final = Refusal(
    401, "invalid_api_key", _AUTHENTICATION, "The API key is missing or not known.", "read the Secret again"
)
CREDENTIAL_MISSING: Final = Refusal(
    401,
    "credential_missing",
    _AUTHENTICATION,
    "The upstream credential of this model is not configured.",
    "your key is right; tell the operator",
)
CREDENTIAL_MALFORMED: Final = Refusal(
    401,
    "credential_malformed",
    _AUTHENTICATION,
    "The upstream credential of this model cannot be sent.",
    "your key is right; tell the operator",
)
CREDENTIAL_REJECTED: Final = Refusal(
    401,
    "credential_rejected",
    _AUTHENTICATION,
    "The model server does not accept the credential that is configured for it.",
    "your key is right; tell the operator",
)
NOT_FOUND: Final = Refusal(404, "not_found", _INVALID, "There is nothing at this method and path.", "check the path")
MODEL_NOT_FOUND: Final = Refusal(
    404, "model_not_found", _INVALID, "The model does not exist or your key may not use it.", "see `GET /v1/models`"
)
REQUEST_TIMEOUT: Final = Refusal(408, "request_timeout", _INVALID, "The request took too long to arrive.", "repeat it")
LENGTH_REQUIRED: Final = Refusal(
    411, "length_required", _INVALID, "The request needs a Content-Length.", "send one, as all usual libraries do"
)
REQUEST_TOO_LARGE: Final = Refusal(
    413, "request_too_large", _INVALID, "The request body is larger than permitted here.", "send less"
)
UNSUPPORTED_MEDIA_TYPE: Final = Refusal(
    415,
    "unsupported_media_type",
    _INVALID,
    "The body must be application/json in UTF-8 and not compressed.",
    "set the Content-Type, send no Content-Encoding",
)
QUEUE_FULL: Final = Refusal(
    429, "queue_full", _LIMIT, "All places of this model are busy.", "wait for Retry-After", retry_after=1
)
TOO_MANY_CONNECTIONS: Final = Refusal(
    429, "too_many_connections", _LIMIT, "This client has too many requests open.", "open fewer at once", retry_after=1
)
RATE_LIMITED: Final = Refusal(
    429, "rate_limit_exceeded", _LIMIT, "A rate limit is reached.", "wait, with growing pauses", retry_after=5
)
BUDGET_EXCEEDED: Final = Refusal(
    429, "budget_exceeded", _LIMIT, "A budget is spent.", "wait for the budget's period to end, or ask the operator"
)
INTERNAL_ERROR: Final = Refusal(500, "internal_error", _API, "The gateway failed.", "repeat once, then report")
UPSTREAM_FAILED: Final = Refusal(502, "upstream_failed", _API, "The model server failed.", "repeat once, then report")
UPSTREAM_REFUSED: Final = Refusal(
    502, "upstream_refused", _API, "The model server's identity is not as approved.", "tell the operator"
)
BAD_RESPONSE: Final = Refusal(
    502, "bad_response", _API, "The answer of the model server cannot be passed on.", "report it"
)
UNAVAILABLE: Final = Refusal(
    503, "unavailable", _API, "The service is not available at the moment.", "repeat with pauses", retry_after=2
)
NOT_ELIGIBLE: Final = Refusal(
    503, "not_eligible", _API, "The model may not answer at the moment.", "repeat later, or use another", retry_after=10
)
GATEWAY_TIMEOUT: Final = Refusal(
    504, "gateway_timeout", _API, "The model did not answer in time.", "ask for less: fewer tokens, shorter context"
)

TABLE: Final = (
    BAD_REQUEST,
    INVALID_JSON,
    INVALID_PARAMETER,
    UNKNOWN_PARAMETER,
    OPERATION_NOT_OFFERED,
    COST_ABOVE_BOUND,
    UPSTREAM_REJECTED,
    INVALID_API_KEY,
    CREDENTIAL_MISSING,
    CREDENTIAL_MALFORMED,
    CREDENTIAL_REJECTED,
    NOT_FOUND,
    MODEL_NOT_FOUND,
    REQUEST_TIMEOUT,
    LENGTH_REQUIRED,
    REQUEST_TOO_LARGE,
    UNSUPPORTED_MEDIA_TYPE,
    QUEUE_FULL,
    TOO_MANY_CONNECTIONS,
    RATE_LIMITED,
    BUDGET_EXCEEDED,
    INTERNAL_ERROR,
    UPSTREAM_FAILED,
    UPSTREAM_REFUSED,
    BAD_RESPONSE,
    UNAVAILABLE,
    NOT_ELIGIBLE,
    GATEWAY_TIMEOUT,
)
"""Every error, by status."""


class RefusedError(Exception):
    """A request ends here with a row of the table.

    Attributes:
        refusal: the row.
        details: sentences that follow its message; they name fields of the request and repeat none of its values.
        param: the field that the first of them is about.
    """

    def __init__(self, refusal: Refusal, details: Sequence[str] = (), *, param: str | None = None) -> None:
        super().__init__(refusal.code)
        self.refusal = refusal
        self.details = tuple(details)
        self.param = param

    @property
    def message(self) -> str:
        """Return the text that the client sees."""
        return bounded(" ".join((self.refusal.message, *self.details)))


def bounded(text: str) -> str:
    """Return a text that is not ours as it may stand in an answer: printable, and of bounded length."""
    plain = "".join(character if character.isprintable() else " " for character in text[: 4 * MOST_TEXT])
    return plain if len(plain) <= MOST_TEXT else plain[: MOST_TEXT - 1] + "…"


def body(refusal: Refusal, message: str | None = None, *, param: str | None = None) -> bytes:
    """Return the JSON of an error.

    Args:
        refusal: the row.
        message: another text than the row's own.
        param: name of the field that the error is about.
    """
    error = {"message": message or refusal.message, "type": refusal.type, "param": param, "code": refusal.code}
    return json.dumps({"error": error}, separators=(",", ":")).encode()
