"""What is in a cluster, by name and labels alone: no content is read, so no Secret's either."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from hearth.kubeapi.client import KubernetesApi

PAGE: Final = 500
"""Objects of one answer."""

_METADATA_ONLY: Final = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
_NEEDED_VERBS: Final = frozenset({"list", "delete"})


@dataclass(frozen=True)
class Resource:
    """A kind of object, as paths of the API name it."""

    api_version: str
    """API group and version, such as `v1` or `apps/v1`."""
    kind: str
    """The kind."""
    plural: str
    """The kind in a path."""

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> "Resource":
        """Return the kind of a manifest of Kubernetes' own API groups, whose plurals are regular."""
        kind = str(manifest["kind"])
        lower = kind.lower()
        return cls(str(manifest["apiVersion"]), kind, f"{lower[:-1]}ies" if lower.endswith("y") else f"{lower}s")

    def path(self, namespace: str | None) -> str:
        """Return the path of a list of them."""
        where = f"/namespaces/{namespace}" if namespace else ""
        return f"{_root(self.api_version)}{where}/{self.plural}"


def listed(
    kubernetes: KubernetesApi, resource: Resource, *, namespace: str | None = None, selector: str = ""
) -> list[dict[str, Any]]:
    """Return the metadata of every object of a kind.

    Args:
        kubernetes: the cluster.
        resource: the kind.
        namespace: the namespace; none for the whole cluster.
        selector: labels that they have.

    Raises:
        ClusterError: the Kubernetes API cannot be used.
    """
    what = f"list the {resource.plural} in {namespace or 'the cluster'}"
    found: list[dict[str, Any]] = []
    query = {"limit": str(PAGE), **({"labelSelector": selector} if selector else {})}
    while True:
        answer = kubernetes.get(what, resource.path(namespace), query=query, accept=_METADATA_ONLY) or {}
        found += [item["metadata"] for item in answer.get("items") or ()]
        more = (answer.get("metadata") or {}).get("continue")
        if not more:
            return found
        query["continue"] = more


def namespaced_resources(kubernetes: KubernetesApi) -> Iterator[Resource]:
    """Yield every kind that can lie in a namespace and be deleted there, custom ones included.

    Args:
        kubernetes: the cluster.

    Raises:
        ClusterError: the Kubernetes API cannot be used.
    """
    groups = (kubernetes.get("list the API groups", "/apis") or {}).get("groups") or ()
    for version in ("v1", *(group["preferredVersion"]["groupVersion"] for group in groups)):
        answer = kubernetes.get(f"list the kinds of {version}", _root(version)) or {}
        for entry in answer.get("resources") or ():
            if entry["namespaced"] and "/" not in entry["name"] and set(entry["verbs"]) >= _NEEDED_VERBS:
                yield Resource(version, entry["kind"], entry["name"])


def _root(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
