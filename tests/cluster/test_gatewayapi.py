"""The gateway's client in a real cluster: LiteLLM in each gateway Pod, reached through the Kubernetes API."""

import copy
import secrets
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import httpx
import pytest

from hearth.claim.names import NAMESPACE
from hearth.compile.names import LITELLM_PORT, MANAGEMENT_HEADER
from hearth.gatewayapi.client import GatewayClient
from hearth.gatewayapi.connect import SELECTOR, gateway, gateway_pod, keys, ready_pods
from hearth.gatewayapi.credentials_secret import CredentialsSecretProvider
from hearth.gatewayapi.errors import GatewayUnavailableError
from hearth.gatewayapi.management_api import ManagementApi
from hearth.kubeapi.client import KubernetesApi, Object, decoded, encoded
from hearth.kubeapi.cluster import Cluster
from hearth.kubeapi.errors import ClusterError
from hearth.kubeapi.portforward import PodTransport
from hearth.kubeapi.provider import StepFailed
from tests.cluster.platform import Platform
from tests.support.gateway_contract import GatewayContract, Replica

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def kubernetes(platform: Platform) -> KubernetesApi:
    return KubernetesApi(Cluster.named(platform.environment["KUBECONFIG"]))


@pytest.fixture
def replicas(kubernetes: KubernetesApi) -> Iterator[list[Replica]]:
    """Every replica, each by a port-forward of its own to its own Pod."""
    with ExitStack() as opened:
        found = []
        for pod in ready_pods(kubernetes):
            client = opened.enter_context(gateway_pod(kubernetes, pod))
            transport = PodTransport(kubernetes, NAMESPACE, partial(str, pod["metadata"]["name"]), LITELLM_PORT)
            http = httpx.Client(
                base_url=f"http://127.0.0.1:{LITELLM_PORT}",
                transport=transport,
                timeout=60,
                headers={MANAGEMENT_HEADER: keys(kubernetes, pod).token or ""},
            )
            found.append(Replica(client, opened.enter_context(http)))
        assert len(found) == 2
        yield found


class TestInCluster(GatewayContract):
    pass


def api(kubernetes: KubernetesApi, pod: str, port: int) -> ManagementApi:
    return ManagementApi(
        "the gateway",
        "Look at its Pods.",
        "sk-unused-0123456789",
        base_url="http://127.0.0.1",
        transport=PodTransport(kubernetes, NAMESPACE, lambda: pod, port),
        pause=lambda _: None,
    )


def test_a_port_where_nothing_listens_is_no_answer(kubernetes: KubernetesApi) -> None:
    pod = ready_pods(kubernetes)[0]["metadata"]["name"]
    with (
        api(kubernetes, pod, 4999) as broken,
        pytest.raises(GatewayUnavailableError, match=rf"Pod {pod} closed the connection.*Look at its Pods"),
    ):
        broken.call("ask", "GET", "/health/liveliness", repeatable=True)


def test_a_pod_that_is_not_there_is_no_answer(kubernetes: KubernetesApi) -> None:
    with (
        api(kubernetes, "llm-gateway-gone", LITELLM_PORT) as broken,
        pytest.raises(GatewayUnavailableError, match="no port-forward to the Pod llm-gateway-gone"),
    ):
        broken.call("ask", "POST", "/team/new", repeatable=False)


def test_a_call_that_is_tried_again_may_go_to_another_pod(kubernetes: KubernetesApi) -> None:
    there = ready_pods(kubernetes)[0]
    names = iter(["llm-gateway-gone", there["metadata"]["name"]])
    transport = PodTransport(kubernetes, NAMESPACE, lambda: next(names), LITELLM_PORT)
    found = keys(kubernetes, there)
    with ManagementApi(
        "the gateway", "", found.master_key, token=found.token, base_url="http://127.0.0.1", transport=transport
    ) as again:
        assert GatewayClient(again).models()


def test_a_long_answer_comes_whole(kubernetes: KubernetesApi) -> None:
    with gateway(kubernetes) as client:
        document = client._api.call("read the documentation", "GET", "/openapi.json", repeatable=True)
    assert "/key/block" in document["paths"]
    assert len(str(document)) > 1_000_000


def test_a_namespace_that_is_not_there_has_no_pods(kubernetes: KubernetesApi) -> None:
    """So a cluster without a gateway is told from one whose gateway is not ready."""
    assert kubernetes.pods("no-such-namespace", SELECTOR) == []
    assert not kubernetes.namespace_exists("no-such-namespace")
    assert kubernetes.namespace_exists(NAMESPACE)


