"""The caller's credential: checked against digests, then gone; the runtime's own is put in its place (S4-51, S4-75)."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.proxy_claims import claim, sidecar_endpoint
from tests.wire.client import Answer
from tests.wire.sidecar_bench import (
    CHAT,
    ENDPOINT,
    OTHER_TOKEN,
    RUNTIME_KEY,
    TOKEN,
    Bench,
    digest,
    running_sidecar,
)

pytestmark = pytest.mark.wire


@pytest.fixture(scope="module")
def bench(haproxy_binary: str, folder: Path) -> Iterator[Bench]:
    with running_sidecar(haproxy_binary, folder, claim({ENDPOINT: sidecar_endpoint()})) as running:
        yield running


@pytest.fixture(autouse=True)
def _fresh(bench: Bench) -> None:
    bench.upstream.reset()


def ask(bench: Bench, headers: dict[str, str]) -> Answer:
    return bench.server.request("POST", CHAT, b"{}", headers)


@pytest.mark.parametrize("value", [f"Bearer {TOKEN}", f"bearer {TOKEN}", f"BEARER {TOKEN}", f"Bearer {OTHER_TOKEN}"])
def test_every_known_token_opens_the_door(bench: Bench, value: str) -> None:
    assert ask(bench, {"Authorization": value}).status == 200
    assert bench.upstream.requests[0].header("authorization") == f"Bearer {RUNTIME_KEY}"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer "},
        {"Authorization": TOKEN},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": f"Token {TOKEN}"},
        {"Authorization": f'Bearer "{TOKEN}"'},
        {"Authorization": f"Bearer {TOKEN[:-1]}"},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": f"Bearer {TOKEN.upper()}"},
        {"Authorization": f"Bearer {digest(TOKEN)}"},
        {"Authorization": f"Bearer {RUNTIME_KEY}"},
        {"X-Api-Key": TOKEN},
        {"Proxy-Authorization": f"Bearer {TOKEN}"},
    ],
)
@pytest.mark.parametrize("target", [CHAT, "/sidecar/identity", "/sidecar/health"])
def test_everything_else_is_refused_before_a_connection(bench: Bench, headers: dict[str, str], target: str) -> None:
    method, body = ("POST", b"{}") if target == CHAT else ("GET", None)
    answer = bench.server.request(method, target, body, headers)
    assert (answer.status, answer.code) == (401, "invalid_api_key")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert bench.upstream.connections == 0


def test_two_credentials_are_no_credential(bench: Bench) -> None:
    assert ask(bench, {"Authorization": f"Bearer {TOKEN}, Bearer x"}).status == 400
    lines = f"Authorization: Bearer {TOKEN}\r\nAuthorization: Bearer {OTHER_TOKEN}\r\n"
    data = f"POST {CHAT} HTTP/1.1\r\nHost: t\r\n{lines}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}"
    assert bench.server.send(data.encode()).status == 400
    assert bench.upstream.connections == 0


def test_no_secret_is_in_the_compiled_files(bench: Bench) -> None:
    text = json.dumps(dict(bench.config.files))
    assert not any(secret in text for secret in (TOKEN, OTHER_TOKEN, RUNTIME_KEY, digest(TOKEN)))
