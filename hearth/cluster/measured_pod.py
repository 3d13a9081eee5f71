"""What the Kubernetes API says of the Pod behind an endpoint, and how the gateway reaches it (S4-89 … S4-92)."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hearth.compile.digests import isolation_document
from hearth.compile.manifests.credentials import IN_CLUSTER_TRUST
from hearth.compile.manifests.groups import Group
from hearth.compile.names import ENDPOINT_LABEL, GUARDS, IN_CLUSTER, credential_variable
from hearth.evidence.document import NetworkNamespace
from hearth.kubeapi.client import KubernetesApi, Object, decoded
from hearth.kubeapi.errors import ClusterError
from hearth.probe.run import HostFacts
from hearth.topology.topology import Topology
from hearth.topology.upstreams import Upstream


@dataclass(frozen=True)
class MeasuredPod:
    """The Pod behind an endpoint, as it was when it was looked at."""

    facts: HostFacts
    """Its network namespace, and how it is isolated."""
    address: str
    """Its own address, where the runtime's port is tried past every Service."""
    authorities: str
    """PEM of the CAs that the guard believes for it."""
    credential: str | None = field(repr=False)
    """What the guard sends it; none where it asks for nothing."""


def measured_pod(
    kubernetes: KubernetesApi, topology: Topology, upstream: Upstream, groups: Iterable[Group]
) -> MeasuredPod:
    """Look at the Pod behind an endpoint.

    Args:
        kubernetes: the cluster.
        topology: what the claim declares.
        upstream: an endpoint in a Pod.
        groups: manifests of the environment: what the Pod should be.

    Raises:
        ClusterError: it does not run, or there are two of them, or the Kubernetes API refuses something.
    """
    facts, address = seen(kubernetes, topology, upstream, groups)
    guard = kubernetes.workload("Deployment", topology.namespace, GUARDS[0])
    if guard is None:
        raise ClusterError("there is no guard yet: `pulumi up` comes first")
    return MeasuredPod(
        facts=facts,
        address=address,
        authorities=_authorities(kubernetes, topology.namespace, guard),
        credential=_credential(kubernetes, topology.namespace, guard, upstream),
    )


def seen(
    kubernetes: KubernetesApi, topology: Topology, upstream: Upstream, groups: Iterable[Group]
) -> tuple[HostFacts, str]:
    """Return what the API says of the Pod behind an endpoint, and its address; arguments and errors as above."""
    pod = _pod(kubernetes, topology.namespace, upstream)
    node = kubernetes.get("look up the Pod's node", f"/api/v1/nodes/{pod['spec']['nodeName']}")
    if node is None or upstream.runtime is None:
        raise ClusterError(f"the node of the Pod of {upstream.id.name} is gone; try again")
    boot = str(node["status"]["nodeInfo"]["bootID"])
    namespace = NetworkNamespace(
        machineSha256=hashlib.sha256(boot.encode()).hexdigest(), inode=None, podUid=pod["metadata"]["uid"]
    )
    services = kubernetes.get(
        "list the Services of the gateway's namespace", f"/api/v1/namespaces/{topology.namespace}/services"
    )
    raw_port = upstream.runtime.loopback.port
    found = isolation(upstream, raw_port, pod, template(upstream, groups), (services or {})["items"])
    return HostFacts(namespace, found), str(pod["status"]["podIP"])


def template(upstream: Upstream, groups: Iterable[Group]) -> Object:
    """Return the Pod that the claim compiles to.

    Args:
        upstream: an endpoint in a Pod.
        groups: manifests of the environment.
    """
    for each in (each for group in groups for each in group.objects):
        if each.kind == "Deployment" and each.stable_name == upstream.service:
            found: Object = each.manifest["spec"]["template"]
            return found
    raise ValueError(f"endpoint {upstream.id.name} has no Deployment")


