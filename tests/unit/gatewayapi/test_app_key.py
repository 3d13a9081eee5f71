"""The key's provider against a scripted LiteLLM: registration, rotation, removal, and whose key is whose."""

from typing import Any

import pytest
from pulumi.output import UNKNOWN

from hearth.gatewayapi.app_key import AppKeyProvider
from hearth.gatewayapi.records import key_token
from hearth.kubeapi.provider import StepFailed
from tests.support.scripted_litellm import ScriptedLiteLLM, answers

VALUE = "sk-planted-canary-0123456789"
TOKEN = key_token(VALUE)
PROPS: dict[str, Any] = {
    "stack": "s",
    "tenant": "family",
    "app": "notes",
    "generation": 1.0,
    "team_id": "hearth-s-family",
    "alias": "family--notes--1",
    "value": VALUE,
    "models": ["large", "small"],
    "person_budget": "hearth-person",
    "grace_seconds": 0.0,
}
OTHER_VALUE = "sk-another-canary-9876543210"
NEXT = {**PROPS, "generation": 2.0, "alias": "family--notes--2", "value": OTHER_VALUE}
OURS = {"managed-by": "hearth", "stack": "s", "tenant": "family", "app": "notes", "generation": 1}


def planted(token: str, **fields: Any) -> dict[str, Any]:
    base = {
        "token": token,
        "key_alias": "family--notes--1",
        "team_id": "hearth-s-family",
        "models": [],
        "blocked": None,
    }
    return {**base, "metadata": OURS, **fields}


def test_its_id_is_its_digest_and_no_output_has_its_value(litellm: ScriptedLiteLLM) -> None:
    made = AppKeyProvider().create(PROPS)
    assert made.id == TOKEN
    assert VALUE not in str(made.outs)
    assert made.outs == {**{k: v for k, v in PROPS.items() if k != "value"}, "blocked": False}
    assert litellm.keys[TOKEN]["metadata"]["generation"] == 1
    assert litellm.keys[TOKEN]["metadata"]["end_user_budget_id"] == "hearth-person"
    assert AppKeyProvider().diff(TOKEN, made.outs, PROPS).changes is False


@pytest.mark.parametrize("blocked", [None, True])
def test_one_of_an_earlier_run_is_taken_up(litellm: ScriptedLiteLLM, blocked: bool | None) -> None:
    litellm.keys[TOKEN] = planted(TOKEN, blocked=blocked)
    made = AppKeyProvider().create(PROPS)
    assert "/key/generate" not in litellm.paths()
    assert litellm.keys[TOKEN]["models"] == ["large", "small"]
    assert not litellm.keys[TOKEN]["blocked"]
    assert made.outs["models"] == ["large", "small"]


def test_one_of_ours_whose_value_is_lost_makes_way(litellm: ScriptedLiteLLM) -> None:
    litellm.keys["d" * 64] = planted("d" * 64)
    AppKeyProvider().create(PROPS)
    assert list(litellm.keys) == [TOKEN]
    assert litellm.paths() == ["/key/block", "/key/delete", "/key/generate"]


def test_one_of_ours_in_another_team_is_registered_anew(litellm: ScriptedLiteLLM) -> None:
    litellm.keys[TOKEN] = planted(TOKEN, team_id="elsewhere")
    AppKeyProvider().create(PROPS)
    assert litellm.keys[TOKEN]["team_id"] == "hearth-s-family"


@pytest.mark.parametrize("metadata", [{}, {**OURS, "stack": "x"}, {**OURS, "app": "x"}, {**OURS, "generation": 2}])
def test_an_alias_that_is_not_ours_is_left_alone(litellm: ScriptedLiteLLM, metadata: dict[str, Any]) -> None:
    litellm.keys["d" * 64] = planted("d" * 64, metadata=metadata)
    with pytest.raises(StepFailed, match=r"has a key family--notes--1 that this stack did not make"):
        AppKeyProvider().create(PROPS)
    assert litellm.paths() == []


def test_a_value_that_is_not_ours_is_left_alone(litellm: ScriptedLiteLLM) -> None:
    litellm.keys[TOKEN] = planted(TOKEN, key_alias="somebody", metadata={})
    with pytest.raises(StepFailed, match=r"registered at the gateway already, as somebody.*generation") as caught:
        AppKeyProvider().create(PROPS)
    assert VALUE not in str(caught.value)
    assert litellm.paths() == []


def test_refresh_sees_drift_and_update_corrects_it_without_interruption(litellm: ScriptedLiteLLM) -> None:
    provider = AppKeyProvider()
    made = provider.create(PROPS)
    litellm.keys[TOKEN].update(models=["everything"], max_parallel_requests=1)
    seen = provider.read(TOKEN, made.outs).outs
    found = provider.diff(TOKEN, seen, PROPS)
    assert (found.changes, found.replaces) == (True, [])
    litellm.calls.clear()
    assert provider.update(TOKEN, seen, PROPS).outs == made.outs
    assert litellm.paths() == ["/key/update"]


def test_refresh_sees_that_it_is_gone_and_up_registers_the_same_value(litellm: ScriptedLiteLLM) -> None:
    provider = AppKeyProvider()
    made = provider.create(PROPS)
    litellm.keys.clear()
    assert provider.read(TOKEN, made.outs).id == ""
    assert provider.create(PROPS).id == TOKEN


