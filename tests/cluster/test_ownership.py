"""What others made is neither taken over nor deleted, and a gateway that is switched off comes back with everything."""

import json

import pytest

from tests.cluster.claims import changed, visitors
from tests.cluster.inside import admin
from tests.cluster.kube import eventually
from tests.cluster.platform import Platform
from tests.cluster.test_changes import all_keys, statuses_of_key

pytestmark = pytest.mark.cluster

SPACE = "tenant-visitors"


def test_what_others_made_is_neither_taken_over_nor_deleted(restored: Platform) -> None:
    platform = restored
    kube, stack = platform.kube, platform.stack
    kube.run("create", "namespace", SPACE)
    try:
        refused = stack.up(visitors(platform.claim), check=False)
        assert refused.returncode != 0
        assert f"the namespace {SPACE} is there already, and this environment did not make it" in refused.stdout
        assert f"hearth:policy.adopt.namespaces: [{SPACE}]" in refused.stdout
        assert "Traceback" not in refused.stdout
        assert "hearth.dev/tenant" not in kube.run("get", "namespace", SPACE, "-o", "yaml")
    finally:
        kube.run("delete", "namespace", SPACE, "--wait=true")

    stack.up(changed(platform.claim, tenants={"visitors": {"apps": {}}}))
    stray = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "llm-credentials-desk", "namespace": SPACE}}
    kube.apply({**stray, "stringData": {"OPENAI_API_KEY": "somebody's own"}})
    apps = {"desk": {"llm": True}, "lobby": {"llm": True}}
    done = stack.up(changed(platform.claim, tenants={"visitors": {"apps": apps}}))
    assert f"the namespace {SPACE} has a Secret llm-credentials-desk that Hearth did not write" in done.stdout
    assert kube.secret(SPACE, "llm-credentials-desk") == {"OPENAI_API_KEY": "somebody's own"}
    assert statuses_of_key(platform, platform.key(SPACE, "lobby")) == [200, 200], "nobody else is concerned"

    refused = stack.up(platform.claim, check=False)
    assert refused.returncode != 0
    assert "hearth:tenants.visitors: is no longer declared" in refused.stdout
    assert "holds what Hearth did not make: Secret llm-credentials-desk" in refused.stdout
    assert statuses_of_key(platform, platform.key(SPACE, "lobby")) == [200, 200]
    kube.run("-n", SPACE, "delete", "secret", "llm-credentials-desk")
    stack.up(platform.claim)
    assert SPACE not in kube.run("get", "namespaces", "-o", "name")


def test_a_namespace_is_taken_over_on_request_and_given_back(restored: Platform) -> None:
    platform = restored
    kube = platform.kube
    kube.run("create", "namespace", SPACE)
    kube.run("label", "namespace", SPACE, "team=blue")
    try:
        claim = changed(visitors(platform.claim), policy={"adopt": {"namespaces": [SPACE]}})
        platform.stack.up(claim)
        assert statuses_of_key(platform, platform.key(SPACE, "desk")) == [200, 200]
        assert platform.stack.changes(claim) == []
        platform.stack.up(platform.claim)
        left = kube.json("get", "namespace", SPACE)["metadata"]["labels"]
        assert left == {"team": "blue", "kubernetes.io/metadata.name": SPACE}
        assert kube.json("-n", SPACE, "get", "networkpolicies,secrets")["items"] == []
    finally:
        kube.run("delete", "namespace", SPACE, "--ignore-not-found", "--wait=true")


def test_a_gateway_that_is_switched_off_comes_back_with_everything(restored: Platform) -> None:
    platform = restored
    kube, key = platform.kube, platform.key("tenant-family", "notes")
    before = json.loads(json.dumps(admin(platform, "GET", "/key/list?size=100")))[1]["keys"]
    volume = kube.json("-n", "system-llm", "get", "pvc", "llm-database-data")["metadata"]["uid"]
    off = changed(platform.claim, llm={"enabled": False})
    done = platform.stack.up(off)
    assert "hearth:llm.enabled: is false, so that nothing runs" in done.stdout
    assert kube.json("-n", "system-llm", "get", "deployments,statefulsets,jobs")["items"] == []
    assert kube.json("-n", "system-llm", "get", "pvc", "llm-database-data")["metadata"]["uid"] == volume
    assert platform.key("tenant-family", "notes") == key
    assert "notes" in kube.pod_names("tenant-family", "hearth.dev/app=notes")
    assert platform.stack.changes(off) == []
    refused = platform.stack.up(changed(off, tenants={"guests": None}), check=False)
    assert "hearth:tenants: changes while the gateway is off" in refused.stdout

    platform.stack.up(platform.claim)
    eventually("the same key works", lambda: statuses_of_key(platform, key) == [200, 200], seconds=60)
    assert sorted(admin(platform, "GET", "/key/list?size=100")[1]["keys"]) == sorted(before)  # type: ignore[index]
    assert "family--notes--1" in all_keys(platform)