def isolation(
    upstream: Upstream, raw_port: int, pod: Mapping[str, Any], wanted: Mapping[str, Any], services: Sequence[Object]
) -> Object:
    """Return how a Pod is isolated, in the form of the document that the claim compiles to.

    Args:
        upstream: the endpoint.
        raw_port: the runtime's own port.
        pod: the Pod.
        wanted: the Pod that the claim compiles to.
        services: every Service of its namespace.
    """
    spec = pod["spec"]
    selecting = [each for each in services if _selects(each, pod)]
    exposed = sorted({port for each in selecting for port in _target_ports(each, spec)})
    alike = _programs(spec) == _programs(wanted["spec"])
    return {
        **isolation_document(upstream, raw_port),
        # What it listens on stands in its arguments; no other program is in the Pod.
        "rawPortOnLoopbackOnly": alike,
        "exposedPorts": exposed,
        "hostNetwork": bool(spec.get("hostNetwork", False)),
        "unrelatedContainers": not alike,
        "serviceOnRawPort": raw_port in exposed,
    }


def _programs(spec: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Return every container of a Pod with what it runs, those that were added to a running Pod included."""
    kinds = ("initContainers", "containers", "ephemeralContainers")
    return [
        (kind, each["name"], each["image"], each.get("command") or [], each.get("args") or [])
        for kind in kinds
        for each in spec.get(kind) or ()
    ]


def _selects(service: Mapping[str, Any], pod: Mapping[str, Any]) -> bool:
    selector = service["spec"].get("selector") or {}
    return bool(selector) and selector.items() <= (pod["metadata"].get("labels") or {}).items()


def _target_ports(service: Mapping[str, Any], spec: Mapping[str, Any]) -> Iterable[int]:
    named = {
        port["name"]: port["containerPort"]
        for kind in ("initContainers", "containers")
        for each in spec.get(kind) or ()
        for port in each.get("ports") or ()
        if "name" in port
    }
    for port in service["spec"].get("ports") or ():
        target = port.get("targetPort", port["port"])
        # A name that no container has leads nowhere.
        if not isinstance(target, str):
            yield int(target)
        elif target in named:
            yield int(named[target])


def _pod(kubernetes: KubernetesApi, namespace: str, upstream: Upstream) -> Object:
    name = upstream.id.name
    found = [
        pod
        for pod in kubernetes.pods(namespace, f"{ENDPOINT_LABEL}={name}")
        if pod["status"].get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]
    ]
    if len(found) != 1:
        count = "no Pod runs" if not found else f"{len(found)} Pods run"
        raise ClusterError(
            f"{count} for {name}: `kubectl -n {namespace} get pods -l {ENDPOINT_LABEL}={name}` says more"
        )
    return found[0]


def _authorities(kubernetes: KubernetesApi, namespace: str, guard: Mapping[str, Any]) -> str:
    volumes = guard["spec"]["template"]["spec"]["volumes"]
    for source in (s for volume in volumes for s in (volume.get("projected") or {}).get("sources") or ()):
        name = (source.get("configMap") or {}).get("name", "")
        if name.startswith(IN_CLUSTER_TRUST):
            found = kubernetes.get(f"read {name}", f"/api/v1/namespaces/{namespace}/configmaps/{name}")
            if found is not None:
                return str(found["data"][f"{IN_CLUSTER}.pem"])
    raise ClusterError("the guard has no CA of the cluster's own Pods: `pulumi up` comes first")


def _credential(kubernetes: KubernetesApi, namespace: str, guard: Mapping[str, Any], upstream: Upstream) -> str | None:
    if upstream.credential is None:
        return None
    wanted = credential_variable(upstream)
    for container in guard["spec"]["template"]["spec"]["containers"]:
        for variable in container.get("env") or ():
            if variable["name"] == wanted:
                source = variable["valueFrom"]["secretKeyRef"]
                secret = kubernetes.secret(namespace, source["name"])
                if secret is not None and source["key"] in secret.get("data", {}):
                    return decoded(secret)[source["key"]]
    raise ClusterError(f"the guard has no credential for {upstream.id.name}: `pulumi up` comes first")
