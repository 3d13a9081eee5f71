"""What a failure means: which row of the error table the client sees, and whether another deployment may be asked.

The guard's code decides where there is one. A refusal for security, a wrong request or a code that nobody knows ends
the request; full, down or broken goes on to the next deployment.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from hearth.intake import errors
from hearth.intake.errors import Refusal
from hearth.intake.state import Failure

ENDS: Final[Mapping[str, Refusal]] = MappingProxyType(
    {
        "bad_request": errors.BAD_REQUEST,
        "credential_malformed": errors.CREDENTIAL_MALFORMED,
        "credential_missing": errors.CREDENTIAL_MISSING,
        "invalid_api_key": errors.UPSTREAM_REFUSED,
        "length_required": errors.INTERNAL_ERROR,
        "not_found": errors.INTERNAL_ERROR,
        "redirect_refused": errors.UPSTREAM_REFUSED,
        "request_timeout": errors.REQUEST_TIMEOUT,
        "request_too_large": errors.REQUEST_TOO_LARGE,
        "response_too_large": errors.BAD_RESPONSE,
        "unprocessable": errors.BAD_REQUEST,
        "unsupported_media_type": errors.UNSUPPORTED_MEDIA_TYPE,
        "upstream_certificate_failed": errors.UPSTREAM_REFUSED,
        "zone_denied": errors.UPSTREAM_REFUSED,
    }
)
"""Codes of the guard after which no other deployment is asked, and what the client is told."""
GOES_ON: Final[Mapping[str, Refusal]] = MappingProxyType(
    {
        "bad_response": errors.BAD_RESPONSE,
        "encoding_refused": errors.BAD_RESPONSE,
        "gateway_timeout": errors.GATEWAY_TIMEOUT,
        "internal_error": errors.UPSTREAM_FAILED,
        "name_unresolved": errors.UNAVAILABLE,
        "not_eligible": errors.NOT_ELIGIBLE,
        "queue_full": errors.QUEUE_FULL,
        "too_many_connections": errors.QUEUE_FULL,
        "unavailable": errors.UNAVAILABLE,
        "upstream_failed": errors.UNAVAILABLE,
        "upstream_unknown": errors.UNAVAILABLE,
    }
)
"""Codes of the guard after which the next deployment of the alias is asked, and what the client is told by the last."""
_REJECTED: Final = frozenset({400, 409, 413, 415, 422})
"""Statuses by which a model server says that the request is wrong."""


def goes_on(failure: Failure) -> bool:
    """Return whether another deployment of the alias may be asked after this failure."""
    if failure.refusal is not None:
        return failure.refusal in GOES_ON
    if failure.status is None:
        return True
    return failure.status in (408, 429) or failure.status >= 500


def of_failure(failure: Failure) -> tuple[Refusal, int, str | None]:
    """Return the row, the status and, where a model server's own text may be shown, that text."""
    if failure.refusal is not None:
        row = GOES_ON.get(failure.refusal) or ENDS.get(failure.refusal) or errors.UPSTREAM_REFUSED
        return row, row.status, None
    status = failure.status
    if status in _REJECTED:
        return errors.UPSTREAM_REJECTED, status, errors.bounded(failure.message) if failure.message else None
    row = {
        None: errors.UNAVAILABLE,
        401: errors.CREDENTIAL_REJECTED,
        403: errors.CREDENTIAL_REJECTED,
        408: errors.GATEWAY_TIMEOUT,
        429: errors.QUEUE_FULL,
        503: errors.UNAVAILABLE,
        504: errors.GATEWAY_TIMEOUT,
    }.get(status, errors.UPSTREAM_FAILED)
    return row, row.status, None


def of_litellm(status: int, body: Any) -> Refusal:
    """Return the row for an error of LiteLLM's own: by its status and kind, never by its text.

    Args:
        status: HTTP status of its answer.
        body: its JSON, or anything.
    """
    error = body.get("error") if isinstance(body, dict) else None
    kind = error.get("type") if isinstance(error, dict) else None
    if kind == "budget_exceeded" or (isinstance(error, dict) and error.get("code") == "budget_exceeded"):
        return errors.BUDGET_EXCEEDED
    if isinstance(kind, str) and kind.endswith("_model_access_denied"):
        return errors.MODEL_NOT_FOUND
    return {
        400: errors.BAD_REQUEST,
        401: errors.INVALID_API_KEY,
        403: errors.MODEL_NOT_FOUND,
        404: errors.MODEL_NOT_FOUND,
        408: errors.GATEWAY_TIMEOUT,
        413: errors.REQUEST_TOO_LARGE,
        422: errors.BAD_REQUEST,
        429: errors.RATE_LIMITED,
        503: errors.UNAVAILABLE,
        504: errors.GATEWAY_TIMEOUT,
    }.get(status, errors.INTERNAL_ERROR)
