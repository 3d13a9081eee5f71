"""The gateway's Deployment and what is around it."""

import json
from dataclasses import replace
from typing import Any

import pytest

from hearth.claim.claim import Claim
from hearth.compile.intake import intake_program
from hearth.compile.manifests.common import Manifest
from hearth.compile.manifests.services import asks_a_name_server
from hearth.topology.resolve import resolve
from tests.unit.compile.manifests.samples import (
    ADDRESSES,
    claim_of,
    container,
    containers,
    grouped,
    one,
    values,
    variants,
)


def made(claim: Claim | None = None) -> list[Manifest]:
    return grouped(claim or variants()["local"])["gateway"]


def template(claim: Claim | None = None) -> dict[str, Any]:
    found: dict[str, Any] = one(made(claim), "Deployment")["spec"]["template"]
    return found


def environment(entry: dict[str, Any]) -> dict[str, Any]:
    return {item["name"]: item.get("value", item.get("valueFrom")) for item in entry.get("env", [])}


def test_litellm_listens_on_sockets_and_the_front_on_the_pod() -> None:
    litellm, front = container(template(), "litellm"), container(template(), "front")
    assert litellm["command"][2:] == [
        "/etc/litellm/config.yaml",
        "/etc/litellm/intake.json",
        "/run/hearth/client.sock",
        "/run/hearth/management.sock",
    ]
    assert "ports" not in litellm
    assert {port["name"]: port["containerPort"] for port in front["ports"]}["http"] == 4000
    assert one(made(), "Service")["spec"]["ports"] == [
        {"name": "http", "port": 4000, "targetPort": "http", "protocol": "TCP"}
    ]


def test_the_intake_lies_beside_its_program_and_is_what_was_compiled() -> None:
    litellm, front = container(template(), "litellm"), container(template(), "front")
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
    assert {mount["name"] for mount in front["volumeMounts"]} == {"front", "guard", "doors"}


def test_the_front_is_up_before_litellm_and_down_after_it() -> None:
    (front,) = template()["spec"]["initContainers"]
    assert front["name"] == "front"
    assert front["restartPolicy"] == "Always"
    assert "startupProbe" in front
    assert front["args"] == ["-db", "-f", "/etc/haproxy/front.cfg"]
    assert {"front.cfg", "homes.map"} == set(one(made(), "ConfigMap", "llm-gateway-front")["data"])


def test_only_the_front_knows_what_the_guard_is_called_with() -> None:
    volumes = {volume["name"]: volume for volume in template()["spec"]["volumes"]}
    assert volumes["guard"]["secret"]["secretName"] == "llm-gateway-guard"
    mounting = [
        entry["name"]
        for entry in containers(template())
        if "guard" in {mount["name"] for mount in entry["volumeMounts"]}
    ]
    assert mounting == ["front"]


def test_no_container_has_a_credential_of_an_upstream() -> None:
    for claim in variants().values():
        text = json.dumps(template(claim))
        for secret in ("llm-endpoint-credentials", "llm-provider-credentials", "ENDPOINT_CREDENTIAL_"):
            assert secret not in text


def test_the_pod_asks_no_name_server_and_finds_what_it_calls() -> None:
    spec = template()["spec"]
    assert (spec["dnsPolicy"], spec["dnsConfig"]) == ("None", {"nameservers": ["127.0.0.1"]})
    domain = "system-llm.svc.cluster.local"
    assert {alias["ip"]: alias["hostnames"] for alias in spec["hostAliases"]} == {
        ADDRESSES["llm-cache"]: [f"llm-cache.{domain}"],
        ADDRESSES["llm-database-address"]: [f"llm-database.{domain}"],
        ADDRESSES["llm-guard-0"]: [f"llm-guard-0.{domain}"],
        ADDRESSES["llm-guard-1"]: [f"llm-guard-1.{domain}"],
    }


def test_an_external_database_by_name_needs_the_name_server_and_one_by_address_does_not() -> None:
    assert "dnsPolicy" not in template(variants()["external-database"])["spec"]
    topology = resolve(variants()["external-database"])
    assert asks_a_name_server(topology, ADDRESSES)
    assert not asks_a_name_server(resolve(variants()["local"]), ADDRESSES)
    assert asks_a_name_server(resolve(variants()["local"]), None)
    by_address = topology.gateway.database.model_copy(update={"host": "10.9.0.7"})
    found = replace(topology, gateway=replace(topology.gateway, database=by_address))
    assert not asks_a_name_server(found, ADDRESSES)


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


def _more_at_once(claim: dict[str, Any]) -> None:
    claim["endpoints"]["gemma"]["runtimeCapacity"]["maxParallelRequests"] = 3


def _another_tenant(claim: dict[str, Any]) -> None:
    claim["tenants"]["more"] = {"apps": {"a": {"llm": True}}}


@pytest.mark.parametrize(
    ("change", "rolls"), [(_without_alias, True), (_more_at_once, False), (_another_tenant, False)]
)
def test_the_pods_are_replaced_if_and_only_if_their_configuration_changes(change: Any, rolls: bool) -> None:
    claim = values()
    change(claim)
    assert (template(claim_of(claim)) != template()) is rolls
