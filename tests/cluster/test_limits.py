"""The person budget, counted by both replicas together (S3-54 … S3-58)."""

import json
import uuid

import pytest

from tests.cluster.claims import REQUEST_COST
from tests.cluster.conftest import Platform

pytestmark = pytest.mark.cluster

PROGRAM = """
import json, os, sys
import httpx
person, hosts, how = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
statuses = []
for i in range(14):
    body = {"model": "scripted", "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}]}
    headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    if how == "header":
        headers["x-litellm-end-user-id"] = person
    elif how == "body":
        body["user"] = person
    answer = httpx.post(f"http://{hosts[i % len(hosts)]}:4000/v1/chat/completions", json=body, headers=headers, timeout=60)
    statuses.append(answer.status_code)
print(json.dumps(statuses))
"""


def statuses(platform: Platform, how: str) -> list[int]:
    hosts = [pod["status"]["podIP"] for pod in platform.kube.pods("system-llm", "hearth.dev/role=gateway")]
    assert len(hosts) == 2
    person = f"bob-{uuid.uuid4().hex[:8]}"
    answer = platform.kube.python("tenant-family", "notes", PROGRAM, person, json.dumps(hosts), how)
    return list(json.loads(answer))


@pytest.mark.parametrize("how", ["body", "header"])
def test_a_person_over_budget_is_refused_by_both_replicas(platform: Platform, how: str) -> None:
    found = statuses(platform, how)
    # Each replica for itself would let twice as many through.
    allowed = int(float(platform.claim["llm"]["personBudget"]["maxSpend"]) / REQUEST_COST)
    assert set(found) == {200, 429}
    assert allowed - 1 <= found.count(200) <= allowed + 1
    assert found[-4:] == [429] * 4


def test_a_request_that_names_nobody_is_held_to_nothing_per_person(platform: Platform) -> None:
    assert set(statuses(platform, "nobody")) == {200}
