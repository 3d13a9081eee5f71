"""What a cluster has to be like and what one has to be allowed to do there, looked at before anything is declared.

Nothing here changes the cluster. A fact that may not be read is unknown, and refuses nothing: whoever deploys need not
be allowed to read nodes.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Any, Final, Literal

from hearth.claim.instances import GPU_RESOURCE
from hearth.compile.manifests.groups import Group
from hearth.compile.manifests.node_pools import node_labels
from hearth.kubeapi.client import KubernetesApi
from hearth.kubeapi.errors import ClusterError
from hearth.kubeapi.objects import Resource
from hearth.topology.topology import Topology
from hearth.versions import versions

OLDEST: Final = (1, 30)
"""Oldest version of Kubernetes: init containers that stay, a `sleep` before a stop, ReadWriteOncePod."""
NEWEST_TESTED: Final = tuple(int(part) for part in versions()["KUBERNETES_VERSION"].removeprefix("v").split(".")[:2])
"""Newest version that the tests run on."""
VERBS: Final = ("get", "list", "watch", "create", "patch", "delete")
"""What is done with every kind that is declared."""
MOST_NAMESPACES: Final = 20
"""Namespaces of tenants for which rights are asked one by one, where they do not hold for the whole cluster."""
NOWHERE: Final = "hearth-no-such-namespace"
"""A namespace that nobody has: what may be done there, may be done everywhere."""

State = Literal["good", "unknown", "warning", "refused"]
"""What came of a check: an environment with something `refused` would not come up."""

_STORAGE: Final = "/apis/storage.k8s.io/v1/storageclasses"
_DEFAULT_CLASS: Final = "storageclass.kubernetes.io/is-default-class"


@dataclass(frozen=True)
class Finding:
    """What came of one check."""

    check: str
    """What was looked at."""
    state: State
    """What came of it."""
    what: str
    """What was found, in words."""
    remedy: str = ""
    """What to do; empty where there is nothing to do."""


@dataclass(frozen=True)
class Right:
    """Something that whoever deploys has to be allowed to do."""

    group: str
    """API group; empty for the core."""
    resource: str
    """Plural of the kind."""
    verbs: tuple[str, ...] = VERBS
    """What is done with it."""
    subresource: str = ""
    """Part of the kind."""
    namespaced: bool = True
    """Whether it lies in a namespace."""

    @property
    def path(self) -> str:
        """Return the kind as a Role spells it."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


def rights(groups: Iterable[Group]) -> tuple[Right, ...]:
    """Return what has to be allowed for a deployment, sorted.

    Args:
        groups: the manifests of the environment.
    """
    found = {
        # what Pulumi looks at while it waits for Pods
        Right("", "pods", ("get", "list", "watch")),
        Right("", "events", ("get", "list", "watch")),
        Right("apps", "replicasets", ("get", "list", "watch")),
        # the gateway's management
        Right("", "pods", ("create", "get"), "portforward"),
        # made by the deployment itself
        Right("", "secrets", (*VERBS, "update")),
        Right("", "configmaps"),
        # what others put into the namespace of a tenant that leaves
        Right("*", "*", ("list",)),
    }
    for each in (each for group in groups for each in group.objects):
        resource = Resource.of(each.manifest)
        group, _, _ = resource.api_version.rpartition("/")
        if resource.plural not in ("secrets", "configmaps"):
            found.add(Right(group, resource.plural, namespaced=each.namespace is not None))
    return tuple(sorted(found, key=lambda right: (right.group, right.resource, right.subresource)))


def cluster_role(needed: Sequence[Right]) -> dict[str, Any]:
    """Return the ClusterRole of whoever deploys.

    Args:
        needed: what it has to allow.
    """
    rules = [{"apiGroups": [right.group], "resources": [right.path], "verbs": sorted(right.verbs)} for right in needed]
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "hearth-deployer"},
        "rules": rules,
    }


def preflight(kubernetes: KubernetesApi, topology: Topology, groups: Sequence[Group]) -> Iterator[Finding]:
    """Look at everything that a deployment needs of its cluster.

    Args:
        kubernetes: the cluster.
        topology: what the claim declares.
        groups: its manifests.

    Raises:
        ClusterError: the Kubernetes API cannot be used at all.
    """
    yield from needed_to_deploy(kubernetes, topology, groups)
    yield from _unless_forbidden("ranges", lambda: _ranges(kubernetes, topology))
    yield from _unless_forbidden("name server", lambda: _name_server(kubernetes, topology))
    yield from _unless_forbidden("nodes", lambda: _nodes(kubernetes, topology))


def needed_to_deploy(kubernetes: KubernetesApi, topology: Topology, groups: Sequence[Group]) -> Iterator[Finding]:
    """Look at what would end a deployment in its middle.

    Args:
        kubernetes: the cluster.
        topology: what the claim declares.
        groups: its manifests.

    Raises:
        ClusterError: the Kubernetes API cannot be used at all.
    """
    yield _version(kubernetes)
    yield from _rights(kubernetes, topology, groups)
    yield from _unless_forbidden("storage", lambda: _storage(kubernetes, groups))


