"""The typed client against real LiteLLM on loopback."""

import secrets
from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from hearth.gatewayapi.client import GatewayClient
from hearth.gatewayapi.records import WantedBudget, WantedTeam
from tests.support.gateway_contract import GatewayContract, Replica, wanted_key, wanted_team
from tests.support.litellm import LiteLLM
from tests.wire.front_bench import MANAGER

pytestmark = pytest.mark.wire


@pytest.fixture
def replicas(running_litellm: LiteLLM) -> Iterator[list[Replica]]:
    apis = [running_litellm.management_api(url) for url in running_litellm.replicas]
    clients = [httpx.Client(base_url=url, timeout=60, headers=MANAGER) for url in running_litellm.replicas]
    yield [Replica(GatewayClient(api), http) for api, http in zip(apis, clients, strict=True)]
    for api in apis:
        api.__exit__()
    for client in clients:
        client.close()


class TestOnLoopback(GatewayContract):
    def test_all_pages_of_a_long_list_are_read(self, one: GatewayClient) -> None:
        team = wanted_team(f"t{secrets.token_hex(4)}", "fast")
        one.create_team(team)
        keys = [wanted_key(team, "fast", app=f"app{number}") for number in range(102)]
        for key in keys:
            one._api.call(
                "register",
                "POST",
                "/key/generate",
                body={"key": key.value, "key_alias": key.alias, "team_id": key.team_id, "models": ["fast"]},
                repeatable=False,
            )
        assert {key.token for key in one.keys_of_team(team.team_id)} == {key.token for key in keys}
        one._api.call("delete", "POST", "/team/delete", body={"team_ids": [team.team_id]}, repeatable=False)

    @pytest.mark.parametrize("limit", ["spend", "requests"])
    def test_a_person_is_held_to_the_budget_from_the_first_request_on(
        self, replicas: list[Replica], team: WantedTeam, limit: str
    ) -> None:
        """Both replicas count together, and a person whom the gateway has never seen is no exception."""
        one, name = replicas[0].client, f"contract-{secrets.token_hex(4)}"
        generous = WantedBudget(name, 100.0, "1d", 1000, 1_000_000)
        budget = replace(generous, max_budget=1.0) if limit == "spend" else replace(generous, rpm_limit=5)
        one.create_budget(budget)
        key = replace(wanted_key(team, "fast"), person_budget=name)
        one.register_key(key)
        body = {"model": "fast", "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}], "user": name}
        statuses = [
            replicas[number % 2]
            .http.post("/v1/chat/completions", json=body, headers={"Authorization": f"Bearer {key.value}"})
            .status_code
            for number in range(12)
        ]
        one.delete_budget(name)
        # A call costs 0.20 of 1.00, and a minute may begin anew on the way.
        assert set(statuses) == {200, 429}
        assert statuses[:5] == [200] * 5
        assert statuses.count(200) <= 6 if limit == "spend" else statuses[5] == 429