def test_an_answer_without_a_list_does_not_count_as_gone(litellm: ScriptedLiteLLM) -> None:
    made = AppKeyProvider().create(PROPS)
    litellm.break_next("/key/list", answers(200, {"error": "x"}))
    with pytest.raises(StepFailed, match="another shape"):
        AppKeyProvider().read(TOKEN, made.outs)


def test_a_block_by_hand_is_seen_and_is_not_undone(litellm: ScriptedLiteLLM) -> None:
    provider = AppKeyProvider()
    made = provider.create(PROPS)
    litellm.keys[TOKEN]["blocked"] = True
    seen = provider.read(TOKEN, made.outs).outs
    assert seen["blocked"] is True
    assert provider.diff(TOKEN, seen, PROPS).changes is False
    provider.update(TOKEN, seen, {**PROPS, "models": ["small"]})
    assert litellm.keys[TOKEN]["blocked"] is True


def test_rotation_registers_first_and_the_old_key_ends_by_itself(litellm: ScriptedLiteLLM) -> None:
    provider = AppKeyProvider()
    made = provider.create({**PROPS, "grace_seconds": 90.0})
    found = provider.diff(TOKEN, made.outs, NEXT)
    assert found.replaces == ["generation", "alias", "value"]
    assert found.delete_before_replace is False
    provider.create(NEXT)
    assert len(litellm.keys) == 2, "both keys are usable"
    litellm.calls.clear()
    provider.delete(TOKEN, made.outs)
    assert litellm.paths() == ["/key/update"], "nothing waits, and nothing is blocked"
    assert litellm.keys[TOKEN]["expires"] == "in 90s"
    assert not litellm.keys[TOKEN]["blocked"]
    assert litellm.keys[key_token(OTHER_VALUE)].get("expires") is None


def test_what_is_left_of_an_earlier_rotation_goes_with_the_next_key(litellm: ScriptedLiteLLM) -> None:
    provider = AppKeyProvider()
    first = provider.create({**PROPS, "grace_seconds": 90.0})
    second = provider.create({**NEXT, "grace_seconds": 90.0})
    provider.delete(TOKEN, first.outs)
    assert len(litellm.keys) == 2
    provider.delete(second.id, second.outs)
    assert litellm.keys == {}


def test_a_key_without_grace_is_removed_at_once_though_another_follows(litellm: ScriptedLiteLLM) -> None:
    provider = AppKeyProvider()
    made = provider.create(PROPS)
    provider.create(NEXT)
    provider.delete(TOKEN, made.outs)
    assert list(litellm.keys) == [key_token(OTHER_VALUE)]


def test_an_environment_with_another_name_keeps_its_keys(litellm: ScriptedLiteLLM) -> None:
    provider = AppKeyProvider()
    made = provider.create(PROPS)
    renamed = {**PROPS, "stack": "home", "former": ["s"]}
    found = provider.diff(TOKEN, made.outs, renamed)
    assert (found.changes, found.replaces) == (True, [])
    again = provider.update(TOKEN, made.outs, renamed)
    assert litellm.keys[TOKEN]["metadata"]["stack"] == "home"
    assert provider.diff(TOKEN, again.outs, renamed).changes is False


def test_removal_without_a_follower_does_not_wait(litellm: ScriptedLiteLLM) -> None:
    provider = AppKeyProvider()
    made = provider.create({**PROPS, "grace_seconds": 90.0})
    provider.create({**NEXT, "app": "photos", "alias": "family--photos--2"})
    litellm.calls.clear()
    provider.delete(TOKEN, made.outs)
    assert litellm.paths() == ["/key/block", "/key/delete"], "blocked before it is deleted"
    provider.delete(TOKEN, made.outs)
    assert litellm.paths() == ["/key/block", "/key/delete"], "gone already is no error"


def test_a_preview_with_an_unknown_value_is_a_replacement(litellm: ScriptedLiteLLM) -> None:
    made = AppKeyProvider().create(PROPS)
    found = AppKeyProvider().diff(TOKEN, made.outs, {**NEXT, "value": UNKNOWN})
    assert "value" in found.replaces
    assert found.delete_before_replace is False


def test_the_same_value_elsewhere_is_removed_before_it_is_registered_again(litellm: ScriptedLiteLLM) -> None:
    made = AppKeyProvider().create(PROPS)
    found = AppKeyProvider().diff(TOKEN, {**made.outs, "team_id": "elsewhere"}, PROPS)
    assert found.replaces == ["team_id"]
    assert found.delete_before_replace is True


@pytest.mark.parametrize(
    ("change", "failing"),
    [
        ({"value": "short"}, "value"),
        ({"value": "sk-with spaces-0123456789"}, "value"),
        ({"value": None}, "value"),
        ({"generation": 0}, "generation"),
        ({"generation": 1.5}, "generation"),
        ({"app": ""}, "app"),
        ({"grace_seconds": 3601}, "grace_seconds"),
        ({"grace_seconds": -1}, "grace_seconds"),
        ({"models": [1]}, "models"),
        ({"parallel_requests": 0}, "parallel_requests"),
    ],
)
def test_wrong_inputs_are_refused_without_their_values(change: dict[str, Any], failing: str) -> None:
    failures = AppKeyProvider().check({}, {**PROPS, **change}).failures
    assert [failure.property for failure in failures] == [failing]
    assert "spaces" not in failures[0].reason
