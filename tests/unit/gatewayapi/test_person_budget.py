"""The budget's provider against a scripted LiteLLM."""

from typing import Any

import pytest

from hearth.gatewayapi.errors import GatewayUnavailableError
from hearth.gatewayapi.person_budget import PersonBudgetProvider
from hearth.gatewayapi.provider import GatewayProvider
from tests.support.scripted_litellm import ScriptedLiteLLM

PROPS: dict[str, Any] = {
    "budget_id": "hearth-person",
    "max_budget": 5.0,
    "budget_duration": "1d",
    "rpm_limit": 30.0,
    "tpm_limit": 1000.0,
}


def test_it_is_created_read_changed_and_deleted(litellm: ScriptedLiteLLM) -> None:
    provider = PersonBudgetProvider()
    made = provider.create(PROPS)
    assert (made.id, made.outs) == ("hearth-person", PROPS)
    assert provider.diff(made.id, made.outs, PROPS).changes is False

    litellm.budgets["hearth-person"]["max_budget"] = 500.0
    seen = provider.read(made.id, made.outs).outs
    assert provider.diff(made.id, seen, PROPS).changes is True
    assert provider.update(made.id, seen, PROPS).outs == PROPS
    assert litellm.budgets["hearth-person"]["max_budget"] == 5.0

    provider.delete(made.id, made.outs)
    assert litellm.budgets == {}
    assert provider.read(made.id, made.outs).id == ""
    provider.delete(made.id, made.outs)


def test_a_value_that_somebody_changed_at_the_gateway_does_not_outlive_a_deployment(litellm: ScriptedLiteLLM) -> None:
    """S3-55: also without --refresh, with the state that the last deployment left."""
    provider = PersonBudgetProvider()
    made = provider.create(PROPS)
    litellm.budgets["hearth-person"]["max_budget"] = 500.0
    found = provider.diff(made.id, made.outs, PROPS)
    assert (found.changes, found.replaces) == (True, [])
    assert provider.update(made.id, made.outs, PROPS).outs == PROPS
    assert litellm.budgets["hearth-person"]["max_budget"] == 5.0
    del litellm.budgets["hearth-person"]
    assert provider.diff(made.id, made.outs, PROPS).changes is True
    assert provider.update(made.id, made.outs, PROPS).outs == PROPS
    assert litellm.budgets["hearth-person"]["max_budget"] == 5.0
    assert provider.diff(made.id, made.outs, PROPS).changes is False


@pytest.mark.parametrize("ready", [False, True])
def test_a_gateway_that_cannot_be_asked_has_what_was_last_seen(
    litellm: ScriptedLiteLLM, monkeypatch: pytest.MonkeyPatch, ready: bool
) -> None:
    provider = PersonBudgetProvider()
    made = provider.create(PROPS)
    litellm.budgets["hearth-person"]["max_budget"] = 500.0

    def gone(_: object, __: object) -> None:
        assert ready, "nobody waits for a gateway in a comparison"
        raise GatewayUnavailableError("it is away")

    monkeypatch.setattr(GatewayProvider, "is_ready", lambda *_: ready)
    monkeypatch.setattr(GatewayProvider, "gateway", gone)
    assert provider.diff(made.id, made.outs, PROPS).changes is False
    assert provider.diff(made.id, made.outs, {**PROPS, "rpm_limit": 31.0}).changes is True


def test_one_that_is_there_is_taken_up(litellm: ScriptedLiteLLM) -> None:
    litellm.budgets["hearth-person"] = {"budget_id": "hearth-person", "max_budget": 1.0}
    assert PersonBudgetProvider().create(PROPS).outs == PROPS
    assert litellm.paths() == ["/budget/update"]


@pytest.mark.parametrize("field", ["budget_id", "max_budget", "budget_duration", "rpm_limit", "tpm_limit"])
def test_everything_is_required(field: str) -> None:
    failures = PersonBudgetProvider().check({}, {**PROPS, field: None}).failures
    assert [failure.property for failure in failures] == [field]
