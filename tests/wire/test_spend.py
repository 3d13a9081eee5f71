"""Spend over two replicas: what the model servers counted is what is recorded, to the request."""

import http.client
import json
import random
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from hearth.gatewayapi.client import GatewayClient
from hearth.gatewayapi.records import WantedBudget, WantedKey, WantedTeam
from hearth.intake.requests import OPERATION_PATHS
from tests.support.counted_models import CHUNKS_BEFORE_HOLD, INPUT_PRICE, OUTPUT_PRICE, Served, prompt
from tests.support.database import Postgres
from tests.support.gateway_contract import wanted_key, wanted_team
from tests.support.litellm import LiteLLM
from tests.unit.intake.test_admission import ATTACKS

pytestmark = pytest.mark.wire

PATIENCE = 240
"""Half-second looks until what LiteLLM writes every few seconds must be there."""
PLANS: tuple[tuple[str, str, dict[str, Any], int], ...] = (
    # operation, plan of the model server, fields, how often
    ("chat", "answer", {}, 6),
    ("chat", "answer", {"n": 3}, 2),
    ("completion", "answer", {}, 2),
    ("completion", "answer", {"n": 2}, 1),
    ("embedding", "answer", {}, 2),
    ("responses", "answer", {}, 2),
    ("chat", "answer", {"stream": True}, 4),
    ("chat", "answer", {"stream": True, "n": 2}, 1),
    ("chat", "answer", {"stream": True, "stream_options": {"include_usage": True}}, 2),
    ("completion", "answer", {"stream": True}, 2),
    ("completion", "answer", {"stream": True, "stream_options": {"include_usage": True}}, 2),
    ("responses", "answer", {"stream": True}, 2),
    ("chat", "fail-first", {}, 2),
    ("chat", "fail-first", {"stream": True}, 1),
    ("chat", "fail", {}, 1),
    ("completion", "fail", {}, 1),
    ("embedding", "fail", {}, 1),
    ("responses", "fail", {}, 1),
    ("chat", "reject", {}, 1),
    ("responses", "reject", {}, 1),
    ("chat", "broken", {"stream": True}, 1),
    ("chat", "hold", {}, 1),
    ("completion", "hold", {}, 1),
    ("embedding", "hold", {}, 1),
    ("responses", "hold", {}, 1),
    ("chat", "hold", {"stream": True}, 2),
    ("completion", "leave", {"stream": True}, 1),
    ("responses", "leave", {"stream": True}, 1),
    ("chat", "hold", {"model": "spend-brief"}, 1),
    ("chat", "hostile", {}, 3),
    ("chat", "wrong key", {}, 1),
    ("chat", "answer", {"model": "other"}, 1),
    ("chat", "answer", {"model": "nothing"}, 1),
)
PATHS = {operation: path for path, operation in OPERATION_PATHS.items()}


@dataclass(frozen=True)
class Tenant:
    """A team with two applications."""

    team: WantedTeam
    keys: tuple[WantedKey, ...]


@dataclass
class Asked:
    """One request as its client sees it."""

    number: int
    operation: str
    plan: str
    fields: dict[str, Any]
    key: WantedKey
    person: str | None
    status: int | None = None
    """None where the client went away."""

    @property
    def leaves(self) -> bool:
        """Whether the client goes away before the end."""
        return self.plan in ("hold", "leave") and self.fields.get("model") != "spend-brief"


