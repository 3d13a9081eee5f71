"""Every local answer of front, guard and sidecar: one status, one stable code, one sentence each (S4-135 … S4-143)."""

from typing import Final

from hearth.compile.proxy_text import Refusal

BAD_REQUEST: Final = Refusal(400, "bad_request", "invalid_request_error", "The request is malformed.")
INVALID_CREDENTIAL: Final = Refusal(
    401,
    "invalid_api_key",
    "authentication_error",
    "The credential is missing or not known here.",
    (("WWW-Authenticate", "Bearer"),),
)
CREDENTIAL_MISSING: Final = Refusal(
    401, "credential_missing", "authentication_error", "The upstream credential of this model is not configured."
)
CREDENTIAL_MALFORMED: Final = Refusal(
    401,
    "credential_malformed",
    "authentication_error",
    "The upstream credential of this model has a space, a line break or another character that no header can carry.",
)
NOT_FOUND: Final = Refusal(404, "not_found", "invalid_request_error", "There is nothing at this method and path.")
REQUEST_TIMEOUT: Final = Refusal(
    408, "request_timeout", "invalid_request_error", "The request took too long to arrive."
)
LENGTH_REQUIRED: Final = Refusal(411, "length_required", "invalid_request_error", "The request needs a Content-Length.")
REQUEST_TOO_LARGE: Final = Refusal(
    413, "request_too_large", "invalid_request_error", "The request body is larger than permitted here."
)
UNSUPPORTED_MEDIA_TYPE: Final = Refusal(
    415, "unsupported_media_type", "invalid_request_error", "The Content-Type must be application/json."
)
UNPROCESSABLE: Final = Refusal(422, "unprocessable", "invalid_request_error", "The request cannot be processed.")
QUEUE_FULL: Final = Refusal(
    429, "queue_full", "rate_limit_error", "All places are busy and the queue is full.", (("Retry-After", "1"),)
)
TOO_MANY_CONNECTIONS: Final = Refusal(
    429, "too_many_connections", "rate_limit_error", "This client has too many requests open.", (("Retry-After", "1"),)
)
INTERNAL_ERROR: Final = Refusal(500, "internal_error", "api_error", "The proxy failed.")
BAD_RESPONSE: Final = Refusal(502, "bad_response", "api_error", "The answer from upstream is not valid HTTP.")
REDIRECT_REFUSED: Final = Refusal(
    502, "redirect_refused", "api_error", "The upstream answered with a redirect or a protocol switch."
)
ENCODING_REFUSED: Final = Refusal(
    502, "encoding_refused", "api_error", "The upstream answered in an encoding that was not asked for."
)
RESPONSE_TOO_LARGE: Final = Refusal(
    502, "response_too_large", "api_error", "The answer from upstream is larger than permitted here."
)
ZONE_DENIED: Final = Refusal(
    502, "zone_denied", "api_error", "The upstream address is outside its approved network zone."
)
NAME_UNRESOLVED: Final = Refusal(503, "name_unresolved", "api_error", "The upstream name has no address.")
UPSTREAM_UNKNOWN: Final = Refusal(
    503, "upstream_unknown", "api_error", "The upstream is not, or no longer, one of this guard's."
)
UNAVAILABLE: Final = Refusal(
    503, "unavailable", "api_error", "The service behind is not available.", (("Retry-After", "2"),)
)
GATEWAY_TIMEOUT: Final = Refusal(504, "gateway_timeout", "api_error", "The service behind did not answer in time.")

COMMON: Final = (
    BAD_REQUEST,
    INVALID_CREDENTIAL,
    NOT_FOUND,
    REQUEST_TIMEOUT,
    REQUEST_TOO_LARGE,
    UNPROCESSABLE,
    QUEUE_FULL,
    INTERNAL_ERROR,
    BAD_RESPONSE,
    UNAVAILABLE,
    GATEWAY_TIMEOUT,
)
"""What HAProxy answers by itself for a status; one refusal for each status."""
