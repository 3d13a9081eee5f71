"""Whether the cluster enforces NetworkPolicies: tried with two Pods, because nothing else tells (S0-15).

Everything lies in one namespace with a name of its own, which is deleted again.
"""

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from hearth.claim.policy import Policy
from hearth.cluster.preflight import Finding
from hearth.compile.images import ImageProfile, image
from hearth.compile.manifests.common import container, pod_security_labels, pod_template, resources
from hearth.compile.names import MANAGED_LABEL, MANAGER
from hearth.kubeapi.client import KubernetesApi, Object
from hearth.kubeapi.errors import ClusterError
from hearth.kubeapi.pods import why_not_ready

PORT: Final = 8080
"""Where the one Pod listens."""
SECONDS: Final = 120
"""How long each step may take."""

_SERVER: Final = """
import http.server
http.server.HTTPServer(("0.0.0.0", int(__import__("sys").argv[1])), http.server.BaseHTTPRequestHandler).serve_forever()
"""
_CALLER: Final = """
import socket, sys, time
host, port, wanted = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "open"
for _ in range(30):
    probe = socket.socket()
    probe.settimeout(3)
    found = probe.connect_ex((host, port)) == 0
    probe.close()
    if found == wanted:
        sys.exit(0)
    time.sleep(1)
sys.exit(1)
"""


def policies_are_enforced(kubernetes: KubernetesApi, policy: Policy) -> Finding:
    """Try whether a policy that lets nobody in lets nobody in.

    Args:
        kubernetes: the cluster.
        policy: the policy of the environment, for the image.

    Raises:
        ClusterError: the Kubernetes API refuses something, or the Pods do not start.
    """
    profile = image(policy, "python")
    with _namespace(kubernetes) as name:
        _create(kubernetes, name, _pod("server", profile, _SERVER, str(PORT)))
        address = str(_until(kubernetes, name, "server", _is_running)["status"]["podIP"])
        if not _called(kubernetes, name, "before", profile, address, "open"):
            return Finding(
                "network",
                "unknown",
                "two Pods of a namespace without policies do not reach each other",
                "Look there first",
            )
        closed = {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": {"name": "closed", "namespace": name},
            "spec": {"podSelector": {}, "policyTypes": ["Ingress"]},
        }
        kubernetes.post(
            "create a NetworkPolicy", f"/apis/networking.k8s.io/v1/namespaces/{name}/networkpolicies", closed
        )
        if _called(kubernetes, name, "after", profile, address, "closed"):
            return Finding("network", "good", "NetworkPolicies are enforced")
    return Finding(
        "network",
        "refused",
        "NetworkPolicies are not enforced: whatever Hearth closes would stay open",
        "Install a network plugin that enforces them, such as Calico or Cilium",
    )


@contextmanager
def _namespace(kubernetes: KubernetesApi) -> Iterator[str]:
    name = f"hearth-preflight-{secrets.token_hex(4)}"
    labels = {**pod_security_labels(), MANAGED_LABEL: MANAGER}
    manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
    kubernetes.post(f"create the namespace {name}", "/api/v1/namespaces", manifest)
    try:
        yield name
    finally:
        kubernetes.delete(f"delete the namespace {name}", f"/api/v1/namespaces/{name}")


def _pod(name: str, profile: ImageProfile, program: str, *arguments: str) -> Object:
    bounds = resources(cpu="10m", memory="32Mi", memory_limit="64Mi")
    bounds["limits"]["cpu"] = "200m"
    template = pod_template(
        {},
        image=profile,
        service_account="default",
        grace_seconds=1,
        containers=[container(name, profile, args=["-c", program, *arguments], resources=bounds)],
        restartPolicy="Never",
    )
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": template["spec"]}


def _create(kubernetes: KubernetesApi, namespace: str, pod: Object) -> None:
    kubernetes.post("create a Pod", f"/api/v1/namespaces/{namespace}/pods", pod)


def _called(
    kubernetes: KubernetesApi, namespace: str, name: str, profile: ImageProfile, address: str, wanted: str
) -> bool:
    """Return whether a Pod finds the port as it is wanted, within its tries."""
    _create(kubernetes, namespace, _pod(name, profile, _CALLER, address, str(PORT), wanted))
    ended = _until(kubernetes, namespace, name, _has_ended)
    return str(ended["status"]["phase"]) == "Succeeded"


def _is_running(pod: Object) -> bool:
    return bool(pod["status"].get("phase") == "Running" and pod["status"].get("podIP"))


def _has_ended(pod: Object) -> bool:
    return pod["status"].get("phase") in ("Succeeded", "Failed")


def _until(kubernetes: KubernetesApi, namespace: str, name: str, reached: Callable[[Object], bool]) -> Object:
    pod: Object = {"status": {}}
    for _ in range(SECONDS):
        pod = kubernetes.get("look at a Pod", f"/api/v1/namespaces/{namespace}/pods/{name}") or pod
        if reached(pod):
            return pod
        time.sleep(1)
    why = why_not_ready(pod) or "nothing says why"
    raise ClusterError(f"the Pod {name} of {namespace} did not come up within {SECONDS} s: {why}")
