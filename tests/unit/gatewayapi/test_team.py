"""The team's provider against a scripted LiteLLM."""

from typing import Any

import pytest
from pulumi.output import UNKNOWN

from hearth.gatewayapi.team import TeamProvider
from hearth.kubeapi.provider import StepFailed
from tests.support.scripted_litellm import ScriptedLiteLLM

PROPS: dict[str, Any] = {
    "stack": "s",
    "tenant": "family",
    "team_id": "hearth-s-family",
    "models": ["large", "small"],
    "max_budget": 2.5,
    "budget_duration": "30d",
    # Pulumi gives numbers as floats.
    "rpm_limit": 7.0,
}
OURS = {"managed-by": "hearth", "stack": "s", "tenant": "family"}


def test_it_is_created_with_an_id_of_its_own_and_then_is_as_wanted(litellm: ScriptedLiteLLM) -> None:
    made = TeamProvider().create(PROPS)
    assert made.id == "hearth-s-family"
    assert litellm.teams["hearth-s-family"]["rpm_limit"] == 7
    assert made.outs == PROPS
    assert TeamProvider().diff(made.id, made.outs, PROPS).changes is False


def test_one_of_an_earlier_run_is_taken_up_and_corrected(litellm: ScriptedLiteLLM) -> None:
    litellm.teams["hearth-s-family"] = {"team_id": "hearth-s-family", "models": [], "metadata": OURS, "tpm_limit": 5}
    TeamProvider().create(PROPS)
    assert litellm.paths() == ["/team/update"]
    assert litellm.teams["hearth-s-family"]["models"] == ["large", "small"]
    assert litellm.teams["hearth-s-family"]["tpm_limit"] is None


@pytest.mark.parametrize(
    "metadata", [{}, {**OURS, "stack": "other"}, {**OURS, "tenant": "x"}, {**OURS, "app": "notes"}]
)
def test_one_that_is_not_ours_is_left_as_it_is(litellm: ScriptedLiteLLM, metadata: dict[str, str]) -> None:
    team = {"team_id": "hearth-s-family", "models": ["x"], "metadata": metadata}
    litellm.teams["hearth-s-family"] = dict(team)
    with pytest.raises(StepFailed, match=r"this stack did not make\. Hearth does not touch it: rename the tenant"):
        TeamProvider().create(PROPS)
    assert litellm.teams["hearth-s-family"] == team


def test_refresh_sees_what_somebody_changed_and_update_corrects_it(litellm: ScriptedLiteLLM) -> None:
    provider = TeamProvider()
    made = provider.create(PROPS)
    assert provider.read(made.id, made.outs).outs == made.outs
    litellm.teams[made.id].update(models=["small"], max_budget=None, tpm_limit=9)
    seen = provider.read(made.id, made.outs).outs
    assert (seen["models"], seen.get("max_budget"), seen["tpm_limit"]) == (["small"], None, 9)
    found = provider.diff(made.id, seen, PROPS)
    assert (found.changes, found.replaces) == (True, [])
    assert provider.update(made.id, seen, PROPS).outs == made.outs


@pytest.mark.parametrize("field", ["models", "max_budget", "budget_duration", "rpm_limit", "tpm_limit"])
def test_every_field_that_differs_is_a_change(field: str) -> None:
    found = TeamProvider().diff("hearth-s-family", {**PROPS, field: None}, {**PROPS, field: 1})
    assert (found.changes, found.replaces) == (True, [])


def test_refresh_sees_that_it_is_gone(litellm: ScriptedLiteLLM) -> None:
    provider = TeamProvider()
    made = provider.create(PROPS)
    litellm.teams.clear()
    assert provider.read(made.id, made.outs).id == ""


def test_another_tenant_is_another_team() -> None:
    found = TeamProvider().diff("hearth-s-family", PROPS, {**PROPS, "tenant": "x", "team_id": "hearth-s-x"})
    assert found.replaces == ["tenant", "team_id"]
    assert found.delete_before_replace is False


def test_no_models_are_no_difference_afterwards(litellm: ScriptedLiteLLM) -> None:
    made = TeamProvider().create({**PROPS, "models": []})
    assert litellm.teams[made.id]["models"] == ["no-default-models"]
    assert TeamProvider().diff(made.id, made.outs, {**PROPS, "models": []}).changes is False


def key(alias: str, **metadata: object) -> dict[str, Any]:
    return {"key_alias": alias, "team_id": "hearth-s-family", "models": [], "metadata": metadata, "blocked": None}


def test_deleting_it_removes_what_is_left_of_its_keys_first(litellm: ScriptedLiteLLM) -> None:
    provider = TeamProvider()
    made = provider.create(PROPS)
    litellm.keys["a" * 64] = {"token": "a" * 64, **key("family--notes--1", **OURS, app="notes", generation=1)}
    provider.delete(made.id, made.outs)
    assert litellm.paths()[1:] == ["/key/block", "/key/delete", "/team/delete"]
    assert (litellm.teams, litellm.keys) == ({}, {})
    provider.delete(made.id, made.outs)


def test_deleting_it_stops_at_a_key_that_is_not_ours(litellm: ScriptedLiteLLM) -> None:
    provider = TeamProvider()
    made = provider.create(PROPS)
    litellm.keys["b" * 64] = {"token": "b" * 64, **key("somebody", tenant="family")}
    with pytest.raises(StepFailed, match="somebody"):
        provider.delete(made.id, made.outs)
    assert list(litellm.teams) == [made.id]
    assert litellm.keys["b" * 64]["blocked"] is None


@pytest.mark.parametrize(
    ("change", "failing"),
    [
        ({"tenant": ""}, "tenant"),
        ({"stack": None}, "stack"),
        ({"models": "small"}, "models"),
        ({"models": ["small", ""]}, "models"),
        ({"max_budget": -1}, "max_budget"),
        ({"rpm_limit": 0}, "rpm_limit"),
        ({"tpm_limit": 2.5}, "tpm_limit"),
    ],
)
def test_wrong_inputs_are_refused_before_anything_happens(change: dict[str, Any], failing: str) -> None:
    assert [f.property for f in TeamProvider().check({}, {**PROPS, **change}).failures] == [failing]


def test_what_is_not_known_yet_is_not_refused_and_lists_have_one_order() -> None:
    checked = TeamProvider().check({}, {**PROPS, "models": ["small", "large"], "rpm_limit": UNKNOWN})
    assert checked.failures == []
    assert checked.inputs["models"] == ["large", "small"]


def test_an_environment_with_another_name_keeps_its_teams(litellm: ScriptedLiteLLM) -> None:
    provider = TeamProvider()
    made = provider.create(PROPS)
    renamed = {**PROPS, "stack": "home", "former": ["s"], "team_id": "hearth-home-family"}
    checked = provider.check(PROPS, renamed).inputs
    assert checked["team_id"] == "hearth-s-family", "another team would begin without spend"
    found = provider.diff(made.id, made.outs, checked)
    assert (found.changes, found.replaces) == (True, [])
    again = provider.update(made.id, made.outs, checked)
    assert litellm.teams["hearth-s-family"]["metadata"]["stack"] == "home"
    assert provider.diff(made.id, again.outs, checked).changes is False
    assert provider.create(checked).id == made.id, "it is known by its former name"


def test_another_tenants_team_has_an_id_of_its_own() -> None:
    news = {**PROPS, "tenant": "guests", "team_id": "hearth-s-guests"}
    assert TeamProvider().check(PROPS, news).inputs["team_id"] == "hearth-s-guests"
