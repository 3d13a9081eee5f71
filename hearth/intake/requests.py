"""The request line and headers of a client: exactly the client API, and of the headers what it needs."""

import re
from dataclasses import dataclass
from typing import Any, Final

from hearth.intake.errors import (
    BAD_REQUEST,
    INVALID_API_KEY,
    NOT_FOUND,
    UNSUPPORTED_MEDIA_TYPE,
    RefusedError,
)
from hearth.intake.settings import Operation

OPERATION_PATHS: Final[dict[str, Operation]] = {
    "/v1/chat/completions": "chat",
    "/v1/completions": "completion",
    "/v1/embeddings": "embedding",
    "/v1/responses": "responses",
}
"""The paths of POST."""
MODELS_PATH: Final = "/v1/models"
"""The list of models."""
LIVELINESS_PATH: Final = "/health/liveliness"
"""Whether the process answers; the front asks this for the kubelet and lets no client through to it."""
END_USER_HEADER: Final = b"x-litellm-end-user-id"
"""The one header by which a client may name a person."""

_CREDENTIALS: Final = (b"authorization", b"x-api-key", b"api-key")
_ONCE: Final = (*_CREDENTIALS, END_USER_HEADER, b"content-type", b"content-encoding", b"content-length")
_PASSED: Final = (b"host", b"user-agent", b"traceparent", b"tracestate")
_KEY: Final = re.compile(rb"[A-Za-z0-9._~+/=-]{8,512}")
_MODEL_PATH: Final = re.compile(
    r"/v1/models/([A-Za-z0-9][A-Za-z0-9._:-]{0,254}(?:/[A-Za-z0-9][A-Za-z0-9._:-]{0,254})?)"
)
_CONTENT_TYPE: Final = re.compile(rb'application/json(?:[ \t]*;[ \t]*charset[ \t]*=[ \t]*"?utf-8"?)?', re.IGNORECASE)
_MOST_HEADER_BYTES: Final = 1_024

Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True)
class Target:
    """What a request is for."""

    operation: Operation | None = None
    """The operation of a POST; none for everything else."""
    model: str | None = None
    """The model that is asked about, of GET /v1/models/<name>."""
    liveliness: bool = False
    """Whether the kubelet asks."""


def target(scope: dict[str, Any]) -> Target:
    """Return what a request is for. Method and target count byte for byte; nothing is decoded, and a query misses.

    Raises:
        RefusedError: it is for nothing that the client API has.
    """
    method, path = scope["method"], scope["path"]
    if scope.get("query_string") or scope.get("raw_path", path.encode()) != path.encode():
        raise RefusedError(NOT_FOUND)
    if method == "POST" and path in OPERATION_PATHS:
        return Target(operation=OPERATION_PATHS[path])
    if method == "GET":
        if path == MODELS_PATH:
            return Target()
        if path == LIVELINESS_PATH:
            return Target(liveliness=True)
        found = _MODEL_PATH.fullmatch(path)
        if found:
            return Target(model=found[1])
    raise RefusedError(NOT_FOUND)


def passed_headers(headers: Headers) -> Headers:
    """Return the headers that LiteLLM sees: one credential in one form, and what traces and logs need.

    LiteLLM takes orders by header (timeouts, tags, callbacks, another key), and four headers as credential.

    Raises:
        RefusedError: no credential, two that differ, one in another form than Bearer, or a header twice.
    """
    found: dict[bytes, bytes] = {}
    for name, value in headers:
        name = name.lower()
        if name in _ONCE and name in found:
            raise RefusedError(BAD_REQUEST, [f"The header {name.decode()} is there twice."])
        found[name] = value
    keys = set()
    for name in _CREDENTIALS:
        if name not in found:
            continue
        key = found[name].strip()
        if name == b"authorization":
            scheme, _, key = key.partition(b" ")
            if scheme.lower() != b"bearer":
                raise RefusedError(INVALID_API_KEY)
            key = key.strip()
        keys.add(key)
    if len(keys) != 1:
        raise RefusedError(BAD_REQUEST, ["Two credentials differ."]) if keys else RefusedError(INVALID_API_KEY)
    key = keys.pop()
    if not _KEY.fullmatch(key):
        raise RefusedError(INVALID_API_KEY)
    passed = [(name, found[name]) for name in _PASSED if name in found and len(found[name]) <= _MOST_HEADER_BYTES]
    return [(b"authorization", b"Bearer " + key), *passed]


def check_content(headers: Headers) -> None:
    """Refuse a body that is not plain JSON, before it is read.

    Raises:
        RefusedError: another type, another character set, or a compressed body.
    """
    found = {name.lower(): value for name, value in headers}
    if not _CONTENT_TYPE.fullmatch(found.get(b"content-type", b"").strip()):
        raise RefusedError(UNSUPPORTED_MEDIA_TYPE)
    if found.get(b"content-encoding", b"identity").strip().lower() != b"identity":
        raise RefusedError(UNSUPPORTED_MEDIA_TYPE)


def header(headers: Headers, name: bytes) -> str | None:
    """Return a header's value as text."""
    return next((value.decode("latin-1") for key, value in headers if key.lower() == name), None)