def require_fit(kubernetes: KubernetesApi, topology: Topology, groups: Sequence[Group]) -> None:
    """Refuse a cluster in which a deployment would end in its middle.

    Args:
        kubernetes: the cluster.
        topology: what the claim declares.
        groups: its manifests.

    Raises:
        ClusterError: it is not fit, with everything that is missing; or the Kubernetes API cannot be used.
    """
    missing = [each for each in needed_to_deploy(kubernetes, topology, groups) if each.state == "refused"]
    if missing:
        lines = "".join(f"\n  {each.what}. {each.remedy}." for each in missing)
        raise ClusterError(f"the cluster {kubernetes.cluster.context} is not fit for this environment:{lines}")


def _unless_forbidden(check: str, look: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    try:
        yield from look()
    except ClusterError as error:
        yield Finding(check, "unknown", str(error))


def _version(kubernetes: KubernetesApi) -> Finding:
    found = kubernetes.get("ask for the version of Kubernetes", "/version") or {}
    text = str(found.get("gitVersion", "unknown"))
    match = re.match(r"v(\d+)\.(\d+)", text)
    if match is None:
        return Finding("version", "unknown", f"the API server says that it is {text}")
    version = (int(match[1]), int(match[2]))
    if version < OLDEST:
        least = ".".join(map(str, OLDEST))
        return Finding("version", "refused", f"Kubernetes {text} is older than {least}", f"Upgrade to {least} or newer")
    more = "" if version <= NEWEST_TESTED else f"; tested up to {'.'.join(map(str, NEWEST_TESTED))}"
    return Finding("version", "good", f"Kubernetes {text}{more}")


class _Allowed:
    """What whoever deploys may do, asked once for each place."""

    def __init__(self, kubernetes: KubernetesApi) -> None:
        self._kubernetes = kubernetes
        self._rules: dict[str, tuple[list[dict[str, Any]], bool]] = {}

    def __call__(self, verb: str, right: Right, namespace: str) -> bool:
        """Return whether something may be done in a namespace."""
        if namespace not in self._rules:
            self._rules[namespace] = self._kubernetes.rules(namespace)
        rules, complete = self._rules[namespace]
        if any(_covers(rule, verb, right) for rule in rules):
            return True
        return not complete and self.asked(verb, right, namespace)

    def asked(self, verb: str, right: Right, namespace: str = "") -> bool:
        """Return whether something may be done, by a question for this alone."""
        return self._kubernetes.may(
            verb, right.resource, group=right.group, subresource=right.subresource, namespace=namespace
        )


def _covers(rule: Mapping[str, Any], verb: str, right: Right) -> bool:
    if rule.get("resourceNames"):
        return False
    wanted = ((verb, "verbs"), (right.group, "apiGroups"), (right.path, "resources"))
    return all({value, "*"} & set(rule.get(part) or ()) for value, part in wanted)


def _rights(kubernetes: KubernetesApi, topology: Topology, groups: Sequence[Group]) -> Iterator[Finding]:
    if kubernetes.may("*", "*", group="*"):
        yield Finding("rights", "good", "you may do everything in this cluster")
        return
    needed, allowed = rights(groups), _Allowed(kubernetes)
    tenants = sorted({tenant.namespace for tenant in topology.tenants})
    namespaces = [topology.namespace, *tenants[:MOST_NAMESPACES]]
    missing: dict[str, list[str]] = {}
    for right, verb in ((each, verb) for each in needed for verb in each.verbs):
        name = f"{right.path}.{right.group}" if right.group else right.path
        if not right.namespaced:
            if not allowed.asked(verb, right):
                missing.setdefault(name, []).append(verb)
        # What holds where no Role can hold, holds in every namespace.
        elif not allowed(verb, right, NOWHERE):
            for namespace in namespaces:
                if not allowed(verb, right, namespace):
                    missing.setdefault(f"{name} in {namespace}", []).append(verb)
    for place_of, verbs in missing.items():
        yield Finding(
            "rights",
            "refused",
            f"you may not {', '.join(verbs)} {place_of}",
            "Get the ClusterRole hearth-deployer of docs/operations.md bound to you",
        )
    if not missing:
        yield Finding("rights", "good", f"you may do all that a deployment does, with {len(needed)} kinds of objects")


def _storage(kubernetes: KubernetesApi, groups: Sequence[Group]) -> Iterator[Finding]:
    wanted: dict[str | None, list[str]] = {}
    for manifest in _claims(groups):
        name, namespace = manifest["metadata"]["name"], manifest["metadata"]["namespace"]
        path = f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/{name}"
        # One that is there has its volume.
        if kubernetes.get(f"look for the volume {name}", path) is None:
            wanted.setdefault(manifest["spec"].get("storageClassName"), []).append(name)
    if not wanted:
        return
    classes = (kubernetes.get("list the StorageClasses", _STORAGE) or {}).get("items") or []
    names = sorted(str(found["metadata"]["name"]) for found in classes)
    usual = [f for f in classes if (f["metadata"].get("annotations") or {}).get(_DEFAULT_CLASS) == "true"]
    there = ", ".join(names) or "none at all"
    for wish, volumes in wanted.items():
        text = ", ".join(volumes)
        if wish is None and not usual:
            yield Finding(
                "storage",
                "refused",
                f"the cluster has no default StorageClass for {text}; it has {there}",
                f"Mark one: `kubectl annotate storageclass NAME {_DEFAULT_CLASS}=true`",
            )
        elif wish is not None and wish not in names:
            yield Finding(
                "storage",
                "refused",
                f"the cluster has no StorageClass {wish}, which {text} asks for; it has {there}",
                "Make it, or name one of those in the claim",
            )
        else:
            yield Finding("storage", "good", f"a StorageClass for {text}: {wish or usual[0]['metadata']['name']}")


def _claims(groups: Sequence[Group]) -> Iterator[dict[str, Any]]:
    """Yield every volume that is asked for."""
    for each in (each for group in groups for each in group.objects):
        if each.kind == "PersistentVolumeClaim":
            yield dict(each.manifest)


def _ranges(kubernetes: KubernetesApi, topology: Topology) -> Iterator[Finding]:
    declared = topology.policy.cluster_cidrs
    if declared is None:
        return
    service = kubernetes.get("look up the Service kubernetes", "/api/v1/namespaces/default/services/kubernetes")
    address = str(((service or {}).get("spec") or {}).get("clusterIP", ""))
    if address:
        yield _in_range("Services", address, declared.services, "services")
    pods = kubernetes.get("list the Pods of kube-system", "/api/v1/namespaces/kube-system/pods", query={"limit": "100"})
    own = [
        str(pod["status"]["podIP"])
        for pod in (pods or {}).get("items") or []
        if not pod["spec"].get("hostNetwork") and pod["status"].get("podIP")
    ]
    if own:
        yield _in_range("Pods", own[0], declared.pods, "pods")


def _in_range(what: str, address: str, ranges: Sequence[str], field: str) -> Finding:
    inside = any(
        ip_address(address) in ip_network(each)
        for each in ranges
        if ip_network(each).version == ip_address(address).version
    )
    if inside:
        return Finding("ranges", "good", f"the address {address} of {what} is in hearth:policy.clusterCidrs.{field}")
    return Finding(
        "ranges",
        "warning",
        f"{what} of this cluster have addresses such as {address}, outside hearth:policy.clusterCidrs.{field}, and the "
        "guard refuses endpoints there",
        "Write the cluster's own ranges",
    )


def _name_server(kubernetes: KubernetesApi, topology: Topology) -> Iterator[Finding]:
    cluster = topology.policy.cluster
    selector = ",".join(f"{name}={value}" for name, value in sorted(cluster.dns_labels.items()))
    path = f"/api/v1/namespaces/{cluster.dns_namespace}/pods"
    found = (kubernetes.get("look for the cluster's name server", path, query={"labelSelector": selector}) or {}).get(
        "items"
    )
    if found:
        yield Finding("name server", "good", f"{len(found)} Pods {selector} in {cluster.dns_namespace}")
    else:
        yield Finding(
            "name server",
            "warning",
            f"no Pod {selector} in {cluster.dns_namespace}: the guard would find no name",
            "Set hearth:policy.cluster.dnsNamespace and dnsLabels to those of the cluster's DNS server",
        )


def _nodes(kubernetes: KubernetesApi, topology: Topology) -> Iterator[Finding]:
    nodes = (kubernetes.get("list the nodes", "/api/v1/nodes") or {}).get("items") or []
    foreign = {str(n["status"]["nodeInfo"]["architecture"]) for n in nodes} - {"amd64"}
    if foreign:
        yield Finding(
            "nodes",
            "warning",
            f"there are nodes of {', '.join(sorted(foreign))}",
            "Tests ran on amd64 alone (docs/scope.md)",
        )
    for instance in topology.instances:
        pool = topology.node_pools.get(instance.node_pool) if instance.node_pool else None
        if pool is not None and pool.backend != "existing":
            continue
        labels = node_labels(instance, pool)
        selected = [n for n in nodes if labels.items() <= (n["metadata"].get("labels") or {}).items()]
        dynamic = pool is not None and pool.accelerator.dynamic_resources is not None
        yield _gpu_finding(instance.name, labels, selected, needs_plugin=not dynamic)


def _gpu_finding(
    instance: str, labels: dict[str, str], selected: Sequence[dict[str, Any]], *, needs_plugin: bool
) -> Finding:
    check, where = f"instance {instance}", ", ".join(f"{name}={value}" for name, value in sorted(labels.items()))
    if not selected:
        return Finding(
            check,
            "warning",
            f"no node has the labels {where}",
            "It waits until there is one; the GPU operator sets them",
        )
    given = sum(int(n["status"].get("allocatable", {}).get(GPU_RESOURCE, 0)) for n in selected)
    if needs_plugin and not given:
        return Finding(
            check,
            "warning",
            f"{len(selected)} nodes have the labels {where}, and none offers {GPU_RESOURCE}",
            "Install the GPU operator, or NVIDIA's device plugin: Hearth installs neither",
        )
    return Finding(
        check, "good", f"{len(selected)} nodes with the labels {where}" + (f", {given} GPUs" if given else "")
    )
