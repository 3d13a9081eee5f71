"""The gateway's Deployment and what is around it."""

from typing import Any

import pytest

from hearth.claim.claim import Claim
from hearth.compile.intake import intake_program
from hearth.compile.manifests.common import Manifest
from hearth.compile.manifests.credentials import SecretNames
from hearth.compile.manifests.gateway import gateway
from hearth.topology.resolve import resolve
from tests.unit.compile.manifests.samples import claim_of, container, grouped, loaded, one, values, variants


def made(claim: Claim | None = None) -> list[Manifest]:
    return grouped(claim or variants()["local"])["gateway"]


def template(claim: Claim | None = None) -> dict[str, Any]:
    found: dict[str, Any] = one(made(claim), "Deployment")["spec"]["template"]
    return found


def environment(entry: dict[str, Any]) -> dict[str, Any]:
    return {item["name"]: item.get("value", item.get("valueFrom")) for item in entry.get("env", [])}


def test_litellm_listens_on_sockets_and_the_front_on_the_pod() -> None:
    litellm, guard = container(template(), "litellm"), container(template(), "guard")
    assert litellm["command"][2:] == [
        "/etc/litellm/config.yaml",
        "/etc/litellm/intake.json",
        "/run/hearth/client.sock",
        "/run/hearth/management.sock",
    ]
    assert "ports" not in litellm
    assert {port["name"]: port["containerPort"] for port in guard["ports"]}["http"] == 4000
    assert one(made(), "Service")["spec"]["ports"] == [
        {"name": "http", "port": 4000, "targetPort": "http", "protocol": "TCP"}
    ]


def test_the_intake_lies_beside_its_program_and_is_what_was_compiled() -> None:
    litellm, guard = container(template(), "litellm"), container(template(), "guard")
    program = one(made(), "ConfigMap", "llm-gateway-intake")
    assert program["immutable"]
    volumes = {volume["name"]: volume for volume in template()["spec"]["volumes"]}
    items = {item["path"]: program["data"][item["key"]] for item in volumes["intake"]["configMap"]["items"]}
    assert items == dict(intake_program().files)
    assert volumes["intake"]["configMap"]["name"] == program["metadata"]["name"]
    mounts = {mount["name"]: mount for mount in litellm["volumeMounts"]}
    assert litellm["command"][1] == f"{mounts['intake']['mountPath']}/start.py"
    assert mounts["intake"]["readOnly"]
    assert "intake.json" in one(made(), "ConfigMap", "llm-gateway-config")["data"]
    assert "emptyDir" in volumes["doors"]
    assert mounts["doors"]["mountPath"] == "/run/hearth"
    assert {mount["name"] for mount in guard["volumeMounts"]} == {"proxy", "trust", "doors"}


def test_the_guard_is_up_before_litellm_and_down_after_it() -> None:
    (guard,) = template()["spec"]["initContainers"]
    assert guard["name"] == "guard"
    assert guard["restartPolicy"] == "Always"
    assert "startupProbe" in guard


def test_both_configurations_of_haproxy_are_one_process() -> None:
    assert container(template(), "guard")["args"] == [
        "-db",
        "-f",
        "/etc/haproxy/guard.cfg",
        "-f",
        "/etc/haproxy/front.cfg",
    ]
    assert {"guard.cfg", "front.cfg"} <= set(one(made(), "ConfigMap", "llm-guard")["data"])


def test_models_stay_off_in_the_database_by_the_environment_too() -> None:
    litellm = environment(container(template(), "litellm"))
    assert litellm["STORE_MODEL_IN_DB"] == "False"
    assert litellm["DISABLE_SCHEMA_UPDATE"] == "true"
    assert litellm["DISABLE_ADMIN_UI"] == litellm["NO_DOCS"] == litellm["NO_REDOC"] == "True"
    assert litellm["LITELLM_LOCAL_MODEL_COST_MAP"] == "True"
    assert litellm["LITELLM_MODE"] == "PRODUCTION"


def test_litellm_gets_its_own_secrets_and_no_upstreams() -> None:
    litellm = environment(container(template(), "litellm"))
    for key in ("LITELLM_MASTER_KEY", "LITELLM_SALT_KEY", "DATABASE_URL", "REDIS_PASSWORD"):
        assert litellm[key] == {"secretKeyRef": {"name": "llm-gateway", "key": key}}
    production = environment(container(template(variants()["production"]), "litellm"))
    assert not [name for name in production if name.startswith(("ENDPOINT_CREDENTIAL_", "LLM_PROVIDER_KEY_"))]


