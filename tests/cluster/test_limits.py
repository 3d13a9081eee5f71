"""The person budget, counted by both replicas together (S3-54 … S3-58)."""

import uuid
from typing import Literal

import pytest

from tests.cluster.chats import chats
from tests.cluster.claims import REQUEST_COST
from tests.cluster.platform import Platform

pytestmark = pytest.mark.cluster


def statuses(platform: Platform, how: Literal["body", "header", "nobody"]) -> list[int]:
    assert len(platform.gateway_hosts()) == 2
    return chats(platform, f"bob-{uuid.uuid4().hex[:8]}", 14, how=how)


@pytest.mark.parametrize("how", ["body", "header"])
def test_a_person_over_budget_is_refused_by_both_replicas(platform: Platform, how: Literal["body", "header"]) -> None:
    found = statuses(platform, how)
    # Each replica for itself would let twice as many through.
    allowed = int(float(platform.claim["llm"]["personBudget"]["maxSpend"]) / REQUEST_COST)
    assert set(found) == {200, 429}
    assert allowed - 1 <= found.count(200) <= allowed + 1
    assert found[-4:] == [429] * 4


def test_a_request_that_names_nobody_is_held_to_nothing_per_person(platform: Platform) -> None:
    assert set(statuses(platform, "nobody")) == {200}
