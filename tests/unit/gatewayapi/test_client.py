"""The typed client against a scripted LiteLLM: writes are read back, and no mistake is read as absence (U-2)."""

from dataclasses import replace
from typing import Any

import pytest

from hearth.gatewayapi.client import PAGE_SIZE
from hearth.gatewayapi.errors import ReadbackError, UnexpectedAnswerError
from hearth.gatewayapi.records import CLIENT_ROUTES, Mark, WantedBudget, WantedKey, WantedTeam
from hearth.kubeapi.errors import NotOursError
from tests.support.scripted_litellm import ScriptedLiteLLM, answers

TEAM = WantedTeam(
    "hearth-s-family", "family", ("small",), Mark("s", "family"), max_budget=2.5, budget_duration="30d", rpm_limit=7
)
KEY = WantedKey(
    "sk-planted-canary-0123456789",
    "family--notes--1",
    "hearth-s-family",
    ("small", "large"),
    Mark("s", "family", "notes", 1),
    parallel_requests=2,
    person_budget="hearth-person",
)
BUDGET = WantedBudget("hearth-person", 5.0, "1d", 30, 1000)


@pytest.fixture
def litellm() -> ScriptedLiteLLM:
    return ScriptedLiteLLM()


def test_what_is_sent_for_a_team(litellm: ScriptedLiteLLM) -> None:
    client = litellm.client()
    client.create_team(TEAM)
    assert litellm.calls[0] == (
        "/team/new",
        {
            "team_id": "hearth-s-family",
            "team_alias": "family",
            "models": ["small"],
            "metadata": {"managed-by": "hearth", "stack": "s", "tenant": "family"},
            "max_budget": 2.5,
            "budget_duration": "30d",
            "rpm_limit": 7,
        },
    )
    client.update_team(replace(TEAM, models=(), max_budget=None, budget_duration=None))
    _, sent = litellm.calls[2]
    assert sent["models"] == ["no-default-models"], "an empty list would mean all models"
    assert sent["max_budget"] is None, "an old limit is cleared"
    assert sent["tpm_limit"] is None


def test_what_is_sent_for_a_key(litellm: ScriptedLiteLLM) -> None:
    client = litellm.client()
    client.register_key(KEY)
    assert litellm.calls[0] == (
        "/key/generate",
        {
            "key": KEY.value,
            "key_alias": "family--notes--1",
            "team_id": "hearth-s-family",
            "models": ["small", "large"],
            "allowed_routes": list(CLIENT_ROUTES),
            "max_parallel_requests": 2,
            "metadata": {
                "managed-by": "hearth",
                "stack": "s",
                "tenant": "family",
                "app": "notes",
                "generation": 1,
                "end_user_budget_id": "hearth-person",
            },
        },
    )
    client.update_key(replace(KEY, models=(), parallel_requests=None))
    _, sent = next(call for call in litellm.calls if call[0] == "/key/update")
    assert sent["models"] == ["no-default-models"], "an empty list would mean all models"
    assert sent["max_parallel_requests"] is None, "an old limit is cleared"
    client.block_key(KEY.token)
    client.delete_key(KEY.token)
    carrying = [path for path, body in litellm.calls if KEY.value in str(body)]
    assert carrying == ["/key/generate"], "the value is sent once"


def test_client_routes_are_what_the_front_passes() -> None:
    assert set(CLIENT_ROUTES) == {
        "/v1/chat/completions",
        "/v1/completions",
        "/v1/embeddings",
        "/v1/responses",
        "/v1/models",
    }


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("models", ["small", "secret-model"], "models is"),
        ("allowed_routes", [], "allowed_routes is"),
        ("team_id", "other", "team_id is 'other' and not 'hearth-s-family'"),
        ("key_alias", None, "key_alias is None"),
        ("metadata", {}, "metadata is"),
        ("max_parallel_requests", None, "max_parallel_requests is None and not 2"),
    ],
)
def test_a_key_that_is_otherwise_than_written_is_noticed(
    litellm: ScriptedLiteLLM, field: str, value: Any, words: str
) -> None:
    client = litellm.client()
    client.register_key(KEY)
    litellm.keys[KEY.token][field] = value
    page = {"keys": [dict(litellm.keys[KEY.token])], "total_pages": 1}
    litellm.break_next("/key/list", answers(200, page))
    with pytest.raises(ReadbackError) as caught:
        client.update_key(KEY)
    assert words in str(caught.value)
    assert "could not update the key family--notes--1: the gateway accepted it, and says otherwise" in str(caught.value)


@pytest.mark.parametrize("field", ["team_alias", "models", "max_budget", "budget_duration", "rpm_limit", "tpm_limit"])
def test_a_team_that_is_otherwise_than_written_is_noticed(litellm: ScriptedLiteLLM, field: str) -> None:
    other: dict[str, Any] = {"team_alias": "x", "models": ["x"], "budget_duration": "1d"}
    team = {**TEAM.body(), field: other.get(field, 99)}
    litellm.break_next("/team/info", answers(200, {"team_info": team}))
    with pytest.raises(ReadbackError, match=f"says otherwise: {field} is"):
        litellm.client().create_team(TEAM)


