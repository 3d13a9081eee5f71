"""From a cluster to a gateway Pod, against a scripted cluster."""

from typing import Any

import pytest

from hearth.gatewayapi.connect import Keys, keys, wait_for_pods
from hearth.gatewayapi.errors import GatewayUnavailableError
from hearth.kubeapi.client import encoded
from hearth.kubeapi.errors import ClusterError
from tests.support.scripted_kubernetes import ScriptedKubernetes

REFERENCE = {"name": "LITELLM_MASTER_KEY", "valueFrom": {"secretKeyRef": {"name": "llm-gateway-0", "key": "MASTER"}}}


def pod(name: str, *, ready: str = "True", deleted: bool = False, env: Any = (REFERENCE,)) -> dict[str, Any]:
    meta: dict[str, Any] = {"name": name, **({"deletionTimestamp": "now"} if deleted else {})}
    conditions = [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": ready}]
    containers = [{"name": "guard", "env": []}, {"name": "litellm", "env": list(env)}]
    return {"metadata": meta, "status": {"conditions": conditions}, "spec": {"containers": containers}}


@pytest.fixture
def cluster() -> Any:
    scripted = ScriptedKubernetes()
    meta = {"name": "llm-gateway-0", "namespace": "system-llm"}
    scripted.put({"metadata": meta, "data": encoded({"MASTER": "sk-master-canary"})})
    return scripted


def test_only_ready_pods_that_stay_are_taken(cluster: Any) -> None:
    cluster.pod_lists = [
        [pod("a", deleted=True), pod("b", ready="False"), pod("c"), {**pod("d"), "status": {}}, pod("e")]
    ]
    assert [found["metadata"]["name"] for found in wait_for_pods(cluster)] == ["c", "e"]


def test_a_pod_that_becomes_ready_is_waited_for(cluster: Any) -> None:
    cluster.pod_lists = [[], [pod("a", ready="False")], [pod("a")]]
    pauses: list[float] = []
    assert len(wait_for_pods(cluster, pause=pauses.append)) == 1
    assert pauses == [2, 2]


@pytest.mark.parametrize(
    ("pods", "namespaces", "state"),
    [
        ([pod("a", ready="False"), pod("b", deleted=True)], {"system-llm"}, "2 Pods, none Ready"),
        ([], {"system-llm"}, "no Pod"),
        ([], set(), "no namespace system-llm"),
    ],
)
def test_a_gateway_that_is_not_ready_says_what_to_do(
    cluster: Any, pods: list[Any], namespaces: set[str], state: str
) -> None:
    cluster.pod_lists, cluster.namespaces = [pods], namespaces
    with pytest.raises(GatewayUnavailableError) as caught:
        wait_for_pods(cluster, seconds=4, pause=lambda _: None)
    text = str(caught.value)
    assert f"the gateway in system-llm (context scripted-context) is not Ready after 4 s: {state}. Look at" in text
    assert "`kubectl -n system-llm get pods -l hearth.dev/role=gateway`" in text


def test_the_master_key_is_the_one_that_the_pod_was_started_with(cluster: Any) -> None:
    assert keys(cluster, pod("a")) == Keys("sk-master-canary", None), "from before there was a management token"


def test_the_management_token_is_beside_the_master_key(cluster: Any) -> None:
    cluster.secrets["system-llm/llm-gateway-0"]["data"] |= encoded({"MANAGEMENT_TOKEN": "token-canary"})
    found = keys(cluster, pod("a"))
    assert found == Keys("sk-master-canary", "token-canary")
    assert "canary" not in repr(found)


@pytest.mark.parametrize(
    "env", [(), ({"name": "LITELLM_MASTER_KEY", "value": "sk-plain-canary"},), ({"name": "OTHER", "valueFrom": {}},)]
)
def test_a_pod_that_is_no_gateway_of_ours_is_named(cluster: Any, env: Any) -> None:
    with pytest.raises(ClusterError, match="it is not a gateway that Hearth deployed") as caught:
        keys(cluster, pod("a", env=env))
    assert "canary" not in str(caught.value)


def test_a_secret_that_is_gone_is_named(cluster: Any) -> None:
    cluster.secrets.clear()
    with pytest.raises(ClusterError, match=r"Secret system-llm/llm-gateway-0 .* has no MASTER any more"):
        keys(cluster, pod("a"))
