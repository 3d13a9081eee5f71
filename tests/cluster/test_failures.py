"""What is declared to happen when a part dies (docs/failures.md)."""

import re
import uuid

import pytest

from tests.cluster.chats import chats
from tests.cluster.inside import admin, sql
from tests.cluster.kube import eventually
from tests.cluster.load import Load
from tests.cluster.platform import Platform

pytestmark = pytest.mark.cluster

WORKERS = 3


def kill(platform: Platform, role: str) -> None:
    pod = platform.kube.pod_names("system-llm", f"hearth.dev/role={role}")[0]
    platform.kube.run("-n", "system-llm", "delete", "pod", pod, "--force", "--grace-period=0")


def test_a_gateway_pod_that_dies_costs_at_most_what_it_had_in_flight(platform: Platform) -> None:
    with Load(platform, workers=WORKERS, more=10) as load:
        kill(platform, "gateway")
        platform.ready("deployment/llm-gateway")
        result = load.finish()
    assert sum(result.failures.values()) <= WORKERS, result
    assert result.answered > 60


def test_without_valkey_budgets_are_closed_and_the_rest_goes_on(platform: Platform) -> None:
    with Load(platform, workers=WORKERS) as load:
        platform.kube.run("-n", "system-llm", "scale", "deployment/llm-cache", "--replicas=0")
        try:
            eventually(
                "no cache Pod", lambda: platform.kube.pod_names("system-llm", "hearth.dev/role=cache") == [], seconds=60
            )
            answers = chats(platform, f"carol-{uuid.uuid4().hex[:8]}", 4)
            assert 200 not in answers, "a budget that cannot be counted is closed"
        finally:
            platform.kube.run("-n", "system-llm", "scale", "deployment/llm-cache", "--replicas=1")
            platform.ready("deployment/llm-cache")
        result = load.finish()
    assert sum(result.failures.values()) <= WORKERS, result
    # Each replica takes Valkey for back by itself, some seconds later.
    eventually(
        "both replicas count again",
        lambda: chats(platform, f"carol-{uuid.uuid4().hex[:8]}", 4) == [200] * 4,
        seconds=90,
        pause=2,
    )


def test_a_postgresql_pod_that_dies_loses_neither_keys_nor_spend(platform: Platform) -> None:
    person = f"dora-{uuid.uuid4().hex[:8]}"
    assert chats(platform, person, 1) == [200]

    def spend() -> float:
        found = sql(platform, "litellm", f"""SELECT spend FROM "LiteLLM_EndUserTable" WHERE user_id = '{person}';""")
        numbers = re.findall(r"^[0-9.e-]+$", found, re.MULTILINE)
        return float(numbers[0]) if numbers else 0.0

    eventually("the spend is written", lambda: spend() > 0, seconds=90, pause=3)
    before = spend()
    _, keys = admin(platform, "GET", "/key/list?size=100")

    with Load(platform, workers=WORKERS, more=10) as load:
        kill(platform, "database")
        platform.ready("statefulset/llm-database")
        eventually("the database answers", lambda: spend() == before, seconds=60, pause=2)
        result = load.finish()

    _, after = admin(platform, "GET", "/key/list?size=100")
    assert sorted(after["keys"]) == sorted(keys["keys"])  # type: ignore[index]
    # Declared: cached keys go on, others get a 5xx in JSON; nobody is told that a good key is wrong.
    assert not [kind for kind in result.failures if kind.startswith(("401", "403"))], result
    assert chats(platform, person, 1) == [200]