@pytest.mark.parametrize("field", ["max_budget", "budget_duration", "rpm_limit", "tpm_limit"])
def test_a_budget_that_is_otherwise_than_written_is_noticed(litellm: ScriptedLiteLLM, field: str) -> None:
    litellm.break_next("/budget/info", answers(200, [{**BUDGET.body(), field: None}]))
    with pytest.raises(ReadbackError, match=f"says otherwise: {field} is None"):
        litellm.client().create_budget(BUDGET)


def test_a_write_that_left_nothing_is_noticed(litellm: ScriptedLiteLLM) -> None:
    client = litellm.client()
    litellm.break_next("/team/new", answers(200, {}))
    with pytest.raises(ReadbackError, match="does not have it"):
        client.create_team(TEAM)
    litellm.break_next("/key/generate", answers(200, {}))
    with pytest.raises(ReadbackError, match="does not have it"):
        client.register_key(KEY)
    with pytest.raises(ReadbackError, match="does not have it"):
        client.update_budget(BUDGET)


def test_a_removal_that_removed_nothing_is_noticed(litellm: ScriptedLiteLLM) -> None:
    client = litellm.client()
    client.create_team(TEAM)
    client.create_budget(BUDGET)
    litellm.break_next("/team/delete", answers(200, {}))
    with pytest.raises(ReadbackError, match="still has the team"):
        client.delete_team(TEAM.team_id)
    client.register_key(KEY)
    litellm.break_next("/key/delete", answers(200, {}))
    with pytest.raises(ReadbackError, match="still lists the key"):
        client.delete_key(KEY.token)
    litellm.break_next("/key/block", answers(200, {}))
    with pytest.raises(ReadbackError, match="says that it did not happen"):
        client.block_key(KEY.token)
    litellm.break_next("/budget/delete", answers(200, None))
    with pytest.raises(ReadbackError, match="still has the budget"):
        client.delete_budget(BUDGET.budget_id)


@pytest.mark.parametrize(
    "answer",
    [
        {},
        [],
        None,
        {"keys": None, "total_pages": 0},
        {"keys": []},
        {"keys": ["a" * 64], "total_pages": 1},
        {"total_count": 0, "total_pages": 0},
    ],
)
def test_an_answer_without_a_list_is_not_an_empty_list(litellm: ScriptedLiteLLM, answer: Any) -> None:
    litellm.break_next("/key/list", answers(200, answer))
    with pytest.raises(UnexpectedAnswerError, match="version that this Hearth does not know"):
        litellm.client().key_by_alias("family--notes--1")


def test_an_answer_of_another_shape_is_described_by_its_fields_alone(litellm: ScriptedLiteLLM) -> None:
    litellm.break_next("/key/list", answers(200, {"keys": [{"token": "sk-canary", "models": 3}], "total_pages": "x"}))
    with pytest.raises(UnexpectedAnswerError) as caught:
        litellm.client().key_by_alias("x")
    assert "keys.0.models" in str(caught.value)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("answer", [{}, {"teams": []}, []])
def test_a_team_answer_without_a_team_is_an_error(litellm: ScriptedLiteLLM, answer: Any) -> None:
    litellm.break_next("/team/info", answers(200, answer))
    with pytest.raises(UnexpectedAnswerError, match="has no team_info"):
        litellm.client().team("x")


def test_two_keys_of_one_alias_are_an_error(litellm: ScriptedLiteLLM) -> None:
    key = {"token": "a" * 64, "models": [], "metadata": {}}
    page = {"keys": [key, {**key, "token": "b" * 64}], "total_pages": 1}
    litellm.break_next("/key/list", answers(200, page))
    with pytest.raises(UnexpectedAnswerError, match="lists 2 keys"):
        litellm.client().key_by_alias("x")


def test_every_page_of_a_list_is_read(litellm: ScriptedLiteLLM) -> None:
    client = litellm.client()
    client.create_team(TEAM)
    made = {client.register_key(replace(KEY, value=f"{KEY.value}{n}", alias=f"a{n}")).token for n in range(250)}
    litellm.calls.clear()
    assert {key.token for key in client.keys_of_team(TEAM.team_id)} == made
    assert [body["page"] for _, body in litellm.calls] == ["1", "2", "3"]
    assert litellm.calls[0][1]["size"] == str(PAGE_SIZE)


def test_a_list_without_an_end_is_given_up(litellm: ScriptedLiteLLM) -> None:
    page = answers(200, {"keys": [], "total_pages": 10**9})
    litellm.break_next("/key/list", *[page] * 1001)
    with pytest.raises(UnexpectedAnswerError, match="more than 1000 pages"):
        litellm.client().keys_of_team("x")


def test_a_team_with_keys_is_not_deleted(litellm: ScriptedLiteLLM) -> None:
    client = litellm.client()
    client.create_team(TEAM)
    client.register_key(KEY)
    with pytest.raises(NotOursError, match=r"\(family--notes--1\).*Delete them at the gateway"):
        client.delete_team(TEAM.team_id)
    assert "/team/delete" not in litellm.paths()
    assert KEY.token in litellm.keys


def test_models_and_liveness(litellm: ScriptedLiteLLM) -> None:
    client = litellm.client()
    client.alive()
    assert client.models() == ("large", "small")