def test_what_belongs_to_another_cluster_is_not_touched(platform: Platform, kubernetes: KubernetesApi) -> None:
    namespace = platform.kube.json("get", "namespace", "kube-system")
    kubernetes.require(namespace["metadata"]["uid"])
    provider = CredentialsSecretProvider()
    provider.kubeconfig = platform.environment["KUBECONFIG"]
    labels = platform.kube.json("-n", "tenant-family", "get", "secret", "llm-credentials-notes")["metadata"]["labels"]
    props = {"cluster": "00000000-another", "labels": labels}
    with pytest.raises(StepFailed, match="leads to another cluster than this stack is deployed to"):
        provider.delete("tenant-family/llm-credentials-notes", props)
    assert platform.key("tenant-family", "notes")


# The Kubernetes API, where its answers decide whose Secret is whose


@pytest.fixture
def name(platform: Platform) -> Iterator[str]:
    namespace = f"gatewayapi-{secrets.token_hex(3)}"
    platform.kube.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    yield namespace
    platform.kube.run("delete", "namespace", namespace, "--wait=false")


def manifest(namespace: str, **values: str) -> Object:
    meta = {"name": "llm-credentials-notes", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "type": "Opaque", "data": encoded(values)}


def test_a_secret_is_created_only_where_there_is_none(kubernetes: KubernetesApi, name: str) -> None:
    assert kubernetes.secret(name, "llm-credentials-notes") is None
    assert kubernetes.create_secret(manifest(name, a="1")) is not None
    assert kubernetes.create_secret(manifest(name, a="2")) is None
    assert decoded(kubernetes.secret(name, "llm-credentials-notes") or {}) == {"a": "1"}


def test_a_secret_that_somebody_changed_is_neither_replaced_nor_deleted(kubernetes: KubernetesApi, name: str) -> None:
    kubernetes.create_secret(manifest(name, a="1"))
    stale = kubernetes.secret(name, "llm-credentials-notes")
    assert stale is not None
    kubernetes.merge_secret(name, "llm-credentials-notes", {"data": encoded({"b": "2"})})
    assert kubernetes.replace_secret({**copy.deepcopy(stale), "data": {}}) is None
    assert kubernetes.delete_secret(stale) is False
    fresh = kubernetes.secret(name, "llm-credentials-notes")
    assert fresh is not None
    assert decoded(fresh) == {"a": "1", "b": "2"}
    kubernetes.merge_secret(name, "llm-credentials-notes", {"data": {"a": None}})
    fresh = kubernetes.secret(name, "llm-credentials-notes")
    assert fresh is not None
    assert decoded(fresh) == {"b": "2"}
    assert kubernetes.delete_secret(fresh) is True
    assert kubernetes.delete_secret(fresh) is True
    assert kubernetes.merge_secret(name, "llm-credentials-notes", {"data": {}}) is None


def test_a_namespace_that_is_not_there_is_named(kubernetes: KubernetesApi) -> None:
    with pytest.raises(
        ClusterError, match=r'create the Secret no-such/llm-credentials-notes.*404.*"no-such" not found'
    ):
        kubernetes.create_secret(manifest("no-such", a="1"))


def test_the_secret_of_an_application_is_written_corrected_and_deleted(platform: Platform, name: str) -> None:
    provider = CredentialsSecretProvider()
    provider.kubeconfig = platform.environment["KUBECONFIG"]
    labels = {"app.kubernetes.io/managed-by": "hearth", "hearth.dev/tenant": "t", "hearth.dev/app": "notes"}
    props: dict[str, Any] = {
        "namespace": name,
        "secret_name": "llm-credentials-notes",
        "labels": labels,
        "values": {"OPENAI_API_KEY": "sk-1"},
    }
    made = provider.create(props)
    platform.kube.run("-n", name, "label", "secret", "llm-credentials-notes", "team=blue")
    rotated = {**props, "values": {"OPENAI_API_KEY": "sk-2"}}
    provider.update(made.id, made.outs, rotated)
    there = platform.kube.json("-n", name, "get", "secret", "llm-credentials-notes")
    assert decoded(there) == {"OPENAI_API_KEY": "sk-2"}
    assert there["metadata"]["labels"] == {**labels, "team": "blue"}
    provider.delete(made.id, made.outs)
    assert provider.read(made.id, made.outs).id == ""
