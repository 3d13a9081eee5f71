"""What the typed client relies on in LiteLLM, as tests that run against two real replicas, wherever these are.

A test module makes a subclass of `GatewayContract` and a fixture `replicas`.
"""

import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest

from hearth.gatewayapi.client import GatewayClient
from hearth.gatewayapi.errors import GatewayRefusedError, GatewayUnauthorizedError, ReadbackError
from hearth.gatewayapi.records import Mark, WantedBudget, WantedKey, WantedTeam, key_alias, key_token, team_id
from hearth.kubeapi.errors import NotOursError

STACK = "contract"
CACHE_TRIES = 40
"""Half-second looks until the other replica must have forgotten what it knew of a key."""


@dataclass
class Replica:
    """One replica: its management API, and its own port without any key."""

    client: GatewayClient
    http: httpx.Client

    def status(self, key: str, path: str = "/v1/models") -> int:
        return self.http.get(path, headers={"Authorization": f"Bearer {key}"}).status_code

    def offered(self, key: str) -> list[str]:
        answer = self.http.get("/v1/models", headers={"Authorization": f"Bearer {key}"})
        return sorted(entry["id"] for entry in answer.json()["data"])


def wanted_team(tenant: str, *models: str, **limits: float | int | str) -> WantedTeam:
    return WantedTeam(team_id(STACK, tenant), tenant, models, Mark(STACK, tenant), **limits)  # type: ignore[arg-type]


def wanted_key(team: WantedTeam, *models: str, app: str = "notes", generation: int = 1) -> WantedKey:
    return WantedKey(
        value=f"sk-{secrets.token_hex(24)}",
        alias=key_alias(team.alias, app, generation),
        team_id=team.team_id,
        models=models,
        mark=Mark(STACK, team.alias, app, generation),
    )


