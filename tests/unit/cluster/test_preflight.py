"""What `hearth preflight` says of a cluster, and what `pulumi up` refuses before it declares anything."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import yaml

from hearth.claim.claim import Claim
from hearth.cluster import preflight
from hearth.cluster.preflight import Finding, cluster_role, require_fit, rights
from hearth.compile.manifests.groups import Group
from hearth.kubeapi.cluster import Cluster
from hearth.kubeapi.errors import ClusterError
from hearth.topology.resolve import resolve
from tests.cluster.deployer import documented_role
from tests.support import claims
from tests.unit.compile.manifests.samples import STACKS, claim_of, found_groups, loaded, values

USUAL = {"metadata": {"name": "fast", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}}
GOOD: dict[str, Any] = {
    "/version": {"gitVersion": "v1.34.4"},
    "/apis/storage.k8s.io/v1/storageclasses": {"items": [USUAL]},
    "/api/v1/namespaces/default/services/kubernetes": {"spec": {"clusterIP": "10.96.0.1"}},
    "/api/v1/namespaces/kube-system/pods": {
        "items": [
            {"spec": {"hostNetwork": True}, "status": {"podIP": "172.18.0.2"}},
            {"spec": {}, "status": {"podIP": "10.244.0.7"}},
        ]
    },
    "/api/v1/nodes": {"items": [{"metadata": {}, "status": {"nodeInfo": {"architecture": "amd64"}}}]},
}
Asked = tuple[str, str, str, str]
"""Verb, kind with its group, subresource, namespace."""


class ScriptedCluster:
    """A cluster that has what is under its paths; what raises is not to be read."""

    cluster = Cluster("unused", "here")

    def __init__(self, answers: Mapping[str, Any], may: Callable[[Asked], bool]) -> None:
        self.answers, self._may, self._rules = answers, may, list[dict[str, Any]]()

    def get(self, what: str, path: str, *, query: Mapping[str, str] | None = None) -> Any:
        found = self.answers.get(path)
        if isinstance(found, Exception):
            raise found
        return found

    def rules(self, namespace: str) -> tuple[list[dict[str, Any]], bool]:
        """Nothing but that there is more: every question is asked by itself."""
        return self._rules, False

    def may(self, verb: str, resource: str, *, group: str = "", namespace: str = "", subresource: str = "") -> bool:
        return self._may((verb, f"{resource}.{group}" if group else resource, subresource, namespace))


def looked_at(claim: Claim, may: Callable[[Asked], bool] = lambda _: True, **changes: Any) -> dict[str, list[Finding]]:
    answers = {**GOOD, **changes.get("answers", {})}
    cluster: Any = ScriptedCluster(answers, may)
    found: dict[str, list[Finding]] = {}
    for each in preflight.preflight(cluster, resolve(claim), found_groups(claim)):
        found.setdefault(each.check, []).append(each)
    return found


def states(found: Mapping[str, list[Finding]]) -> dict[str, set[str]]:
    return {check: {each.state for each in findings} for check, findings in found.items()}


def home() -> Claim:
    return loaded("local").claim


def test_a_cluster_that_is_fit() -> None:
    found = looked_at(home())
    assert states(found) == {
        "version": {"good"},
        "rights": {"good"},
        "storage": {"good"},
        "ranges": {"good"},
        "name server": {"good"},
    }
    assert found["storage"][0].what == "a StorageClass for llm-database-data: fast"


@pytest.mark.parametrize(
    ("version", "state", "words"),
    [
        ("v1.29.9", "refused", "is older than 1.30"),
        ("v1.30.0-eks-1", "good", "Kubernetes v1.30.0-eks-1"),
        ("v1.41.0", "good", "tested up to 1.34"),
        ("v2.0.0", "good", "tested up to 1.34"),
        ("something", "unknown", "something"),
    ],
)
def test_the_version(version: str, state: str, words: str) -> None:
    (found,) = looked_at(home(), answers={"/version": {"gitVersion": version}})["version"]
    assert found.state == state
    assert words in found.what


def test_a_cluster_without_a_default_storage_class_is_refused_unless_the_volume_is_there() -> None:
    none = {"/apis/storage.k8s.io/v1/storageclasses": {"items": [{"metadata": {"name": "slow"}}]}}
    (found,) = looked_at(home(), answers=none)["storage"]
    assert found.state == "refused"
    assert found.what == "the cluster has no default StorageClass for llm-database-data; it has slow"
    there = {**none, "/api/v1/namespaces/system-llm/persistentvolumeclaims/llm-database-data": {"kind": "x"}}
    assert "storage" not in looked_at(home(), answers=there)


def test_a_storage_class_that_the_claim_names_has_to_be_there() -> None:
    made = values("production")
    made["llm"].update(gpuAcceleration=True, instances=[claims.instance("qwen", storageClass="nvme")])
    found = looked_at(claim_of(made))["storage"]
    refused = [each for each in found if each.state == "refused"]
    assert [each.what for each in refused] == [
        "the cluster has no StorageClass nvme, which vllm-qwen-models asks for; it has fast"
    ]


def only_in(namespaces: tuple[str, ...]) -> Callable[[Asked], bool]:
    """Rights of somebody who may do everything in some namespaces, and make namespaces."""

    def may(asked: Asked) -> bool:
        verb, resource, _, namespace = asked
        return (resource == "namespaces" and verb != "*") or namespace in namespaces

    return may


def test_rights_in_the_namespaces_alone_suffice() -> None:
    tenants = tuple(tenant.namespace for tenant in resolve(home()).tenants)
    assert states(looked_at(home(), only_in(("system-llm", *tenants))))["rights"] == {"good"}


@pytest.mark.parametrize(
    ("rule", "holds"),
    [
        ({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}, True),
        ({"verbs": ["create"], "apiGroups": [""], "resources": ["pods/portforward"]}, True),
        ({"verbs": ["create"], "apiGroups": [""], "resources": ["pods"]}, False),
        ({"verbs": ["create"], "apiGroups": ["apps"], "resources": ["pods/portforward"]}, False),
        ({"verbs": ["get"], "apiGroups": [""], "resources": ["pods/portforward"]}, False),
        ({"verbs": ["create"], "apiGroups": [""], "resources": ["*"], "resourceNames": ["one"]}, False),
    ],
)
def test_a_rule_of_a_role_covers_what_it_says(rule: dict[str, Any], holds: bool) -> None:
    assert preflight._covers(rule, "create", preflight.Right("", "pods", ("create",), "portforward")) is holds


def test_every_right_that_is_missing_is_named_with_its_place() -> None:
    def may(asked: Asked) -> bool:
        verb, resource, subresource, namespace = asked
        if verb == "*" or subresource == "portforward":
            return False
        return not (
            resource == "networkpolicies.networking.k8s.io"
            and verb in ("create", "patch")
            and namespace != "system-llm"
        )

    found = looked_at(home(), may)["rights"]
    assert {each.state for each in found} == {"refused"}
    what = [each.what for each in found]
    assert "you may not create, get pods/portforward in system-llm" in what
    tenant = resolve(home()).tenants[0].namespace
    assert f"you may not create, patch networkpolicies.networking.k8s.io in {tenant}" in what
    assert not any("networkpolicies.networking.k8s.io in system-llm" in each for each in what)


def test_what_may_not_be_read_refuses_nothing() -> None:
    forbidden = ClusterError("could not list the nodes: 403")
    closed = {path: forbidden for path in GOOD if path not in ("/version",)}
    found = looked_at(home(), answers=closed)
    assert states(found) == {
        "version": {"good"},
        "rights": {"good"},
        "storage": {"unknown"},
        "ranges": {"unknown"},
        "name server": {"unknown"},
        "nodes": {"unknown"},
    }


def test_ranges_that_are_not_the_clusters_are_a_warning() -> None:
    other = {"/api/v1/namespaces/default/services/kubernetes": {"spec": {"clusterIP": "172.30.0.1"}}}
    first, second = looked_at(home(), answers=other)["ranges"]
    assert (first.state, second.state) == ("warning", "good")
    assert "172.30.0.1" in first.what


def test_a_cluster_whose_name_server_is_elsewhere_is_a_warning() -> None:
    (found,) = looked_at(home(), answers={"/api/v1/namespaces/kube-system/pods": {"items": []}})["name server"]
    assert (found.state, "k8s-app=kube-dns" in found.what) == ("warning", True)


@pytest.mark.parametrize(
    ("labels", "gpus", "state", "words"),
    [
        ({}, None, "warning", "no node has the labels"),
        ({"nvidia.com/gpu.present": "true"}, None, "warning", "none offers nvidia.com/gpu"),
        ({"nvidia.com/gpu.present": "true"}, "4", "good", "4 GPUs"),
    ],
)
def test_nodes_with_gpus(labels: dict[str, str], gpus: str | None, state: str, words: str) -> None:
    made = values("production")
    made["llm"].update(gpuAcceleration=True, instances=[claims.instance("qwen")])
    status: dict[str, Any] = {
        "nodeInfo": {"architecture": "amd64"},
        "allocatable": {"nvidia.com/gpu": gpus} if gpus else {},
    }
    nodes = {"/api/v1/nodes": {"items": [{"metadata": {"labels": labels}, "status": status}]}}
    (found,) = looked_at(claim_of(made), answers=nodes)["instance qwen"]
    assert found.state == state
    assert words in found.what


def test_a_deployment_is_refused_with_everything_that_is_missing() -> None:
    cluster: Any = ScriptedCluster(
        {**GOOD, "/version": {"gitVersion": "v1.24.0"}, "/apis/storage.k8s.io/v1/storageclasses": {"items": []}},
        lambda asked: asked[0] not in ("*", "delete"),
    )
    with pytest.raises(ClusterError) as refused:
        require_fit(cluster, resolve(home()), found_groups(home()))
    said = str(refused.value)
    assert "the cluster here is not fit for this environment" in said
    assert "is older than 1.30" in said
    assert "no default StorageClass for llm-database-data; it has none at all" in said
    assert "you may not delete" in said


def every_group() -> list[Group]:
    """The manifests of every kind that a claim can lead to."""
    made = values("production")
    pooled = [claims.instance("one", nodePool="made"), claims.instance("two", nodePool="there")]
    for instance in pooled:
        del instance["gpuMemory"]
    made["llm"].update(gpuAcceleration=True, instances=pooled)
    made["nodePools"] = {"made": claims.node_pool(), "there": claims.existing_pool()}
    every = [*(loaded(stack).claim for stack in STACKS), claim_of(made)]
    return [group for claim in every for group in found_groups(claim)]


def test_the_role_of_the_documents_is_what_deployments_need() -> None:
    assert yaml.safe_load(documented_role()) == cluster_role(rights(every_group()))
