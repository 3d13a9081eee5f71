"""Method, target and headers of a client."""

from typing import Any

import pytest

from hearth.intake import errors
from hearth.intake.errors import RefusedError
from hearth.intake.requests import END_USER_HEADER, OPERATION_PATHS, Target, check_content, passed_headers, target

KEY = (b"authorization", b"Bearer sk-0123456789abcdef")


def scope(method: str, path: str, query: bytes = b"", raw: bytes | None = None) -> dict[str, Any]:
    return {"method": method, "path": path, "raw_path": path.encode() if raw is None else raw, "query_string": query}


@pytest.mark.parametrize("path", OPERATION_PATHS)
def test_operations_are_posted_to_their_path(path: str) -> None:
    assert target(scope("POST", path)) == Target(operation=OPERATION_PATHS[path])


def test_models_are_listed_and_named() -> None:
    assert target(scope("GET", "/v1/models")) == Target()
    assert target(scope("GET", "/v1/models/gemma")) == Target(model="gemma")
    assert target(scope("GET", "/v1/models/vendor/model-1")) == Target(model="vendor/model-1")
    assert target(scope("GET", "/health/liveliness")) == Target(liveliness=True)


@pytest.mark.parametrize(
    "found",
    [
        scope("GET", "/v1/chat/completions"),
        scope("HEAD", "/v1/models"),
        scope("post", "/v1/embeddings"),
        scope("POST", "/v1/models"),
        scope("POST", "/chat/completions"),
        scope("POST", "/v1/chat/completions/"),
        scope("POST", "/v1//chat/completions"),
        scope("POST", "/V1/chat/completions"),
        scope("POST", "/v1/chat/completions", query=b"x=1"),
        scope("POST", "/v1/chat/completions", raw=b"/v1/chat%2Fcompletions"),
        scope("POST", "/v1/chat/completions", raw=b"/v1/chat/completions;x"),
        scope("GET", "/v1/models/a/b/c"),
        scope("GET", "/v1/models/../key"),
        scope("GET", "/v1/models/a b"),
        scope("GET", "/v1/models/"),
        scope("GET", "/health"),
        scope("GET", "/model/info"),
        scope("POST", "/key/generate"),
        scope("GET", "/"),
        scope("OPTIONS", "*"),
    ],
)
def test_every_other_target_is_nothing(found: dict[str, Any]) -> None:
    with pytest.raises(RefusedError) as caught:
        target(found)
    assert caught.value.refusal is errors.NOT_FOUND


def test_of_the_headers_what_litellm_needs_passes() -> None:
    given = [
        KEY,
        (b"Host", b"gateway"),
        (b"user-agent", b"x"),
        (b"x-litellm-timeout", b"1"),
        (b"x-litellm-tags", b"a"),
        (b"litellm-changed-by", b"x"),
        (b"cookie", b"token=x"),
        (b"content-length", b"5"),
        (b"transfer-encoding", b"chunked"),
        (b"traceparent", b"00-1-2-01"),
        (b"openai-organization", b"x"),
        (END_USER_HEADER, b"alice"),
    ]
    assert passed_headers(given) == [KEY, (b"host", b"gateway"), (b"user-agent", b"x"), (b"traceparent", b"00-1-2-01")]


@pytest.mark.parametrize("name", [b"x-api-key", b"api-key", b"X-API-Key"])
def test_every_form_of_the_key_becomes_one(name: bytes) -> None:
    assert passed_headers([(name, b"sk-0123456789abcdef")]) == [KEY]
    assert passed_headers([(name, b"sk-0123456789abcdef"), KEY]) == [KEY]
    assert passed_headers([(b"authorization", b"bearer  sk-0123456789abcdef ")]) == [KEY]


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ([], "invalid_api_key"),
        ([(b"authorization", b"Basic sk-0123456789abcdef")], "invalid_api_key"),
        ([(b"authorization", b"sk-0123456789abcdef")], "invalid_api_key"),
        ([(b"authorization", b"Bearer ")], "invalid_api_key"),
        ([(b"authorization", b"Bearer a b c d e f g h")], "invalid_api_key"),
        ([(b"authorization", b"Bearer sk-\x00123456789")], "invalid_api_key"),
        ([(b"authorization", b"Bearer " + b"x" * 513)], "invalid_api_key"),
        ([(b"x-litellm-api-key", b"sk-0123456789abcdef")], "invalid_api_key"),
        ([KEY, KEY], "bad_request"),
        ([KEY, (b"api-key", b"sk-fedcba9876543210")], "bad_request"),
        ([KEY, (END_USER_HEADER, b"a"), (END_USER_HEADER, b"b")], "bad_request"),
        ([KEY, (b"content-type", b"a"), (b"Content-Type", b"b")], "bad_request"),
    ],
)
def test_a_request_has_one_credential(headers: list[tuple[bytes, bytes]], code: str) -> None:
    with pytest.raises(RefusedError) as caught:
        passed_headers(headers)
    assert caught.value.refusal.code == code


@pytest.mark.parametrize(
    "value", [b"application/json", b"application/json; charset=utf-8", b'Application/JSON;charset="UTF-8"']
)
def test_json_is_taken(value: bytes) -> None:
    check_content([(b"content-type", value), (b"content-encoding", b"identity")])


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [(b"content-type", b"text/plain")],
        [(b"content-type", b"application/x-www-form-urlencoded")],
        [(b"content-type", b"multipart/form-data; boundary=x")],
        [(b"content-type", b"application/json; charset=utf-16")],
        [(b"content-type", b"application/json, text/plain")],
        [(b"content-type", b"application/json-seq")],
        [(b"content-type", b"application/json"), (b"content-encoding", b"gzip")],
        [(b"content-type", b"application/json"), (b"content-encoding", b"identity, gzip")],
    ],
)
def test_everything_else_is_415(headers: list[tuple[bytes, bytes]]) -> None:
    with pytest.raises(RefusedError) as caught:
        check_content(headers)
    assert caught.value.refusal.status == 415
