"""A scripted Kubernetes API: Secrets, Pods and Deployments in memory, with the conflicts that a real one has.

It stands in for `hearth.kubeapi.client.KubernetesApi` in unit tests; tests/cluster use the real one.
"""

import copy
import itertools
from collections.abc import Callable
from typing import Any

from hearth.kubeapi.client import Object
from hearth.kubeapi.cluster import Cluster

CLUSTER = Cluster("unused", "scripted-context")


class ScriptedKubernetes:
    def __init__(self, *namespaces: str) -> None:
        self.cluster = CLUSTER
        self.namespaces = {"system-llm", *namespaces}
        self.secrets: dict[str, Object] = {}
        self.deployments: dict[str, Object] = {}
        self.applied: list[tuple[str, Object, str]] = []
        self.pod_lists: list[list[Object]] = []
        self.before_write: Callable[[], None] | None = None
        self._versions = itertools.count(1)

    def pods(self, namespace: str, selector: str) -> list[Object]:
        assert (namespace, selector) == ("system-llm", "hearth.dev/role=gateway")
        return self.pod_lists.pop(0) if len(self.pod_lists) > 1 else self.pod_lists[0]

    def namespace_exists(self, name: str) -> bool:
        return name in self.namespaces

    def secret(self, namespace: str, name: str) -> Object | None:
        return copy.deepcopy(self.secrets.get(f"{namespace}/{name}"))

    def put(self, manifest: Object) -> Object:
        """Write a Secret as somebody else would."""
        meta = {**manifest["metadata"], "resourceVersion": str(next(self._versions))}
        meta.setdefault("uid", f"uid-{meta['resourceVersion']}")
        key = f"{meta['namespace']}/{meta['name']}"
        self.secrets[key] = copy.deepcopy({**manifest, "metadata": meta})
        return copy.deepcopy(self.secrets[key])

    def create_secret(self, manifest: Object) -> Object | None:
        self._interfere()
        meta = manifest["metadata"]
        return None if f"{meta['namespace']}/{meta['name']}" in self.secrets else self.put(manifest)

    def replace_secret(self, manifest: Object) -> Object | None:
        self._interfere()
        return self.put(manifest) if self._is_current(manifest) else None

    def delete_secret(self, secret: Object) -> bool:
        self._interfere()
        key = f"{secret['metadata']['namespace']}/{secret['metadata']['name']}"
        if self._is_current(secret):
            del self.secrets[key]
        return key not in self.secrets

    def merge_secret(self, namespace: str, name: str, patch: Object) -> Object | None:
        there = self.secrets.get(f"{namespace}/{name}")
        if there is None:
            return None
        data: dict[str, Any] = {**there.get("data", {}), **patch["data"]}
        return self.put({**there, "data": {key: value for key, value in data.items() if value is not None}})

    def apply_deployment(self, manifest: Object, field_manager: str) -> Object | None:
        name = manifest["metadata"]["name"]
        if name not in self.deployments:
            return None
        self.applied.append((name, manifest, field_manager))
        return manifest

    def workload(self, kind: str, namespace: str, name: str) -> Object | None:
        """Return a Deployment that has rolled out."""
        assert (kind, namespace) == ("Deployment", "system-llm")
        if name not in self.deployments:
            return None
        status = {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "availableReplicas": 1}
        return {"metadata": {"name": name, "generation": 1}, "spec": {"replicas": 1}, "status": status}

    def _interfere(self) -> None:
        if self.before_write:
            self.before_write()

    def _is_current(self, manifest: Object) -> bool:
        meta = manifest["metadata"]
        there = self.secrets.get(f"{meta['namespace']}/{meta['name']}")
        return there is not None and there["metadata"]["resourceVersion"] == meta["resourceVersion"]