def test_the_guard_has_the_credential_of_a_pod_from_the_deployment() -> None:
    assert environment(container(template(), "guard")) == {
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
    guard = environment(container(template(production), "guard"))
    assert guard["LLM_PROVIDER_KEY_some_vendor_api_key"] == {
        "secretKeyRef": {"name": "llm-provider-credentials", "key": "some_vendor_api_key", "optional": True}
    }
    outside = {
        name: endpoint
        for name, endpoint in production.endpoints.items()
        if endpoint.endpoint_auth.mode != "none" and (endpoint.runtime is None or endpoint.runtime.placement == "host")
    }
    assert outside
    for name, endpoint in outside.items():
        assert endpoint.endpoint_auth.mode != "none"
        scope, key = endpoint.endpoint_auth.credential_ref.removeprefix("credential://").split("/")
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


@pytest.mark.parametrize(("longest_ms", "grace"), [(300_000, 330), (60_000, 90), (600_000, 630)])
def test_a_pod_may_take_as_long_to_stop_as_its_longest_request(longest_ms: int, grace: int) -> None:
    claim = values()
    claim["endpoints"]["gemma"]["runtimeCapacity"]["requestTimeoutMs"] = longest_ms
    claim["endpoints"]["gemma"]["runtimeCapacity"]["streamSetupTimeoutMs"] = 1_000
    assert template(claim_of(claim))["spec"]["terminationGracePeriodSeconds"] == grace


def test_it_drains_before_it_stops() -> None:
    assert container(template(), "litellm")["lifecycle"] == {"preStop": {"sleep": {"seconds": 10}}}
    spec = one(made(), "Deployment")["spec"]
    assert spec["strategy"] == {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}


def test_replicas_are_spread_and_protected_from_drains() -> None:
    spread = template()["spec"]["topologySpreadConstraints"]
    assert [entry["topologyKey"] for entry in spread] == ["topology.kubernetes.io/zone", "kubernetes.io/hostname"]
    assert all(entry["matchLabelKeys"] == ["pod-template-hash"] for entry in spread)
    budget = one(made(), "PodDisruptionBudget")["spec"]
    assert (budget["maxUnavailable"], budget["unhealthyPodEvictionPolicy"]) == (1, "AlwaysAllow")


def test_one_replica_has_no_budget_that_would_forbid_every_drain() -> None:
    assert "PodDisruptionBudget" not in {manifest["kind"] for manifest in made(variants()["one-replica"])}
    assert one(made(variants()["one-replica"]), "Deployment")["spec"]["replicas"] == 1


def test_no_probe_asks_the_database_or_a_model() -> None:
    litellm = container(template(), "litellm")
    paths = {litellm[name]["httpGet"]["path"] for name in ("startupProbe", "readinessProbe", "livenessProbe")}
    assert paths == {"/readyz", "/health/liveliness"}


def _without_alias(claim: dict[str, Any]) -> None:
    claim["aliases"].clear()


def _longer(claim: dict[str, Any]) -> None:
    claim["endpoints"]["gemma"]["runtimeCapacity"]["maxParallelRequests"] = 3


def _another_tenant(claim: dict[str, Any]) -> None:
    claim["tenants"]["more"] = {"apps": {"a": {"llm": True}}}


@pytest.mark.parametrize(("change", "rolls"), [(_without_alias, True), (_longer, True), (_another_tenant, False)])
def test_the_pods_are_replaced_if_and_only_if_their_configuration_changes(change: Any, rolls: bool) -> None:
    claim = values()
    change(claim)
    assert (template(claim_of(claim)) != template()) is rolls


def test_a_new_ca_rolls_the_pods() -> None:
    topology = resolve(variants()["local"])
    names = SecretNames.by_reference(topology)

    def pods(trust: str) -> Any:
        made = gateway(topology, names, litellm_yaml="", intake_json="", proxy_files={}, trust=trust)
        manifests = [each.manifest for each in made]
        return one(manifests, "Deployment")["spec"]["template"]

    assert pods("llm-trust-a") != pods("llm-trust-b")


def test_the_guard_finds_every_ca() -> None:
    home = grouped(loaded("home").claim)
    bundles = one(home["trust"], "ConfigMap")["data"]
    assert set(bundles) == {f"{name}.pem" for name in loaded("home").claim.trust_bundles}
    volume = next(v for v in template()["spec"]["volumes"] if v["name"] == "trust")
    assert {"configMap": {"name": "llm-trust-in-cluster"}} in volume["projected"]["sources"]
    volume = next(v for v in template(loaded("home").claim)["spec"]["volumes"] if v["name"] == "trust")
    assert volume["projected"]["sources"] == [
        {"configMap": {"name": one(home["trust"], "ConfigMap")["metadata"]["name"]}}
    ]
