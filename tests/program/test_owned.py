"""What exists and is not this environment's is refused before anything is declared, or left alone."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.claims import instance, node_pool
from tests.support.kube_system import present
from tests.support.program import config_of, declare

OURS = {"app.kubernetes.io/managed-by": "hearth", "hearth.dev/environment": "local"}
LEGACY = {"app.kubernetes.io/managed-by": "hearth"}
ADOPTED = {"annotations": {"hearth.dev/adopted": "true"}}


def enforcing(config: dict[str, Any]) -> dict[str, Any]:
    """The configuration of `local` for an environment of another name, which may not do without evidence."""
    policy = {key: value for key, value in config["hearth:policy"].items() if key != "evidence"}
    return {**config, "hearth:policy": policy}


def space(name: str, labels: Mapping[str, str] = OURS, **metadata: Any) -> dict[str, Any]:
    return present("Namespace", None, name, labels=dict(labels), **metadata)


def tenant_space(tenant: str, labels: Mapping[str, str] = OURS, **metadata: Any) -> dict[str, Any]:
    return space(f"tenant-{tenant}", {**labels, "hearth.dev/tenant": tenant}, **metadata)


def adopting(*namespaces: str) -> dict[str, Any]:
    config = config_of("local")
    return {**config, "hearth:policy": {**config["hearth:policy"], "adopt": {"namespaces": list(namespaces)}}}


def declared(*objects: dict[str, Any], config: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return declare("local", config or config_of("local"), objects=objects, **more)


def test_everything_of_a_stranger_is_refused_at_once() -> None:
    result = declared(
        space("system-llm"),
        present("PersistentVolumeClaim", "system-llm", "llm-database-data"),
        present("Service", "system-llm", "llm-gateway", labels={"app.kubernetes.io/managed-by": "helm"}),
        present("Service", "system-llm", "somebody-elses"),
        present("NetworkPolicy", "system-llm", "llm-default-deny", labels={**OURS, "hearth.dev/environment": "prod"}),
        space("tenant-family", {}),
    )
    refused = result["refused"]
    assert result["resources"] == [["hearth:index:Platform", "local"]]
    assert "has a PersistentVolumeClaim llm-database-data that this environment did not make" in refused
    assert "`kubectl -n system-llm delete persistentvolumeclaim llm-database-data`" in refused
    assert "has a Service llm-gateway that" in refused
    assert (
        "hearth:tenants.family: the namespace tenant-family is there already, and this environment did not make it. "
        "Make the tenant a namespace of its own, or take it over: hearth:policy.adopt.namespaces: [tenant-family]."
    ) in refused
    assert "somebody-elses" not in refused


@pytest.mark.parametrize("labels", [OURS, LEGACY])
def test_what_is_ours_is_taken_up_again(labels: Mapping[str, str]) -> None:
    result = declared(
        space("system-llm", labels),
        present("PersistentVolumeClaim", "system-llm", "llm-database-data", labels=dict(labels)),
        tenant_space("family", labels),
        present("Secret", "tenant-family", "llm-credentials-notes", labels=dict(labels)),
    )
    assert "refused" not in result, result["refused"]
    assert not [text for text in result["warned"] if "Secret" in text]


def test_what_another_environment_made_is_refused_whatever_is_adopted() -> None:
    there = tenant_space("family", {**LEGACY, "hearth.dev/environment": "prod"})
    refused = declared(there, config=adopting("tenant-family"))["refused"]
    assert "hearth:tenants.family: the namespace tenant-family belongs to the environment prod" in refused


def test_a_namespace_that_is_taken_over_is_patched_and_given_back() -> None:
    config = adopting("tenant-family")
    result = declared(space("tenant-family", {"team": "blue"}), config=config)
    kinds = {f"{typ}|{name}" for typ, name in result["resources"]}
    assert "kubernetes:core/v1:NamespacePatch|Namespace:tenant-family" in kinds
    assert "kubernetes:core/v1:ServiceAccountPatch|ServiceAccount:tenant-family/default" in kinds
    assert "kubernetes:core/v1:Namespace|Namespace:tenant-family" not in kinds
    assert "kubernetes:core/v1:Namespace|Namespace:system-llm" in kinds
    again = declared(tenant_space("family", **ADOPTED), config=config)
    assert sorted(again["resources"]) == sorted(result["resources"])


def test_a_namespace_never_changes_between_made_and_taken_over() -> None:
    made = declared(tenant_space("family"), config=adopting("tenant-family"))["refused"]
    assert "names tenant-family, which this environment made itself. Remove it there." in made
    taken = declared(tenant_space("family", **ADOPTED))["refused"]
    assert "hearth:tenants.family: the namespace tenant-family was taken over from somebody else" in taken
    missing = declared(config=adopting("tenant-family"))["refused"]
    assert "names tenant-family, which the cluster does not have. Remove it: Hearth makes it." in missing


def test_a_tenant_that_goes_takes_nothing_of_others_with_it() -> None:
    mine = {"labels": dict(OURS)}
    result = declared(
        tenant_space("club"),
        present("ConfigMap", "tenant-club", "kube-root-ca.crt"),
        present("ServiceAccount", "tenant-club", "default", **mine),
        present("NetworkPolicy", "tenant-club", "default-deny", **mine),
        present("Pod", "tenant-club", "web-1", ownerReferences=[{"kind": "ReplicaSet"}]),
        present("Deployment", "tenant-club", "web"),
        present("PersistentVolumeClaim", "tenant-club", "photos"),
        present("Widget", "tenant-club", "custom"),
    )
    assert (
        "hearth:tenants.club: is no longer declared, and its namespace tenant-club, which would be deleted with "
        "everything in it, holds what Hearth did not make: Deployment web, PersistentVolumeClaim photos, Widget "
        "custom. Move it or delete it first (all at once: `kubectl delete namespace tenant-club`)"
    ) in result["refused"]


@pytest.mark.parametrize(
    "there",
    [
        tenant_space("club"),
        tenant_space("club", {**LEGACY, "hearth.dev/environment": "prod"}),
        tenant_space("club", {}),
        tenant_space("club", **ADOPTED),
        space("club-house", {**OURS, "hearth.dev/tenant": "club"}),
    ],
)
def test_an_empty_namespace_goes_and_what_stays_is_nobodys_business(there: dict[str, Any]) -> None:
    holds = [] if there == tenant_space("club") else [present("Pod", there["metadata"]["name"], "web")]
    result = declared(there, *holds)
    assert "refused" not in result, result["refused"]


def test_one_stray_secret_stops_nobody_else() -> None:
    result = declared(tenant_space("family"), present("Secret", "tenant-family", "llm-credentials-notes"))
    names = {f"{typ}|{name}" for typ, name in result["resources"]}
    assert "pulumi-python:dynamic/hearth:AppKey|family--notes" in names
    assert "pulumi-python:dynamic/hearth:CredentialsSecret|family--notes" not in names
    (warning,) = [text for text in result["warned"] if "Secret" in text]
    assert warning.startswith("hearth:tenants.family.apps.notes: the namespace tenant-family has a Secret")
    assert "kubectl -n tenant-family delete secret llm-credentials-notes" in warning


# What the environment is called


def test_everything_made_carries_the_environment() -> None:
    result = declared(config={**enforcing(config_of("local")), "hearth:environment": "home"})
    assert result["exported"]["environment"] == ["home", "local"]
    made = {key: inputs for key, inputs in result["inputs"].items() if key.startswith("kubernetes:")}
    assert len(made) > 30
    for key, inputs in made.items():
        assert inputs["metadata"]["labels"]["hearth.dev/environment"] == "home", key
    for key in ("Team|family", "AppKey|family--notes"):
        inputs = result["inputs"][f"pulumi-python:dynamic/hearth:{key}"]
        assert (inputs["stack"], inputs["former"]) == ("home", ["local"])
    secret = result["inputs"]["pulumi-python:dynamic/hearth:CredentialsSecret|family--notes"]
    assert secret["labels"]["hearth.dev/environment"] == "home"


def test_an_environment_knows_what_it_was_called_before() -> None:
    config = {**enforcing(config_of("local")), "hearth:environment": "new"}
    old = tenant_space("family", {**LEGACY, "hearth.dev/environment": "old"})
    assert "belongs to the environment old" in declared(old, config=config)["refused"]
    result = declared(old, config=config, outputs={"environment": ["old", "local"]})
    assert result["exported"]["environment"] == ["new", "old", "local"]


def pulling_with(name: str) -> dict[str, Any]:
    config = config_of("local")
    return {**config, "hearth:policy": {**config["hearth:policy"], "registry": {"pullSecret": name}}}


@pytest.mark.parametrize(
    ("type_", "said"),
    [
        (None, "hearth:policy.registry.pullSecret: names the Secret pull, which system-llm does not have. Make it: "),
        ("Opaque", "names a Secret that is not of the type kubernetes.io/dockerconfigjson."),
        ("kubernetes.io/dockerconfigjson", None),
    ],
)
def test_a_secret_for_images_that_is_missing_is_said_before_anything_waits_for_it(
    type_: str | None, said: str | None
) -> None:
    there = [{**present("Secret", "system-llm", "pull"), "type": type_}] if type_ else []
    result = declared(space("system-llm"), *there, config=pulling_with("pull"))
    assert (said in result["refused"]) if said else "refused" not in result


@pytest.mark.parametrize(
    ("there", "said"),
    [
        ([], "hearth:nodePools.h100.backend: is karpenter, and the cluster does not know karpenter.sh/v1. Install "),
        (
            [present("NodePool", None, "h100")],
            "hearth:nodePools.h100: is the name of a NodePool that this environment did not make. Choose another name.",
        ),
        ([present("NodePool", None, "h100", labels={**OURS, "hearth.dev/environment": "home"})], None),
        ([present("NodePool", None, "other")], None),
    ],
)
def test_node_pools_of_others_are_left_alone(there: list[dict[str, Any]], said: str | None) -> None:
    config = config_of("home")
    on_pool = {**instance("qwen"), "nodePool": "h100"}
    config["hearth:llm"].update(gpuAcceleration=True, instances=[on_pool])
    config["hearth:nodePools"] = {"h100": node_pool()}
    config["hearth:policy"]["clusterCidrs"] = {"services": ["10.96.0.0/16"], "pods": ["10.244.0.0/16"]}
    result = declare("home", config, objects=there)
    assert (said in result["refused"]) if said else "refused" not in result
    assert any(key.startswith("kubernetes:karpenter.sh/v1:NodePool|") for key in result["inputs"]) is (said is None)
