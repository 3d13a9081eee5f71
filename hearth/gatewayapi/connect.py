"""From a cluster to its gateway: which Pods are Ready, where their keys are, and a client for one of them."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from hearth.claim.names import NAMESPACE
from hearth.compile.names import LITELLM_PORT, MANAGEMENT_TOKEN, ROLE_LABEL
from hearth.gatewayapi.client import GatewayClient
from hearth.gatewayapi.errors import GatewayUnavailableError
from hearth.gatewayapi.management_api import ManagementApi
from hearth.kubeapi.client import KubernetesApi, Object, decoded
from hearth.kubeapi.cluster import Cluster
from hearth.kubeapi.errors import ClusterError
from hearth.kubeapi.portforward import PodTransport

SELECTOR: Final = f"{ROLE_LABEL}=gateway"
"""Label selector of the gateway's Pods."""
MASTER_KEY: Final = "LITELLM_MASTER_KEY"
"""Environment variable of LiteLLM's container with the master key."""
WAIT_SECONDS: Final = 60
"""How long a gateway without a Ready Pod is waited for, in seconds."""

_CONTAINER: Final = "litellm"
_PAUSE_SECONDS: Final = 2


def remedy(cluster: Cluster) -> str:
    """Return what to do about a gateway that does not answer."""
    at = f"kubectl --context {cluster.context} -n {NAMESPACE}"
    return (
        f"Look at its Pods (`kubectl -n {NAMESPACE} get pods -l {SELECTOR}`, context {cluster.context}) and "
        f"their log (`{at} logs deployment/llm-gateway -c {_CONTAINER} --tail=50`), then run the same command again."
    )


def ready_pods(kubernetes: KubernetesApi) -> list[Object]:
    """Return the gateway's Pods that are Ready and are not being deleted, sorted by name."""
    return [pod for pod in kubernetes.pods(NAMESPACE, SELECTOR) if _is_ready(pod)]


def wait_for_pods(
    kubernetes: KubernetesApi, *, seconds: int = WAIT_SECONDS, pause: Callable[[float], None] = time.sleep
) -> list[Object]:
    """Return the gateway's Ready Pods, of which there is at least one.

    Args:
        kubernetes: the cluster.
        seconds: how long to wait for the first.
        pause: what waits between two looks, in seconds.

    Raises:
        GatewayUnavailableError: there is none in that time.
    """
    for attempt in range(seconds // _PAUSE_SECONDS + 1):
        if attempt:
            pause(_PAUSE_SECONDS)
        if pods := ready_pods(kubernetes):
            return pods
    cluster = kubernetes.cluster
    seen = kubernetes.pods(NAMESPACE, SELECTOR)
    state = f"{len(seen)} Pods, none Ready" if seen else "no Pod"
    if not seen and not kubernetes.namespace_exists(NAMESPACE):
        state = f"no namespace {NAMESPACE}"
    raise GatewayUnavailableError(
        f"the gateway in {NAMESPACE} (context {cluster.context}) is not Ready after {seconds} s: {state}. "
        + remedy(cluster)
    )


@dataclass(frozen=True)
class Keys:
    """What administration of a Pod takes."""

    master_key: str = field(repr=False)
    """LiteLLM's master key."""
    token: str | None = field(repr=False)
    """What the front asks for, which LiteLLM does not know; none for a Pod from before there was one."""


def keys(kubernetes: KubernetesApi, pod: Object) -> Keys:
    """Return the keys that a Pod was started with, out of the Secret that the Pod names.

    They are read when they are needed, so that Pulumi's state holds none, and new ones need no change of old resources.

    Raises:
        ClusterError: the Pod or its Secret does not have it.
    """
    name = pod["metadata"]["name"]
    variables = [
        entry
        for container in pod["spec"]["containers"]
        if container["name"] == _CONTAINER
        for entry in container.get("env", [])
    ]
    reference = next((entry["valueFrom"].get("secretKeyRef") for entry in variables if _is_master_key(entry)), None)
    if reference is None:
        raise ClusterError(
            f"the Pod {NAMESPACE}/{name} has no {MASTER_KEY} out of a Secret in its container {_CONTAINER}: it is not "
            "a gateway that Hearth deployed. Remove the label that says so, or deploy the gateway again."
        )
    secret = kubernetes.secret(NAMESPACE, reference["name"])
    found = decoded(secret or {})
    value = found.get(reference["key"], "")
    if not value:
        raise ClusterError(
            f"the Secret {NAMESPACE}/{reference['name']} that the gateway was started with has no {reference['key']} "
            "any more: run `pulumi up --refresh`, which makes it again and restarts the gateway."
        )
    return Keys(value, found.get(MANAGEMENT_TOKEN))


@contextmanager
def gateway_pod(kubernetes: KubernetesApi, pod: Object) -> Iterator[GatewayClient]:
    """Open LiteLLM's management API in one Pod.

    Args:
        kubernetes: the cluster.
        pod: the Pod, as `ready_pods` gives it.
    """
    name = pod["metadata"]["name"]
    with _opened(kubernetes, f"Pod {name}, ", keys(kubernetes, pod), lambda: name) as client:
        yield client


@contextmanager
def gateway(kubernetes: KubernetesApi) -> Iterator[GatewayClient]:
    """Open LiteLLM's management API in a Ready Pod of a cluster; a call that is tried again finds another one.

    Args:
        kubernetes: the cluster.

    Raises:
        GatewayUnavailableError: no Pod is Ready.
        ClusterError: the Kubernetes API cannot be used.
    """
    found = keys(kubernetes, wait_for_pods(kubernetes)[0])
    with _opened(kubernetes, "", found, lambda: str(wait_for_pods(kubernetes)[0]["metadata"]["name"])) as client:
        yield client


@contextmanager
def _opened(kubernetes: KubernetesApi, pod: str, found: Keys, choose: Callable[[], str]) -> Iterator[GatewayClient]:
    cluster = kubernetes.cluster
    api = ManagementApi(
        f"the gateway in {NAMESPACE} ({pod}context {cluster.context})",
        remedy(cluster),
        found.master_key,
        base_url=f"http://127.0.0.1:{LITELLM_PORT}",
        token=found.token,
        transport=PodTransport(kubernetes, NAMESPACE, choose, LITELLM_PORT),
    )
    with api:
        yield GatewayClient(api)


def _is_master_key(variable: Object) -> bool:
    return bool(variable["name"] == MASTER_KEY and "valueFrom" in variable)


def _is_ready(pod: Object) -> bool:
    if "deletionTimestamp" in pod["metadata"]:
        return False
    conditions: list[dict[str, Any]] = pod.get("status", {}).get("conditions") or []
    return any(entry["type"] == "Ready" and entry["status"] == "True" for entry in conditions)
