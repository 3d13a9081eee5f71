"""The guard's Deployments and what is around them."""

from typing import Any

import pytest

from hearth.claim.claim import Claim
from hearth.compile.manifests.common import Manifest
from hearth.compile.manifests.credentials import SecretNames
from hearth.compile.manifests.guard import guard_replica
from hearth.topology.resolve import resolve
from tests.unit.compile.manifests.samples import claim_of, container, grouped, loaded, one, values, variants


def replica(claim: Claim | None = None, number: int = 0) -> Manifest:
    group = grouped(claim or variants()["local"])
    return one(group["guard-0" if number == 0 else "guard-1"], "Deployment")


def template(claim: Claim | None = None) -> dict[str, Any]:
    found: dict[str, Any] = replica(claim)["spec"]["template"]
    return found


def one_guard() -> Claim:
    claim = values()
    claim["llm"]["guard"] = {"replicas": 1}
    return claim_of(claim)


def environment(claim: Claim) -> dict[str, Any]:
    return {item["name"]: item["valueFrom"] for item in container(template(claim), "guard").get("env", [])}


def test_each_replica_is_a_deployment_with_a_service_and_a_certificate_of_its_own() -> None:
    services = {found["metadata"]["name"]: found for found in grouped(variants()["local"])["services"]}
    for number, name in enumerate(("llm-guard-0", "llm-guard-1")):
        found = replica(number=number)
        assert (found["metadata"]["name"], found["spec"]["replicas"]) == (name, 1)
        labels = found["spec"]["template"]["metadata"]["labels"]
        assert services[name]["spec"]["selector"].items() <= labels.items()
        assert services[name]["spec"]["ports"] == [
            {"name": "https", "port": 8443, "targetPort": "https", "protocol": "TCP"}
        ]
        volumes = {volume["name"]: volume for volume in found["spec"]["template"]["spec"]["volumes"]}
        assert volumes["secret"]["secret"]["secretName"] == name
        assert found["spec"]["template"]["spec"]["serviceAccountName"] == "llm-guard"


def test_a_replica_with_a_backup_is_gone_from_its_home_before_the_next_comes() -> None:
    assert replica()["spec"]["strategy"]["rollingUpdate"] == {"maxUnavailable": 1, "maxSurge": 0}
    assert "lifecycle" not in container(template(), "guard")


def test_the_only_replica_stays_until_the_next_is_ready() -> None:
    alone = replica(one_guard())
    assert alone["spec"]["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
    assert container(alone["spec"]["template"], "guard")["lifecycle"] == {"preStop": {"sleep": {"seconds": 5}}}
    group = grouped(one_guard())
    assert "guard-1" not in group
    assert "llm-guard-1" not in {found["metadata"]["name"] for found in group["services"]}


def test_the_replicas_are_kept_apart_and_evicted_one_at_a_time() -> None:
    both = {"matchLabels": {"hearth.dev/role": "guard"}}
    assert [entry["labelSelector"] for entry in template()["spec"]["topologySpreadConstraints"]] == [both, both]
    budget = one(grouped(variants()["local"])["guard"], "PodDisruptionBudget")["spec"]
    assert (budget["maxUnavailable"], budget["selector"]) == (1, both)
    assert "PodDisruptionBudget" not in {found["kind"] for found in grouped(one_guard())["guard"]}


def test_it_has_the_credential_of_a_pod_from_the_deployment() -> None:
    assert environment(variants()["local"]) == {
        "ENDPOINT_CREDENTIAL_GEMMA": {
            "secretKeyRef": {"name": "llm-endpoint-credentials", "key": "ENDPOINT_CREDENTIAL_GEMMA"}
        }
    }


def test_what_the_operator_supplies_may_be_missing() -> None:
    claim = values("production")
    claim["llm"]["providers"] = [
        {
            "name": "some-vendor",
            "displayName": "Some Vendor",
            "apiBase": "https://api.example.com/v1",
            "apiKeyProperty": "some_vendor_api_key",
            "models": [{"name": "m", "model": "m"}],
        }
    ]
    production = claim_of(claim)
    guard = environment(production)
    assert guard["LLM_PROVIDER_KEY_some_vendor_api_key"] == {
        "secretKeyRef": {"name": "llm-provider-credentials", "key": "some_vendor_api_key", "optional": True}
    }
    outside = {
        name: endpoint.endpoint_auth
        for name, endpoint in production.endpoints.items()
        if endpoint.runtime is None or endpoint.runtime.placement == "host"
    }
    authenticated = {name: auth for name, auth in outside.items() if auth.mode != "none"}
    assert authenticated
    for name, auth in authenticated.items():
        assert auth.mode != "none"
        scope, key = auth.credential_ref.removeprefix("credential://").split("/")
        assert guard[f"ENDPOINT_CREDENTIAL_{name.upper().replace('-', '_')}"] == {
            "secretKeyRef": {
                "name": "llm-endpoint-credentials-external",
                "key": f"{scope}.{key}",
                "optional": True,
            }
        }


def test_no_credential_is_looked_up_for_an_endpoint_without_authentication() -> None:
    claim = values()
    claim["endpoints"]["gemma"]["endpointAuth"] = {"mode": "none"}
    claim["endpoints"]["gemma"]["runtime"] = None
    claim["endpoints"]["gemma"]["sidecar"] = None
    assert "env" not in container(template(claim_of(claim)), "guard")


@pytest.mark.parametrize(("longest_ms", "grace"), [(300_000, 345), (60_000, 105)])
def test_a_pod_may_take_as_long_to_stop_as_its_longest_request(longest_ms: int, grace: int) -> None:
    claim = values()
    claim["endpoints"]["gemma"]["runtimeCapacity"]["requestTimeoutMs"] = longest_ms
    claim["endpoints"]["gemma"]["runtimeCapacity"]["streamSetupTimeoutMs"] = 1_000
    assert template(claim_of(claim))["spec"]["terminationGracePeriodSeconds"] == grace


def test_a_changed_endpoint_rolls_the_guard() -> None:
    claim = values()
    claim["endpoints"]["gemma"]["runtimeCapacity"]["maxParallelRequests"] = 3
    assert template(claim_of(claim)) != template()


def test_a_new_ca_rolls_the_pods() -> None:
    topology = resolve(variants()["local"])
    names = SecretNames.by_reference(topology)

    def pods(trust: str) -> Any:
        made = guard_replica(topology, names, 0, files={}, trust=trust)
        return one([each.manifest for each in made], "Deployment")["spec"]["template"]

    assert pods("llm-trust-a") != pods("llm-trust-b")


def test_it_finds_every_ca() -> None:
    home = grouped(loaded("home").claim)
    bundles = one(home["trust"], "ConfigMap")["data"]
    assert set(bundles) == {f"{name}.pem" for name in loaded("home").claim.trust_bundles}
    volume = next(v for v in template()["spec"]["volumes"] if v["name"] == "trust")
    assert {"configMap": {"name": "llm-trust-in-cluster"}} in volume["projected"]["sources"]
    volume = next(v for v in template(loaded("home").claim)["spec"]["volumes"] if v["name"] == "trust")
    assert volume["projected"]["sources"] == [
        {"configMap": {"name": one(home["trust"], "ConfigMap")["metadata"]["name"]}}
    ]
