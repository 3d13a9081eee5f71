"""LiteLLM at work with the rights of its database role: what it records, and what it can record nowhere."""

import re
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import yaml

from hearth.gatewayapi.client import GatewayClient
from hearth.gatewayapi.records import WantedBudget, WantedKey, WantedTeam
from tests.support.database import Postgres
from tests.support.gateway_contract import wanted_key, wanted_team
from tests.support.litellm import LiteLLM
from tests.wire.front_bench import MANAGER

pytestmark = pytest.mark.wire

PERSON = "anna"
PATIENCE_SECONDS = 120
"""How long a test waits for what LiteLLM does by itself every few seconds."""
TOOLS = [{"type": "function", "function": {"name": f"tool{number}", "parameters": {}}} for number in range(500)]
REFUSED_TABLES = {"LiteLLM_Config", "LiteLLM_ToolTable"}
"""Tables into which LiteLLM tries to write in vain: its own tuning at every start, and names of callers' tools."""


@dataclass
class Traffic:
    """A tenant's application: its key, and what it asks of both replicas."""

    gateway: LiteLLM
    owner: psycopg.Connection[Any]
    client: GatewayClient
    team: WantedTeam
    key: WantedKey
    sent: int = 0
    answered: int = 0
    """How many of them were answered with 200."""

    def ask(self, **fields: object) -> int:
        """Ask for a chat completion, of one replica and the other in turn; return the status."""
        self.sent += 1
        body = {"model": "fast", "max_tokens": 5, "messages": [{"role": "user", "content": "x"}], "user": PERSON}
        answer = httpx.post(
            f"{self.gateway.replicas[self.sent % 2]}/v1/chat/completions",
            json={**body, **fields},
            headers={"Authorization": f"Bearer {self.key.value}", **MANAGER},
            timeout=60,
        )
        self.answered += answer.status_code == 200
        return answer.status_code

    def warm_up(self) -> None:
        """Ask until both replicas have answered: one that has just started may lack its connections yet."""
        eventually(lambda: [self.ask(), self.ask()] == [200, 200])

    def fail_upstream(self, status: int) -> None:
        httpx.post(f"{self.gateway.upstream}/control", json={"fail": status}).raise_for_status()

    def value(self, statement: str) -> Any:
        row = self.owner.execute(statement.encode(), {"token": self.key.token, "team": self.team.team_id}).fetchone()
        return row[0] if row else None


def eventually(holds: Callable[[], bool]) -> None:
    for _ in range(PATIENCE_SECONDS * 2):
        if holds():
            return
        time.sleep(0.5)
    raise AssertionError("it did not come about")


@pytest.fixture(scope="module")
def traffic(running_litellm: LiteLLM, database_server: Postgres) -> Iterator[Traffic]:
    api = running_litellm.management_api()
    name = f"t{secrets.token_hex(4)}"
    team = wanted_team(name, "fast", max_budget=1000.0, budget_duration="30d")
    with api, psycopg.connect(database_server.url(running_litellm.database), autocommit=True) as owner:
        client = GatewayClient(api)
        client.create_budget(WantedBudget(name, 100.0, "1d", 1000, 1_000_000))
        client.create_team(team)
        key = replace(wanted_key(team, "fast"), person_budget=name)
        client.register_key(key)
        yield Traffic(running_litellm, owner, client, team, key)
        client.block_key(key.token)
        client.delete_key(key.token)
        client.delete_team(team.team_id)
        client.delete_budget(name)


LOGGED = """SELECT count(*) FROM "LiteLLM_SpendLogs" WHERE api_key = %(token)s"""
SUCCEEDED = f"{LOGGED} AND status IS DISTINCT FROM 'failure'"


