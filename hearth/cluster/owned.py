"""What exists in the cluster and is not this environment's: it is found before anything is declared, and left alone.

Server-side apply takes over whatever has the wanted name, and Pulumi shows that as "create". So every object of a known
name is looked for first. Ours is what carries the label of this environment; of what an older version made, which put
no environment on anything, it is what says that Hearth manages it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hearth.claim.problems import ClaimError, Problem
from hearth.cluster.pull_secret import pull_secret_problems
from hearth.compile.manifests.common import Object
from hearth.compile.manifests.groups import Group
from hearth.compile.names import (
    ADOPTED_ANNOTATION,
    ENVIRONMENT_LABEL,
    MANAGED_LABEL,
    MANAGER,
    RUNNER_NAMESPACE,
    TENANT_LABEL,
    credentials_secret,
)
from hearth.kubeapi.client import KubernetesApi
from hearth.kubeapi.objects import Resource, listed, namespaced_resources
from hearth.topology.topology import Topology

MOST_NAMED: Final = 10
"""Objects of one namespace that a message names."""

_ADOPT: Final = "hearth:policy.adopt.namespaces"
_NAMESPACES: Final = Resource("v1", "Namespace", "namespaces")
_NODE_POOLS: Final = Resource("karpenter.sh/v1", "NodePool", "nodepools")
_SECRETS: Final = Resource("v1", "Secret", "secrets")
# What Kubernetes, its distributions and meshes put into every namespace by themselves.
_AUTOMATIC: Final = frozenset(
    {
        ("ConfigMap", "istio-ca-root-cert"),
        ("ConfigMap", "kube-root-ca.crt"),
        ("ConfigMap", "openshift-service-ca.crt"),
        ("ServiceAccount", "builder"),
        ("ServiceAccount", "default"),
        ("ServiceAccount", "deployer"),
    }
)
_PASSING: Final = frozenset({"Endpoints", "EndpointSlice", "Event", "Lease"})
"""Kinds that come and go with others."""


@dataclass(frozen=True)
class Application:
    """An application of a tenant."""

    tenant: str
    """The tenant's name."""
    name: str
    """Its name."""


@dataclass(frozen=True)
class _Owner:
    """Whose objects are ours."""

    environments: frozenset[str]
    """What this environment is called, and what it was called before."""

    def has(self, metadata: Mapping[str, Any]) -> bool:
        """Return whether an object is ours."""
        labels = metadata.get("labels") or {}
        marked = labels.get(ENVIRONMENT_LABEL)
        return labels.get(MANAGED_LABEL) == MANAGER and (marked is None or marked in self.environments)


def require_owned(
    kubernetes: KubernetesApi, topology: Topology, groups: Sequence[Group], former: Collection[str] = ()
) -> frozenset[Application]:
    """Refuse what would take over something that is somebody else's, or delete it, or needs of them what is missing.

    Args:
        kubernetes: the cluster.
        topology: what the claim declares.
        groups: its manifests.
        former: what this environment was called before.

    Returns:
        Applications whose Secret's name is taken by somebody else's: they get none, and stop nobody else.

    Raises:
        ClaimError: there is something; it lists all of it.
        ClusterError: the Kubernetes API cannot be used.
    """
    owner = _Owner(frozenset({*former, *([topology.environment] if topology.environment else [])}))
    places = _places(topology)
    wanted = [each for group in groups for each in group.objects if isinstance(each.name, str)]
    there: set[str] = set()
    problems = list(pull_secret_problems(kubernetes, topology))
    for each in wanted:
        if each.kind == "Namespace":
            found = kubernetes.namespace(each.name)
            if found is not None:
                there.add(each.name)
            problems += _namespace_problems(owner, each, found and found["metadata"], places)
    problems += _object_problems(kubernetes, owner, wanted, there, places)
    problems += _node_pool_problems(kubernetes, owner, wanted)
    problems += _leaving_problems(kubernetes, owner, there)
    if problems:
        raise ClaimError(problems)
    return frozenset(_without_secret(kubernetes, owner, topology, there))


def _places(topology: Topology) -> dict[str, str]:
    """Return where the claim says something of each namespace."""
    tenants = {tenant.namespace: f"hearth:tenants.{tenant.name}" for tenant in topology.tenants}
    return {topology.namespace: "hearth:llm", RUNNER_NAMESPACE: "hearth:policy.evidence", **tenants}


def _namespace_problems(
    owner: _Owner, wanted: Object, found: Mapping[str, Any] | None, places: Mapping[str, str]
) -> Iterator[Problem]:
    name = str(wanted.name)
    if found is None:
        if wanted.adopted:
            yield Problem(_ADOPT, f"names {name}, which the cluster does not have", "Remove it: Hearth makes it")
        return
    ours, taken = owner.has(found), ADOPTED_ANNOTATION in (found.get("annotations") or {})
    other = (found.get("labels") or {}).get(ENVIRONMENT_LABEL)
    if not ours and other is not None:
        yield Problem(
            places[name],
            f"the namespace {name} belongs to the environment {other}",
            "Give this one another namespace, or set hearth:environment if the two are one",
        )
    elif not ours and not wanted.adopted:
        where = "Make the tenant a namespace of its own" if name != "system-llm" else "Find out whose it is"
        yield Problem(
            places[name],
            f"the namespace {name} is there already, and this environment did not make it",
            f"{where}, or take it over: {_ADOPT}: [{name}]",
        )
    elif ours and wanted.adopted and not taken:
        yield Problem(_ADOPT, f"names {name}, which this environment made itself", "Remove it there")
    elif ours and taken and not wanted.adopted:
        yield Problem(
            places[name],
            f"the namespace {name} was taken over from somebody else",
            f"Keep it in {_ADOPT} for as long as it is used, so that it is never deleted",
        )