@dataclass
class Spending:
    """Tenants that ask both replicas."""

    gateway: LiteLLM
    owner: psycopg.Connection[Any]
    tenants: tuple[Tenant, ...]
    persons: tuple[str | None, ...]
    asked: list[Asked] = field(default_factory=list)

    def ask_all(self, count: int) -> None:
        """Send so many requests, sixteen at a time."""
        choose = random.Random(count)
        weights = [weight for *_, weight in PLANS]
        plans = [*PLANS, *choose.choices(PLANS, weights, k=max(0, count - len(PLANS)))][:count]
        choose.shuffle(plans)
        self.asked = [
            Asked(
                number,
                operation,
                plan,
                fields,
                choose.choice(choose.choice(self.tenants).keys),
                choose.choice(self.persons),
            )
            for number, (operation, plan, fields, _) in enumerate(plans)
        ]
        attacks = random.Random(count)
        bodies = [_body(one, attacks) for one in self.asked]
        with ThreadPoolExecutor(16) as pool:
            for done in [pool.submit(self._ask, one, body) for one, body in zip(self.asked, bodies, strict=True)]:
                done.result()

    def _ask(self, one: Asked, body: dict[str, Any]) -> None:
        door = urlsplit(self.gateway.clients[one.number % 2])
        key = "sk-0123456789abcdef" if one.plan == "wrong key" else one.key.value
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        if one.person and one.number % 3 == 0:
            headers["x-litellm-end-user-id"] = one.person
        elif one.person and one.plan != "hostile":
            body["user"] = one.person
        connection = http.client.HTTPConnection(door.hostname or "", door.port, timeout=120)
        try:
            connection.request("POST", PATHS[one.operation], json.dumps(body), headers)
            if one.leaves and self._arrives(one, connection):
                if one.fields.get("stream"):
                    assert connection.getresponse().readline()
                return
            answer = connection.getresponse()
            answer.read()
            one.status = answer.status
        finally:
            connection.close()
            self.gateway.counted.left(one.number).set()

    def _arrives(self, one: Asked, connection: http.client.HTTPConnection) -> bool:
        """Return whether a request reached its model server, and not a refusal its client."""
        arrived = self.gateway.counted.arrived(one.number)
        for _ in range(PATIENCE * 5):
            if arrived.wait(0.1):
                return True
            assert connection.sock is not None
            connection.sock.setblocking(False)
            try:
                connection.sock.recv(1, 2)  # MSG_PEEK: something was answered
                return False
            except BlockingIOError:
                pass
            finally:
                connection.sock.settimeout(120)
        raise AssertionError(f"neither arrived nor was refused: {one}")

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Return rows of these tenants and persons."""
        keys = [key.token for tenant in self.tenants for key in tenant.keys]
        teams = [tenant.team.team_id for tenant in self.tenants]
        parameters = {"keys": keys, "teams": teams, "persons": [name for name in self.persons if name]}
        return self.owner.execute(statement.encode(), parameters).fetchall()

    def sums(self, statement: str) -> dict[str, float]:
        """Return spend by key, team or person; without those that spent nothing."""
        return {name: spend for name, spend in self.rows(statement) if spend}


def _body(one: Asked, attacks: random.Random) -> dict[str, Any]:
    text = prompt(one.number, one.plan)
    body: dict[str, Any] = {
        "chat": {"messages": [{"role": "user", "content": text}], "max_tokens": 20},
        "completion": {"prompt": text, "max_tokens": 20},
        "embedding": {"input": text},
        "responses": {"input": text, "max_output_tokens": 20},
    }[one.operation]
    hostile = ATTACKS[attacks.choice(list(ATTACKS))] if one.plan == "hostile" else {}
    return {"model": "spend", **body, **one.fields, **hostile}


@pytest.fixture
def spending(running_litellm: LiteLLM, database_server: Postgres) -> Iterator[Spending]:
    api = running_litellm.management_api()
    run = secrets.token_hex(4)
    with api, psycopg.connect(database_server.url(running_litellm.database), autocommit=True) as owner:
        client = GatewayClient(api)
        client.create_budget(WantedBudget(run, 1e6, "1d", 100_000, 100_000_000))
        tenants = []
        for name, budget in (("rich", 1e6), ("free", None), ("poor", 2.0)):
            limits: dict[str, Any] = {} if budget is None else {"max_budget": budget, "budget_duration": "30d"}
            team = wanted_team(f"{name}{run}", "spend", "spend-brief", **limits)
            client.create_team(team)
            keys = tuple(wanted_key(team, "spend", "spend-brief", app=app) for app in ("one", "two"))
            for key in keys:
                client.register_key(key)
            tenants.append(Tenant(team, keys))
        running_litellm.counted.reset()
        persons = tuple(f"{name}-{run}" for name in ("anna", "bert", "cleo"))
        yield Spending(running_litellm, owner, tuple(tenants), (*persons, None))
        for tenant in tenants:
            for key in tenant.keys:
                client.block_key(key.token)
                client.delete_key(key.token)
            client.delete_team(tenant.team.team_id)
        client.delete_budget(run)


ROWS = """
SELECT api_key, end_user, prompt_tokens, completion_tokens, spend, request_id, status, team_id
FROM "LiteLLM_SpendLogs" WHERE api_key = ANY(%(keys)s)
"""
SUMS = {
    "key": """SELECT token, spend FROM "LiteLLM_VerificationToken" WHERE token = ANY(%(keys)s)""",
    "key by day": """
        SELECT api_key, sum(spend) FROM "LiteLLM_DailyTeamSpend" WHERE team_id = ANY(%(teams)s) GROUP BY api_key""",
    "team": """SELECT team_id, spend FROM "LiteLLM_TeamTable" WHERE team_id = ANY(%(teams)s)""",
    "team by day": """
        SELECT team_id, sum(spend) FROM "LiteLLM_DailyTeamSpend" WHERE team_id = ANY(%(teams)s) GROUP BY team_id""",
    "person": """SELECT user_id, spend FROM "LiteLLM_EndUserTable" WHERE user_id = ANY(%(persons)s)""",
    "person by day": """
        SELECT end_user_id, sum(spend) FROM "LiteLLM_DailyEndUserSpend" WHERE end_user_id = ANY(%(persons)s)
        GROUP BY end_user_id""",
}
"""Where spend is kept beside the log, each with what it is of."""
OF = {"key": 0, "person": 1, "team": 7}
"""Which column of the log each of them sums by."""


# Two minutes for each LiteLLM; `test_every_request_is_recorded_and_every_sum_agrees` is with the others.
@pytest.mark.long
def test_spend_is_what_the_model_servers_counted(spending: Spending) -> None:
    agree(spending, 120)


@pytest.mark.long
def test_spend_of_2000_requests_is_what_the_model_servers_counted(spending: Spending) -> None:
    agree(spending, 2_000)


def agree(spending: Spending, count: int) -> None:
    """Ask, and hold log, keys, teams and persons to what the model servers counted, request by request."""
    spending.ask_all(count)
    asked = {one.number: one for one in spending.asked}
    for found in spending.gateway.counted.served:
        # A stream whose client has left goes on for a while.
        assert found.ended.wait(120)
    served: dict[int, list[Served]] = {}
    for one in spending.gateway.counted.served:
        served.setdefault(one.number, []).append(one)
    assert [arrivals(one, served) for one in asked.values() if not arrives_rightly(one, served)] == []
    whole = {found[-1].identity: found[-1] for found in served.values() if found[-1].whole and found[-1].status == 200}
    partial = {
        found[-1].identity: found[-1] for found in served.values() if found[-1].status == 200 and not found[-1].whole
    }
    expected = Counter(
        (
            asked[one.number].key.token,
            asked[one.number].person or "",
            one.prompt_tokens,
            one.completion_tokens,
            one.price,
        )
        for one in whole.values()
    )
    assert len(whole) > count // 4

    def logged() -> Counter[tuple[Any, ...]]:
        return Counter(row[:5] for row in spending.rows(ROWS) if row[6] != "failure" and row[5] not in partial)

    eventually(logged, expected)
    rows = spending.rows(ROWS)
    assert {row for row in rows if row[6] == "failure" and row[4]} == set(), "what was not answered costs nothing"
    for row in rows:
        if row[5] in partial:
            one = asked[partial[row[5]].number]
            assert (row[0], row[1], row[3]) == (one.key.token, one.person or "", CHUNKS_BEFORE_HOLD)
            assert row[4] == row[2] * INPUT_PRICE + row[3] * OUTPUT_PRICE > 0
    # Chats that were left or broke off in their middle are charged for what was streamed.
    assert {row[5] for row in rows if row[5] in partial} == {
        identity for identity, one in partial.items() if asked[one.number].operation == "chat"
    }
    for name, statement in SUMS.items():
        of = OF[name.split()[0]]
        sums: dict[str, float] = {}
        for row in rows:
            if row[of]:
                sums[row[of]] = sums.get(row[of], 0.0) + row[4]
        eventually(lambda s=statement: spending.sums(s), {key: value for key, value in sums.items() if value})
    assert any(one.status == 429 for one in asked.values()), "a budget ran out"


def arrivals(one: Asked, served: dict[int, list[Served]]) -> tuple[Any, ...]:
    found = [(each.deployment, each.status) for each in served.get(one.number, [])]
    return one.number, one.operation, one.plan, one.fields, one.status, found


def arrives_rightly(one: Asked, served: dict[int, list[Served]]) -> bool:
    """Whether a request reached those model servers that it had to reach, each once, and its client was told so."""
    deployments = [found.deployment for found in served.get(one.number, [])]
    if one.status in (400, 401, 404, 429):
        # the model server's own 400 is the one refusal that it counts
        return deployments == (["first"] if one.plan == "reject" and one.status == 400 else [])
    if one.fields.get("model") == "spend-brief":
        # on a busy machine the time may be over before it was asked
        return one.status == 504 and deployments in ([], ["brief"])
    if one.plan in ("fail", "fail-first"):
        return (one.status, deployments) == (502 if one.plan == "fail" else 200, ["first", "second"])
    return (one.status, deployments) == (None if one.leaves else 200, ["first"])


def eventually(found: Callable[[], Any], expected: Any) -> None:
    """Hold what is found to what is expected, as soon as it is so."""
    for _ in range(PATIENCE):
        if found() == expected:
            return
        time.sleep(0.5)
    now = found()
    assert isinstance(now, dict)
    assert {key: now.get(key) for key in {*now, *expected} if now.get(key) != expected.get(key)} == {
        key: expected.get(key) for key in {*now, *expected} if now.get(key) != expected.get(key)
    }
