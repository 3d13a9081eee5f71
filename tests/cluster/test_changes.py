"""Adding and removing models and tenants while others go on (S3-8, U-1, U-2)."""

import json

import pytest

from tests.cluster.claims import changed, visitors
from tests.cluster.inside import admin
from tests.cluster.kube import eventually
from tests.cluster.load import Load, Streams
from tests.cluster.outage import Outage
from tests.cluster.platform import Platform

pytestmark = pytest.mark.cluster


def everything_else(platform: Platform) -> list[str]:
    """Uids of the Pods that no change of a model or a tenant may replace."""
    pods = platform.kube.json("-n", "system-llm", "get", "pods")["items"]
    return sorted(
        pod["metadata"]["uid"]
        for pod in pods
        if pod["metadata"]["labels"].get("hearth.dev/role") in {"database", "cache", "runtime", "mock"}
    )


def test_a_second_up_changes_nothing(platform: Platform) -> None:
    assert platform.stack.changes(platform.claim) == []


def test_adding_and_removing_a_model_fails_no_request(restored: Platform) -> None:
    platform = restored
    others, gateways = everything_else(platform), set(platform.gateway_pods())
    with Load(platform, pause=0.2) as load, Streams(platform, "tenant-guests", "kiosk") as slow:
        alias = {"deployments": ["scripted-chat"], "residency": ["here"]}
        platform.stack.up(changed(platform.claim, aliases={"second": alias}))
        first_wave = set(platform.gateway_pods())
        assert not gateways & first_wave, "a new model replaces every gateway Pod"
        listed = json.dumps(admin(platform, "GET", "/v1/models"))
        assert '"second"' in listed

        platform.stack.up(platform.claim)
        assert '"second"' not in json.dumps(admin(platform, "GET", "/v1/models"))
        assert everything_else(platform) == others

        streams, result = slow.json(), load.finish()
    assert result.failures == {}, result
    assert result.answered > 300
    assert streams["broken"] == []
    assert streams["whole"] >= 5


def test_a_tenant_comes_its_key_is_rotated_and_it_goes_while_nobody_else_is_touched(restored: Platform) -> None:
    platform = restored
    others, gateways = everything_else(platform), platform.gateway_pods()
    with Load(platform, pause=0.2) as load:
        platform.stack.up(visitors(platform.claim, keyGraceSeconds=5))
        first = platform.key("tenant-visitors", "desk")
        assert platform.gateway_pods() == gateways, "a tenant replaces no gateway Pod"
        assert statuses_of_key(platform, first) == [200, 200]
        assert "visitors--desk--1" in all_keys(platform)

        platform.stack.up(visitors(platform.claim, keyGeneration=2, keyGraceSeconds=5))
        second = platform.key("tenant-visitors", "desk")
        assert second != first
        assert statuses_of_key(platform, second) == [200, 200]
        eventually("401 for the old key", lambda: statuses_of_key(platform, first) == [401, 401], seconds=15)

        output = platform.stack.up(platform.claim).stdout
        assert everything_else(platform) == others
        assert platform.gateway_pods() == gateways
        eventually("401 on both replicas", lambda: statuses_of_key(platform, second) == [401, 401], seconds=15)
        assert "visitors--desk" not in all_keys(platform)
        result = load.finish()
    assert "tenant-visitors" not in platform.kube.run("get", "namespaces", "-o", "name")
    deleted = [line for line in output.splitlines() if "deleted (" in line]
    secret = next(i for i, line in enumerate(deleted) if "CredentialsSecret" in line or "llm-credentials-desk" in line)
    registered = next(i for i, line in enumerate(deleted) if "AppKey" in line)
    assert secret < registered, "the Secret goes before the key"
    assert result.failures == {}, result


def all_keys(platform: Platform) -> str:
    return json.dumps(admin(platform, "GET", "/key/list?return_full_object=true&size=100"))


def statuses_of_key(platform: Platform, key: str) -> list[int]:
    """What each replica says to a key; the key goes in by standard input."""
    program = f"""
import httpx, json
headers = {{"Authorization": "Bearer {key}"}}
urls = [f"http://{{host}}:4000/v1/models" for host in {platform.gateway_hosts()!r}]
print(json.dumps([httpx.get(url, headers=headers, timeout=30).status_code for url in urls]))
"""
    return list(json.loads(platform.kube.python("tenant-family", "notes", program)))


def test_a_key_that_somebody_removed_at_the_gateway_comes_back(restored: Platform) -> None:
    platform = restored
    key = platform.key("tenant-guests", "kiosk")
    status, _ = admin(platform, "POST", "/key/delete", {"keys": [key]})
    assert status == 200
    platform.stack.up(platform.claim, refresh=True)
    again = platform.key("tenant-guests", "kiosk")
    eventually("the key works again", lambda: statuses_of_key(platform, again) == [200, 200], seconds=30)


def test_a_gateway_that_does_not_answer_fails_the_step_and_says_what_to_do(outage: Outage) -> None:
    failed = outage.up
    assert failed.returncode != 0
    assert "kubectl -n system-llm get pods" in failed.stdout
    assert "Traceback" not in failed.stdout