def _object_problems(
    kubernetes: KubernetesApi,
    owner: _Owner,
    wanted: Sequence[Object],
    there: Collection[str],
    places: Mapping[str, str],
) -> Iterator[Problem]:
    """Yield what has the name of one of our objects and is not ours."""
    by_place: dict[tuple[str, Resource], set[str]] = {}
    for each in wanted:
        if each.namespace in there and (each.kind, each.name) not in _AUTOMATIC:
            by_place.setdefault((str(each.namespace), Resource.of(each.manifest)), set()).add(str(each.name))
    for (namespace, resource), names in by_place.items():
        for metadata in listed(kubernetes, resource, namespace=namespace):
            name = metadata["name"]
            if name in names and not owner.has(metadata):
                yield Problem(
                    places[namespace],
                    f"the namespace {namespace} has a {resource.kind} {name} that this environment did not make",
                    f"Rename it or delete it: `kubectl -n {namespace} delete {resource.kind.lower()} {name}`",
                )


def _node_pool_problems(kubernetes: KubernetesApi, owner: _Owner, wanted: Sequence[Object]) -> Iterator[Problem]:
    """Yield node pools that nothing makes nodes for, and those that are somebody else's: they lie in no namespace."""
    pools = sorted(str(each.name) for each in wanted if each.kind == _NODE_POOLS.kind)
    if not pools:
        return
    if kubernetes.get("look for Karpenter", f"/apis/{_NODE_POOLS.api_version}") is None:
        for name in pools:
            yield Problem(
                f"hearth:nodePools.{name}.backend",
                f"is karpenter, and the cluster does not know {_NODE_POOLS.api_version}",
                "Install Karpenter, or use backend existing",
            )
        return
    for metadata in listed(kubernetes, _NODE_POOLS):
        if metadata["name"] in pools and not owner.has(metadata):
            yield Problem(
                f"hearth:nodePools.{metadata['name']}",
                "is the name of a NodePool that this environment did not make",
                "Choose another name",
            )


def _leaving_problems(kubernetes: KubernetesApi, owner: _Owner, there: Collection[str]) -> Iterator[Problem]:
    """Yield the namespaces that go with their tenant and hold what others put there."""
    selector = f"{MANAGED_LABEL}={MANAGER},{TENANT_LABEL}"
    kinds: list[Resource] | None = None
    for metadata in listed(kubernetes, _NAMESPACES, selector=selector):
        namespace, tenant = metadata["name"], metadata["labels"][TENANT_LABEL]
        # One that the claim named, or took over, stays.
        if namespace in there or not owner.has(metadata) or namespace != f"tenant-{tenant}":
            continue
        if ADOPTED_ANNOTATION in (metadata.get("annotations") or {}):
            continue
        kinds = kinds if kinds is not None else list(namespaced_resources(kubernetes))
        strange = sorted(_strangers(kubernetes, owner, namespace, kinds))
        if strange:
            more = f" and {len(strange) - MOST_NAMED} more" if len(strange) > MOST_NAMED else ""
            yield Problem(
                f"hearth:tenants.{tenant}",
                f"is no longer declared, and its namespace {namespace}, which would be deleted with everything in it, "
                f"holds what Hearth did not make: {', '.join(strange[:MOST_NAMED])}{more}",
                f"Move it or delete it first (all at once: `kubectl delete namespace {namespace}`), or declare the "
                "tenant again; one without applications keeps its namespace and has no key",
            )


def _strangers(kubernetes: KubernetesApi, owner: _Owner, namespace: str, kinds: Sequence[Resource]) -> Iterator[str]:
    """Yield what is in a namespace by itself and is not ours."""
    seen: set[Any] = set()
    for resource in kinds:
        if resource.kind in _PASSING:
            continue
        for metadata in listed(kubernetes, resource, namespace=namespace):
            # What another object made goes with that one; some kinds are in two API groups.
            made = bool(metadata.get("ownerReferences")) or (resource.kind, metadata["name"]) in _AUTOMATIC
            if made or owner.has(metadata) or metadata.get("uid", metadata["name"]) in seen:
                continue
            seen.add(metadata.get("uid", metadata["name"]))
            yield f"{resource.kind} {metadata['name']}"


def _without_secret(
    kubernetes: KubernetesApi, owner: _Owner, topology: Topology, there: Collection[str]
) -> Iterator[Application]:
    """Yield the applications whose Secret's name is taken by somebody else's."""
    for tenant in topology.tenants:
        if tenant.namespace not in there or not tenant.apps:
            continue
        taken = {
            metadata["name"]
            for metadata in listed(kubernetes, _SECRETS, namespace=tenant.namespace)
            if not owner.has(metadata)
        }
        for app in tenant.apps:
            if credentials_secret(app.name) in taken:
                yield Application(tenant.name, app.name)
