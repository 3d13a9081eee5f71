"""The budget's provider against a scripted LiteLLM."""

from typing import Any

import pytest

from hearth.gatewayapi.person_budget import PersonBudgetProvider
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


def test_one_that_is_there_is_taken_up(litellm: ScriptedLiteLLM) -> None:
    litellm.budgets["hearth-person"] = {"budget_id": "hearth-person", "max_budget": 1.0}
    assert PersonBudgetProvider().create(PROPS).outs == PROPS
    assert litellm.paths() == ["/budget/update"]


@pytest.mark.parametrize("field", ["budget_id", "max_budget", "budget_duration", "rpm_limit", "tpm_limit"])
def test_everything_is_required(field: str) -> None:
    failures = PersonBudgetProvider().check({}, {**PROPS, field: None}).failures
    assert [failure.property for failure in failures] == [field]
