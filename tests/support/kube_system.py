"""A Kubernetes API that says which cluster it is and what is in it. It listens on loopback."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import yaml

from tests.support.serving import serving


def kubeconfig(server: str = "https://127.0.0.1:1", **more: Any) -> str:
    """Return a kubeconfig with the contexts `here`, which is current, and `there`."""
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": {"token": "canary-token"}}],
        "contexts": [{"name": name, "context": {"cluster": "c", "user": "u"}} for name in ("here", "there")],
        **more,
    }
    return yaml.safe_dump(content)


RESOURCES: dict[str, dict[str, str]] = {
    "v1": {
        "ConfigMap": "configmaps",
        "LimitRange": "limitranges",
        "PersistentVolumeClaim": "persistentvolumeclaims",
        "Pod": "pods",
        "Secret": "secrets",
        "Service": "services",
        "ServiceAccount": "serviceaccounts",
    },
    "apps/v1": {"Deployment": "deployments", "StatefulSet": "statefulsets"},
    "batch/v1": {"Job": "jobs"},
    "networking.k8s.io/v1": {"NetworkPolicy": "networkpolicies"},
    "policy/v1": {"PodDisruptionBudget": "poddisruptionbudgets"},
    "stranger.test/v1": {"Widget": "widgets"},
}
"""Kinds of a namespace by API version, with their plurals; one of them is a custom one."""


def present(
    kind: str, namespace: str | None, name: str, *, labels: dict[str, str] | None = None, **metadata: Any
) -> dict[str, Any]:
    """Return an object that a cluster has."""
    where = {"namespace": namespace} if namespace else {}
    version = next((version for version, kinds in RESOURCES.items() if kind in kinds), "v1")
    metadata = {"name": name, **where, "labels": labels or {}, **metadata}
    return {"apiVersion": version, "kind": kind, "metadata": metadata}


def _selected(item: dict[str, Any], selector: str) -> bool:
    labels = item["metadata"]["labels"]
    wanted = [part.partition("=") for part in selector.split(",") if part]
    return all(name in labels and (not equals or labels[name] == value) for name, equals, value in wanted)


def _answer(path: str, query: dict[str, str], objects: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return what the API has under a path."""
    if path == "/version":
        return {"gitVersion": "v1.34.4"}
    if path == "/apis/storage.k8s.io/v1/storageclasses":
        usual = {"storageclass.kubernetes.io/is-default-class": "true"}
        return {"items": [{"metadata": {"name": "standard", "annotations": usual}}]}
    if path.startswith("/apis/karpenter.sh/v1"):
        # A cluster knows Karpenter when it has a pool.
        pools = [item for item in objects if item["kind"] == "NodePool"]
        return {"items": pools} if pools else None
    if path == "/apis":
        versions = [version for version in RESOURCES if "/" in version]
        return {"groups": [{"preferredVersion": {"groupVersion": version}} for version in versions]}
    root, _, rest = path.removeprefix("/api/").removeprefix("/apis/").partition("/namespaces")
    if root in RESOURCES and not path.endswith("/namespaces") and not rest:
        verbs = ["delete", "get", "list"]
        entries = [{"name": p, "kind": k, "namespaced": True, "verbs": verbs} for k, p in RESOURCES[root].items()]
        # What cannot be listed or deleted is not looked for, and neither is a part of another kind.
        odd = [{"name": "bindings", "kind": "Binding", "namespaced": True, "verbs": ["create"]}]
        return {"resources": [*entries, *odd, {**entries[0], "name": f"{entries[0]['name']}/status"}]}
    _, *parts = rest.split("/")
    if len(parts) < 2:
        spaces = [item for item in objects if item["kind"] == "Namespace"]
        if parts:
            return next((item for item in spaces if item["metadata"]["name"] == parts[0]), None)
        return {"items": [item for item in spaces if _selected(item, query.get("labelSelector", ""))]}
    kind = next((kind for kind, plural in RESOURCES.get(root, {}).items() if plural == parts[1]), None)
    found = [i for i in objects if i["kind"] == kind and i["metadata"].get("namespace") == parts[0]]
    if len(parts) > 2:
        return next((item for item in found if item["metadata"]["name"] == parts[2]), None)
    # Two pages, so that nobody reads only the first.
    half = len(found) // 2
    if "continue" in query:
        return {"items": found[half:]}
    return {"items": found[:half], "metadata": {"continue": "more"}} if half else {"items": found}


@contextmanager
def cluster_with(uid: str, objects: Sequence[dict[str, Any]] = (), failures: Sequence[int] = ()) -> Iterator[str]:
    """Run a cluster of this identity; yield a kubeconfig that leads to it.

    Args:
        uid: its identity.
        objects: what is in it.
        failures: statuses that it answers first, in place of what was asked for.
    """
    failing = list(failures)
    everything = [present("Namespace", None, "kube-system", uid=uid), *objects]

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = urlsplit(self.path)
            found = _answer(url.path, dict(parse_qsl(url.query)), everything)
            status = failing.pop(0) if failing else 404 if found is None else 200
            body = json.dumps(found if status == 200 else {"message": "not scripted"}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            """Answer that whoever asks may do everything; nothing else is sent."""
            assert urlsplit(self.path).path == "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
            self.rfile.read(int(self.headers["Content-Length"]))
            body = json.dumps({"status": {"allowed": True}}).encode()
            self.send_response(201)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as server:
        yield kubeconfig(f"http://127.0.0.1:{server.server_address[1]}")