def test_every_request_is_recorded_and_every_sum_agrees(traffic: Traffic) -> None:
    """Also one whose caller asks not to be recorded. A call costs 0.20."""
    traffic.warm_up()
    statuses = [traffic.ask() for _ in range(3)]
    statuses += [traffic.ask(**{"no-log": True}), traffic.ask(tools=TOOLS), traffic.ask(stream=True)]
    assert statuses == [200] * 6
    eventually(lambda: traffic.value(SUCCEEDED) == traffic.answered)
    sums = {
        "log": """SELECT sum(spend) FROM "LiteLLM_SpendLogs" WHERE api_key = %(token)s""",
        "key": """SELECT spend FROM "LiteLLM_VerificationToken" WHERE token = %(token)s""",
        "team": """SELECT spend FROM "LiteLLM_TeamTable" WHERE team_id = %(team)s""",
        "days": """SELECT sum(spend) FROM "LiteLLM_DailyTeamSpend" WHERE team_id = %(team)s""",
        "person": """SELECT sum(spend) FROM "LiteLLM_DailyEndUserSpend" WHERE api_key = %(token)s""",
    }
    expected = dict.fromkeys(sums, round(0.2 * traffic.answered, 6))
    eventually(lambda: {name: round(traffic.value(sum_) or 0, 6) for name, sum_ in sums.items()} == expected)
    assert traffic.value("""SELECT count(*) FROM "LiteLLM_SpendLogs" WHERE messages <> '{}' OR response <> '{}'""") == 0


def test_the_names_of_callers_tools_are_kept_nowhere(traffic: Traffic) -> None:
    before = traffic.value(LOGGED)
    traffic.fail_upstream(500)
    try:
        assert traffic.ask(tools=TOOLS) == 500
    finally:
        traffic.fail_upstream(0)
    eventually(lambda: traffic.value(LOGGED) == before + 1)
    for table in ("LiteLLM_ToolTable", "LiteLLM_SpendLogToolIndex", "LiteLLM_DailyToolSpend"):
        assert traffic.value(f'SELECT count(*) FROM "{table}"') == 0
    assert traffic.ask() == 200


def end_lease(folder: Path) -> None:
    """Let a replica look for budgets whose period is over: 1.103.2 keeps the lease of the last look for 15 min."""
    config = yaml.safe_load((folder / "config.yaml").read_text())
    with socket.create_connection(("127.0.0.1", config["general_settings"]["coordination_redis"]["port"])) as valkey:
        valkey.sendall(b"DEL cronjob_lock:reset_budget_job\r\n")
        assert valkey.recv(64).startswith(b":")


def test_a_budget_whose_period_is_over_begins_again(traffic: Traffic) -> None:
    spent = """SELECT spend FROM "LiteLLM_TeamTable" WHERE team_id = %(team)s"""
    logged = """SELECT sum(spend) FROM "LiteLLM_SpendLogs" WHERE api_key = %(token)s"""
    assert traffic.ask() == 200
    # what is written after the period's end would begin the next one
    eventually(lambda: traffic.value(SUCCEEDED) == traffic.answered)
    eventually(lambda: round(traffic.value(spent) or 0, 6) == round(traffic.value(logged), 6))
    traffic.owner.execute(
        """UPDATE "LiteLLM_TeamTable" SET budget_reset_at = now() - interval '1 hour' WHERE team_id = %s""",
        (traffic.team.team_id,),
    )

    def begun_again() -> bool:
        # Each time: a look that began before the change may take the lease after it was ended.
        end_lease(traffic.gateway.folder)
        # the period's spend is subtracted, as a binary fraction
        return bool(round(traffic.value(spent), 6) == 0)

    eventually(begun_again)
    again = """SELECT budget_reset_at > now() FROM "LiteLLM_TeamTable" WHERE team_id = %(team)s"""
    assert traffic.value(again)


def test_nothing_else_is_refused_to_the_gateway(traffic: Traffic) -> None:
    logs = "".join(log.read_text() for log in traffic.gateway.folder.glob("litellm-*.log"))
    assert set(re.findall(r"permission denied for table (\w+)", logs)) <= REFUSED_TABLES
    assert "violates" not in logs.replace("violates unique constraint", "")
    assert "row-level security" not in logs
