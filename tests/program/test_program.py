"""The whole program against Pulumi's mocks: what it declares for each example stack, and what it refuses."""

from pathlib import Path
from typing import Any

import pytest
from pulumi.runtime.rpc import _special_sig_key

from tests.support.kube_system import kubeconfig, present
from tests.support.litellm import free_port
from tests.support.program import UID, config_of, declare, deployed_claim, example


def kinds(result: dict[str, Any]) -> list[str]:
    return [typ for typ, _ in result["resources"]]


@pytest.fixture(scope="module")
def local() -> dict[str, Any]:
    return example("local")


def test_the_local_stack_declares_one_of_everything(local: dict[str, Any]) -> None:
    names = {f"{typ}|{name}" for typ, name in local["resources"]}
    assert {
        "kubernetes:core/v1:Namespace|Namespace:system-llm",
        "kubernetes:core/v1:PersistentVolumeClaim|PersistentVolumeClaim:system-llm/llm-database-data",
        "kubernetes:apps/v1:StatefulSet|StatefulSet:system-llm/llm-database",
        "kubernetes:batch/v1:Job|Job:system-llm/llm-migrations",
        "kubernetes:apps/v1:Deployment|Deployment:system-llm/llm-gateway",
        "kubernetes:apps/v1:Deployment|Deployment:system-llm/llm-gemma",
        "kubernetes:apps/v1:Deployment|Deployment:system-llm/vllm-inference",
        "pulumi-python:dynamic/hearth:Team|family",
        "pulumi-python:dynamic/hearth:AppKey|family--notes",
        "pulumi-python:dynamic/hearth:CredentialsSecret|family--notes",
        "pulumi-python:dynamic/hearth:PersonBudget|hearth-person",
    } <= names


def test_an_app_that_does_not_declare_the_gateway_gets_neither_key_nor_secret(local: dict[str, Any]) -> None:
    assert not [name for _, name in local["resources"] if "photos" in name]


def test_nothing_has_a_public_address(local: dict[str, Any]) -> None:
    assert not {kind for kind in kinds(local) if kind.endswith((":Ingress", ":HTTPRoute", ":Gateway"))}
    services = [inputs for key, inputs in local["inputs"].items() if key.startswith("kubernetes:core/v1:Service|")]
    assert services
    assert {service["spec"]["type"] for service in services} == {"ClusterIP"}


def test_a_disabled_gateway_declares_nothing_at_all() -> None:
    config = config_of("local")
    config = {"hearth:llm": {**config["hearth:llm"], "enabled": False}, "hearth:policy": config["hearth:policy"]}
    assert declare("local", config)["resources"] == [["hearth:index:Platform", "local"]]


def switched_off(**changes: Any) -> dict[str, Any]:
    config = config_of("local")
    return {**config, "hearth:llm": {**config["hearth:llm"], "enabled": False}, **changes}


def test_switching_off_stops_what_runs_and_keeps_what_holds_data(local: dict[str, Any]) -> None:
    outputs = {"claim": deployed_claim("local"), "cluster": UID}
    result = declare("local", switched_off(), outputs=outputs)
    names, before = ({f"{typ}|{name}" for typ, name in found["resources"]} for found in (result, local))
    assert names < before
    assert not [name for name in names if name.split("|")[0].endswith((":Deployment", ":StatefulSet", ":Job"))]
    data = (":Namespace", ":PersistentVolumeClaim", ":NetworkPolicy", ":Team", ":AppKey", "Secret")
    assert {name for name in before if name.split("|")[0].endswith(data)} <= names
    assert any("hearth:llm.enabled: is false, so that nothing runs" in text for text in result["warned"])
    assert {name for name, paths in result["ignored"].items() if paths == ["*"]} == {
        "Team|family",
        "Team|guests",
        "AppKey|family--notes",
        "AppKey|guests--kiosk",
        "PersonBudget|hearth-person",
    }


def test_nothing_else_changes_while_the_gateway_is_off() -> None:
    outputs = {"claim": deployed_claim("local"), "cluster": UID}
    result = declare("local", switched_off(**{"hearth:tenants": {}}), outputs=outputs)
    assert "hearth:tenants: changes while the gateway is off, or together with switching it off" in result["refused"]
    assert result["resources"] == []


