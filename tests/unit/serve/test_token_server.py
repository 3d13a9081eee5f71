"""What the token server answers (S2-10, S2-11, S2-26, S2-29, C-7)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from hearth.serve.secret_watch import Access, WatchError
from hearth.serve.token_server import CHECK_PORT, METRICS_PORT, PROBE_PORT, TokenServer
from hearth.serve.token_store import TokenStore
from tests.support.tokens import ALPHA, BETA, INSTANCES, secret, token

VALUE, OTHER = token(), token()
VERIFY = "/auth/verify"
Headers = Sequence[tuple[str, str]]


@dataclass
class Running:
    """A server with two tokens whose knowledge is as old as a test says."""

    age: float | None = 0.0
    store: TokenStore = field(default_factory=lambda: TokenStore(INSTANCES))

    def __post_init__(self) -> None:
        self.store.replace([secret("ci", VALUE), secret("notebook", OTHER, BETA)])
        self.server = TokenServer(self.store, lambda: self.age, stale_seconds=120)
        ports = (CHECK_PORT, METRICS_PORT, PROBE_PORT)
        self.server.doors.update(zip(ports, self.server.applications, strict=True))

    def ask(self, path: str = VERIFY, headers: Headers = (), port: int = CHECK_PORT, method: str = "GET") -> Any:
        async def call() -> httpx.Response:
            transport = httpx.ASGITransport(self.server)
            async with httpx.AsyncClient(transport=transport, base_url=f"http://tokens:{port}") as client:
                return await client.request(method, path, headers=list(headers))

        return asyncio.run(call())


def headers(slug: str = ALPHA.slug, value: str = VALUE, *more: tuple[str, str]) -> Headers:
    return (("X-Hearth-Instance", slug), ("Authorization", f"Bearer {value}"), *more)


@pytest.fixture
def running() -> Running:
    return Running()


def test_a_token_opens_its_instance(running: Running) -> None:
    answer = running.ask(headers=headers())
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["cache-control"] == "no-store"
    assert running.ask(headers=headers(BETA.slug, OTHER)).status_code == 200
    assert running.ask(headers=[("x-hearth-instance", ALPHA.slug), ("authorization", f"bearer {VALUE}")]).is_success


@pytest.mark.parametrize(
    "given",
    [
        (),
        (("X-Hearth-Instance", ALPHA.slug),),
        (("Authorization", f"Bearer {VALUE}"),),
        headers(BETA.slug, VALUE),
        headers("AAAAAAAAAAAA", VALUE),
        headers(ALPHA.slug, VALUE + "x"),
        headers(ALPHA.slug, f"{VALUE} {VALUE}"),
        headers(ALPHA.slug, "x" * 300),
        headers(ALPHA.slug, VALUE, ("Authorization", f"Bearer {VALUE}")),
        headers(ALPHA.slug, VALUE, ("X-Hearth-Instance", ALPHA.slug)),
        (("X-Hearth-Instance", ALPHA.slug), ("Authorization", VALUE)),
        (("X-Hearth-Instance", ALPHA.slug), ("Authorization", f"Basic {VALUE}")),
        (("X_Hearth_Instance", ALPHA.slug), ("Authorization", f"Bearer {VALUE}")),
        headers(BETA.slug, VALUE, ("X-Forwarded-Uri", f"/llm/{ALPHA.slug}/v1/models")),
        (("Authorization", f"Bearer {VALUE}"), ("X-Forwarded-Uri", f"/llm/{ALPHA.slug}/v1/models")),
    ],
)
def test_anything_else_is_denied_in_one_and_the_same_way(running: Running, given: Headers) -> None:
    answer = running.ask(headers=given)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == 'Bearer realm="hearth"'
    assert answer.json() == running.ask().json()
    assert VALUE not in answer.text


def test_the_address_that_is_asked_names_no_instance(running: Running) -> None:
    given = headers()[1:]
    assert running.ask(f"{VERIFY}?slug={ALPHA.slug}", given).status_code == 401
    assert running.ask(f"{VERIFY}?slug={BETA.slug}", headers()).status_code == 200


def test_a_deleted_token_is_denied_at_once(running: Running) -> None:
    running.store.remove("ci")
    assert running.ask(headers=headers()).status_code == 401
    assert running.ask(headers=headers(BETA.slug, OTHER)).status_code == 200


@pytest.mark.parametrize(("age", "status"), [(None, 503), (0.0, 200), (120.0, 200), (120.1, 503)])
def test_old_knowledge_counts_for_a_stated_time(running: Running, age: float | None, status: int) -> None:
    running.age = age
    assert running.ask(headers=headers()).status_code == status
    assert running.ask("/readyz", port=PROBE_PORT).status_code == status
    assert running.ask("/healthz", port=PROBE_PORT).status_code == 200
    wrong = running.ask(headers=headers(BETA.slug)).status_code
    assert wrong == (401 if status == 200 else 503)


@pytest.mark.parametrize(
    ("port", "path"),
    [
        (CHECK_PORT, "/metrics"),
        (CHECK_PORT, "/readyz"),
        (CHECK_PORT, "/auth/verify/"),
        (CHECK_PORT, "/auth/verify/x"),
        (METRICS_PORT, VERIFY),
        (PROBE_PORT, VERIFY),
        (PROBE_PORT, "/metrics"),
    ],
)
def test_a_port_answers_what_it_is_for(running: Running, port: int, path: str) -> None:
    assert not running.ask(path, headers(), port).is_success


def test_only_get_is_answered(running: Running) -> None:
    assert running.ask(headers=headers(), method="POST").status_code == 405


def test_the_metrics_count_answers_and_name_no_token(running: Running) -> None:
    running.store.put(secret("planted", token(), ownerReferences=[]))
    running.ask(headers=headers())
    running.ask()
    running.ask()
    running.age = None
    running.ask(headers=headers())
    text = running.ask("/metrics", port=METRICS_PORT).text
    lines = set(text.splitlines())
    assert {
        'hearth_token_checks_total{answer="allowed"} 1.0',
        'hearth_token_checks_total{answer="denied"} 2.0',
        'hearth_token_checks_total{answer="unavailable"} 1.0',
        "hearth_tokens 2.0",
        "hearth_tokens_refused 1.0",
        "hearth_tokens_age_seconds -1.0",
    } <= lines
    assert VALUE not in text
    assert ALPHA.slug not in text


def test_a_process_that_is_in_no_pod_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(WatchError, match="KUBERNETES_SERVICE_HOST is not set"):
        Access.of_pod()


def test_the_address_of_the_api_may_be_of_either_family(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "6443")
    for host, url in (("10.96.0.1", "https://10.96.0.1:6443"), ("fd00::1", "https://[fd00::1]:6443")):
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
        assert Access.of_pod().url == url