class GatewayContract:
    """Every test makes a team of its own and leaves nothing behind."""

    @pytest.fixture
    def one(self, replicas: list[Replica]) -> GatewayClient:
        return replicas[0].client

    @pytest.fixture
    def model(self, one: GatewayClient) -> str:
        return one.models()[0]

    @pytest.fixture
    def team(self, one: GatewayClient, model: str) -> Iterator[WantedTeam]:
        wanted = wanted_team(f"t{secrets.token_hex(4)}", model)
        one.create_team(wanted)
        yield wanted
        for key in one.keys_of_team(wanted.team_id):
            one.delete_key(key.token)
        one.delete_team(wanted.team_id)

    def test_it_is_alive_and_lists_its_models(self, replicas: list[Replica]) -> None:
        for replica in replicas:
            replica.client.alive()
        assert len({replica.client.models() for replica in replicas}) == 1
        assert replicas[0].client.models()

    def test_a_wrong_master_key_is_told_from_everything_else(self, replicas: list[Replica]) -> None:
        api = replicas[0].client._api
        right, api._client.headers["Authorization"] = api._client.headers["Authorization"], "Bearer sk-wrong-0123456789"
        try:
            with pytest.raises(GatewayUnauthorizedError, match="refuses the master key") as caught:
                replicas[0].client.team("x")
        finally:
            api._client.headers["Authorization"] = right
        assert "sk-" not in str(caught.value)

    def test_a_team_is_made_changed_and_deleted(self, one: GatewayClient, model: str) -> None:
        tenant = f"t{secrets.token_hex(4)}"
        limited = wanted_team(tenant, model, max_budget=2.5, budget_duration="30d", rpm_limit=7, tpm_limit=900)
        assert one.team(limited.team_id) is None
        made = one.create_team(limited)
        assert (made.max_budget, made.budget_duration, made.rpm_limit, made.tpm_limit) == (2.5, "30d", 7, 900)
        with pytest.raises(GatewayRefusedError, match="already exists"):
            one.create_team(limited)

        cleared = one.update_team(wanted_team(tenant))
        assert (cleared.max_budget, cleared.budget_duration, cleared.rpm_limit, cleared.tpm_limit) == (None,) * 4
        assert cleared.models == ["no-default-models"]
        assert Mark(STACK, tenant).is_on(cleared.metadata)

        one.delete_team(limited.team_id)
        assert one.team(limited.team_id) is None
        one.delete_team(limited.team_id)

    def test_a_team_that_is_not_there_cannot_be_changed(self, one: GatewayClient) -> None:
        with pytest.raises(GatewayRefusedError):
            one.update_team(wanted_team(f"t{secrets.token_hex(4)}"))

    def test_a_key_is_registered_by_its_value_and_found_by_its_digest(
        self, replicas: list[Replica], team: WantedTeam, model: str
    ) -> None:
        one, key = replicas[0].client, wanted_key(team, model)
        assert one.key_by_token(key.token) is None
        made = one.register_key(key)
        assert made.token == key_token(key.value)
        assert made.key_alias == f"{team.alias}--notes--1"
        for replica in replicas:
            assert replica.client.key_by_alias(key.alias) == made
            assert replica.client.keys_of_team(team.team_id) == (made,)
            assert replica.offered(key.value) == [model]

    def test_no_model_means_none_and_not_all(self, replicas: list[Replica], team: WantedTeam) -> None:
        key = wanted_key(team)
        replicas[0].client.register_key(key)
        assert replicas[0].offered(key.value) == []
        body = {"model": replicas[0].client.models()[0], "messages": [{"role": "user", "content": "x"}]}
        answer = replicas[0].http.post(
            "/v1/chat/completions", json=body, headers={"Authorization": f"Bearer {key.value}"}
        )
        assert answer.status_code == 403

    def test_a_key_is_good_for_the_client_api_alone(
        self, replicas: list[Replica], team: WantedTeam, model: str
    ) -> None:
        key = wanted_key(team, model)
        replicas[0].client.register_key(key)
        closed = (
            "/key/info",
            "/key/list",
            "/team/info",
            "/model/info",
            "/health",
            "/user/info",
            "/models",
            "/spend/logs",
        )
        assert {path: replicas[0].status(key.value, path) for path in closed} == dict.fromkeys(closed, 403)
        assert replicas[0].status(key.value) == 200

    def test_the_digest_of_a_key_is_no_key(self, replicas: list[Replica], team: WantedTeam, model: str) -> None:
        key = wanted_key(team, model)
        replicas[0].client.register_key(key)
        assert replicas[0].status(key.token) == 401

    def test_an_alias_is_taken_once_and_the_refusal_shows_no_key(
        self, one: GatewayClient, team: WantedTeam, model: str
    ) -> None:
        first, second = wanted_key(team, model), wanted_key(team, model)
        one.register_key(first)
        with pytest.raises(GatewayRefusedError, match="already exists") as caught:
            one.register_key(second)
        assert second.value not in str(caught.value)
        assert one.key_by_token(second.token) is None

    def test_a_value_registered_again_under_another_alias_is_noticed(
        self, one: GatewayClient, team: WantedTeam, model: str
    ) -> None:
        first = wanted_key(team, model)
        one.register_key(first)
        again = WantedKey(first.value, f"{first.alias}x", team.team_id, (model,), first.mark)
        with pytest.raises(ReadbackError, match=r"key_alias is '.*--1' and not '.*--1x'"):
            one.register_key(again)
        found = one.key_by_token(first.token)
        assert found is not None
        assert found.key_alias == first.alias

    def test_other_models_reach_every_replica(self, replicas: list[Replica], team: WantedTeam, model: str) -> None:
        key = wanted_key(team, model)
        replicas[0].client.register_key(key)
        assert [replica.offered(key.value) for replica in replicas] == [[model], [model]]
        name = f"contract-{secrets.token_hex(4)}"
        replicas[0].client.create_budget(WantedBudget(name, 1.0, "1d", 10, 100))
        none = WantedKey(key.value, key.alias, key.team_id, (), key.mark, parallel_requests=3, person_budget=name)
        changed = replicas[0].client.update_key(none)
        assert (changed.max_parallel_requests, changed.metadata["end_user_budget_id"]) == (3, name)
        replicas[0].client.delete_budget(name)
        cleared = replicas[0].client.update_key(WantedKey(key.value, key.alias, key.team_id, (), key.mark))
        assert (cleared.max_parallel_requests, cleared.metadata) == (None, key.mark.metadata())
        for _ in range(CACHE_TRIES):
            seen = [replica.offered(key.value) for replica in replicas]
            if seen == [[], []]:
                break
            time.sleep(0.5)
        assert seen == [[], []]

    def test_a_block_acts_on_every_replica_at_once_and_a_deletion_is_seen(
        self, replicas: list[Replica], team: WantedTeam, model: str
    ) -> None:
        key = wanted_key(team, model)
        one = replicas[0].client
        one.register_key(key)
        for _ in range(3):
            assert [replica.status(key.value) for replica in replicas] == [200, 200], (
                "every replica has it in its cache"
            )
        one.block_key(key.token)
        assert [replica.status(key.value) for replica in reversed(replicas)] == [401, 401]
        blocked = one.key_by_token(key.token)
        assert blocked is not None
        assert blocked.blocked
        one.unblock_key(key.token)
        assert replicas[0].status(key.value) == 200

        one.block_key(key.token)
        one.delete_key(key.token)
        assert [replica.status(key.value) for replica in replicas] == [401, 401]
        assert [replica.client.key_by_token(key.token) for replica in replicas] == [None, None]

    def test_a_key_with_an_end_is_refused_from_then_on_by_every_replica(
        self, replicas: list[Replica], team: WantedTeam, model: str
    ) -> None:
        key = wanted_key(team, model)
        one = replicas[0].client
        one.register_key(key)
        assert [replica.status(key.value) for replica in replicas] == [200, 200], "every replica has it in its cache"
        one.expire_key(key.token, 4)
        there = one.key_by_token(key.token)
        assert there is not None
        assert (there.key_alias, there.models, there.metadata) == (key.alias, [model], key.mark.metadata())
        assert replicas[0].status(key.value) == 200
        for _ in range(CACHE_TRIES):
            seen = [replica.status(key.value) for replica in replicas]
            if seen == [401, 401]:
                break
            time.sleep(0.5)
        assert seen == [401, 401]
        one.delete_key(key.token)

    def test_removing_what_is_gone_is_no_error(self, one: GatewayClient) -> None:
        token = key_token(secrets.token_hex(16))
        one.expire_key(token, 5)
        one.block_key(token)
        one.unblock_key(token)
        one.delete_key(token)
        one.delete_budget(f"contract-{secrets.token_hex(4)}")

    def test_a_team_with_a_key_is_not_deleted_because_the_key_would_be(
        self, one: GatewayClient, team: WantedTeam, model: str
    ) -> None:
        key = wanted_key(team, model)
        one.register_key(key)
        with pytest.raises(NotOursError, match=key.alias):
            one.delete_team(team.team_id)
        assert one.key_by_token(key.token) is not None

    def test_a_budget_is_made_changed_and_deleted(self, one: GatewayClient) -> None:
        name = f"contract-{secrets.token_hex(4)}"
        assert one.budget(name) is None
        with pytest.raises(ReadbackError, match="does not have it"):
            one.update_budget(WantedBudget(name, 1.0, "1d", 10, 100))
        one.create_budget(WantedBudget(name, 1.0, "1d", 10, 100))
        with pytest.raises(GatewayRefusedError, match="already exists"):
            one.create_budget(WantedBudget(name, 1.0, "1d", 10, 100))
        changed = one.update_budget(WantedBudget(name, 2.0, "30d", 20, 200))
        assert (changed.max_budget, changed.budget_duration, changed.rpm_limit, changed.tpm_limit) == (
            2,
            "30d",
            20,
            200,
        )
        one.delete_budget(name)
        assert one.budget(name) is None