def test_what_is_off_stays_off_until_it_is_destroyed() -> None:
    there = present("Namespace", None, "system-llm", labels={"app.kubernetes.io/managed-by": "hearth"})
    result = declare("local", switched_off(), outputs={"cluster": UID}, objects=[there])
    assert "kubernetes:core/v1:PersistentVolumeClaim" in kinds(result)
    gone = declare("local", switched_off(), outputs={"cluster": UID})
    assert gone["resources"] == [["hearth:index:Platform", "local"]]


@pytest.mark.parametrize("stack", ["home", "dev"])
def test_the_other_examples_are_declared_too(stack: str) -> None:
    """Their providers were deployed before, so that no address is looked up (S3-25)."""
    result = example(stack)
    assert "refused" not in result, result["refused"]
    assert "kubernetes:apps/v1:Deployment" in kinds(result)


def test_an_external_database_needs_a_cluster_that_is_named(tmp_path: Path) -> None:
    claim = {"claim": deployed_claim("production")}
    missing = str(tmp_path / "missing")
    result = declare("production", config_of("production"), outputs=claim, KUBECONFIG=missing)
    assert f"the kubeconfig {missing} does not lead to a cluster" in result["refused"]


def test_a_refused_claim_says_everything_at_once_and_declares_nothing() -> None:
    config = config_of("local")
    config["hearth:llm"] = {**config["hearth:llm"], "gpuAcceleration": "maybe", "planted": "sk-planted-secret-0123"}
    config["hearth:aliases"] = {"gemma": {"deployments": ["nobody"], "residency": ["home"]}}
    refused = declare("local", config)["refused"]
    assert "hearth:llm.gpuAcceleration" in refused
    assert "hearth:llm.planted" in refused
    assert "hearth:aliases" in refused
    assert "sk-planted-secret-0123" not in refused


# Which cluster


def test_every_client_gets_the_same_cluster_and_its_identity_is_recorded(local: dict[str, Any]) -> None:
    assert local["exported"]["cluster"] == UID
    provider = local["inputs"]["pulumi:providers:kubernetes|cluster"]
    assert provider["context"] == "here"
    assert set(provider["kubeconfig"]) == {"value", _special_sig_key}, "it holds keys, and is a secret"
    assert "canary-token" in provider["kubeconfig"]["value"]
    own = {key: inputs for key, inputs in local["inputs"].items() if key.startswith("pulumi-python:dynamic/hearth:")}
    in_cluster = {key for key in own if key.split("|")[0].endswith((":AppKey", ":Team", ":PersonBudget", "Secret"))}
    named = {key for key in in_cluster if ":RandomSecret" not in key}
    assert len(named) == 7
    assert {own[key]["cluster"] for key in named} == {UID}


def test_another_cluster_is_refused_before_anything_is_declared() -> None:
    result = declare("local", config_of("local"), outputs={"cluster": "00000000-another"})
    assert "leads to another cluster than this stack is deployed to" in result["refused"]
    assert f"pulumi stack export | sed s/00000000-another/{UID}/ | pulumi stack import" in result["refused"]
    assert result["resources"] == []


def test_the_same_cluster_again_is_none_other() -> None:
    result = declare("local", config_of("local"), outputs={"cluster": UID})
    assert result["exported"]["cluster"] == UID


def test_a_gateway_that_is_switched_off_is_not_removed_from_another_cluster() -> None:
    config = config_of("local")
    config = {"hearth:llm": {**config["hearth:llm"], "enabled": False}, "hearth:policy": config["hearth:policy"]}
    assert "another cluster" in declare("local", config, outputs={"cluster": "00000000-another"})["refused"]


def test_the_users_own_default_is_never_taken(tmp_path: Path) -> None:
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube/config").write_text(kubeconfig())
    result = declare("local", config_of("local"), HOME=str(tmp_path), KUBECONFIG="")
    assert "which cluster is meant is not said: set KUBECONFIG" in result["refused"]
    assert result["resources"] == []


def test_a_kubeconfig_in_the_configuration_has_to_be_encrypted() -> None:
    content = kubeconfig(f"http://127.0.0.1:{free_port()}")
    config = {**config_of("local"), "kubernetes:kubeconfig": content}
    refused = declare("local", config)["refused"]
    assert "is not encrypted: `pulumi config set --secret kubernetes:kubeconfig < FILE`" in refused
    assert "canary" not in refused
    encrypted = declare("local", config, secret=("kubernetes:kubeconfig",))["refused"]
    assert "the Kubernetes API of here does not answer" in encrypted, "it is the one that is asked"
