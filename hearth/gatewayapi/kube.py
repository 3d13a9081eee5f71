"""The Kubernetes API, as far as the gateway's management needs it: Pods, Secrets, and one annotation of a Deployment.

Which cluster is meant is always said: a kubeconfig by path and a context by name. ~/.kube/config is never taken by
itself.
"""

import base64
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hearth.compile.names import NAMESPACE
from hearth.gatewayapi.errors import ClusterError, scrubbed

TIMEOUT_SECONDS: Final = (10, 30)
"""Seconds to connect, and between two bytes of an answer."""
KUBECONFIG: Final = "KUBECONFIG"
"""Environment variable with the path of the kubeconfig."""

Object = dict[str, Any]
"""A Kubernetes object as its API spells it."""


@dataclass(frozen=True)
class Cluster:
    """Which cluster is meant. It can be kept in Pulumi's state: it holds no path of one machine and no credential."""

    context: str
    """Context in the kubeconfig."""
    namespace: str = NAMESPACE
    """Namespace of the gateway."""

    def inputs(self) -> dict[str, str]:
        """Return it as a resource's input."""
        return {"context": self.context, "namespace": self.namespace}

    @classmethod
    def from_inputs(cls, value: Mapping[str, Any]) -> "Cluster":
        """Return what `inputs` gave."""
        return cls(context=value["context"], namespace=value["namespace"])


def kubeconfig_path(explicit: str | None = None) -> str:
    """Return the path of the kubeconfig: the given one, else the variable KUBECONFIG.

    Raises:
        ClusterError: neither names a file.
    """
    path = explicit or os.environ.get(KUBECONFIG, "")
    if not path:
        raise ClusterError(
            f"which cluster is meant is not said: set {KUBECONFIG} to the path of the cluster's kubeconfig "
            "(`. local/env.sh` does it for the local cluster). Hearth never takes ~/.kube/config by itself."
        )
    missing = [part for part in path.split(os.pathsep) if part and not Path(part).expanduser().is_file()]
    if missing:
        raise ClusterError(
            f"there is no kubeconfig {', '.join(missing)}: set {KUBECONFIG} to the path of the cluster's"
        )
    return path


def current_context(kubeconfig: str) -> str:
    """Return the current context of a kubeconfig.

    Raises:
        ClusterError: the file has none or cannot be read.
    """
    from kubernetes.config import list_kube_config_contexts
    from kubernetes.config.config_exception import ConfigException

    try:
        return str(list_kube_config_contexts(config_file=kubeconfig)[1]["name"])
    except (ConfigException, KeyError, TypeError):
        raise ClusterError(f"the kubeconfig {kubeconfig} has no current context: name one") from None


class KubernetesApi:
    """Calls to one cluster with the rights of whoever the kubeconfig names (S3-38)."""

    def __init__(self, cluster: Cluster, kubeconfig: str) -> None:
        """Read the kubeconfig.

        Args:
            cluster: the cluster.
            kubeconfig: path of the kubeconfig.

        Raises:
            ClusterError: the kubeconfig cannot be read or has no such context.
        """
        from kubernetes.config import new_client_from_config
        from kubernetes.config.config_exception import ConfigException

        self.cluster, self._kubeconfig = cluster, kubeconfig
        self._new_client = lambda: new_client_from_config(
            config_file=kubeconfig, context=cluster.context, persist_config=False
        )
        try:
            self._client = self._new_client()
        except (ConfigException, OSError, ValueError) as error:
            raise ClusterError(
                f"the kubeconfig {kubeconfig} does not lead to a cluster: {scrubbed(str(error))}. "
                f"The context that is meant is {cluster.context}; `kubectl config get-contexts` lists what there is."
            ) from None

    def new_core_api(self) -> Any:
        """Return a CoreV1Api with a client of its own, for calls that take the client's connection over."""
        from kubernetes.client.api.core_v1_api import CoreV1Api

        return CoreV1Api(self._new_client())

    def pods(self, selector: str) -> list[Object]:
        """Return the Pods of the gateway's namespace with these labels, sorted by name."""
        answer = self._core(
            f"list the Pods {selector} in {self.cluster.namespace}",
            lambda api, fixed: api.list_namespaced_pod(self.cluster.namespace, label_selector=selector, **fixed),
        )
        return sorted((answer or {}).get("items", []), key=lambda pod: str(pod["metadata"]["name"]))

    def secret(self, namespace: str, name: str) -> Object | None:
        """Return a Secret, or none when there is none of that name."""
        return self._core(
            f"read the Secret {namespace}/{name}",
            lambda api, fixed: api.read_namespaced_secret(name, namespace, **fixed),
            absent=(404,),
        )

    def create_secret(self, manifest: Object) -> Object | None:
        """Create a Secret; `None` when there is one of that name already."""
        namespace, name = manifest["metadata"]["namespace"], manifest["metadata"]["name"]
        return self._core(
            f"create the Secret {namespace}/{name}",
            lambda api, fixed: api.create_namespaced_secret(namespace, manifest, **fixed),
            absent=(409,),
        )

    def replace_secret(self, manifest: Object) -> Object | None:
        """Replace a Secret by another content.

        Args:
            manifest: the whole Secret, with the `resourceVersion` that was read.

        Returns:
            What is there now; `None` when somebody changed or removed it in the meantime.
        """
        namespace, name = manifest["metadata"]["namespace"], manifest["metadata"]["name"]
        return self._core(
            f"update the Secret {namespace}/{name}",
            lambda api, fixed: api.replace_namespaced_secret(name, namespace, manifest, **fixed),
            absent=(404, 409),
        )

    def delete_secret(self, secret: Object) -> bool:
        """Delete exactly the Secret that was read.

        Returns:
            Whether it is gone; false when somebody changed it in the meantime.
        """
        meta = secret["metadata"]
        conditions = {"preconditions": {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"]}}
        answer = self._core(
            f"delete the Secret {meta['namespace']}/{meta['name']}",
            lambda api, fixed: api.delete_namespaced_secret(meta["name"], meta["namespace"], body=conditions, **fixed),
            absent=(404, 409),
        )
        return answer is not None or self.secret(meta["namespace"], meta["name"]) is None

    def merge_secret(self, namespace: str, name: str, patch: Object) -> Object | None:
        """Apply a JSON merge patch to a Secret; `None` when there is none of that name (S3-37)."""
        return self._core(
            f"update the Secret {namespace}/{name}",
            lambda api, fixed: api.patch_namespaced_secret(
                name, namespace, patch, _content_type="application/merge-patch+json", **fixed
            ),
            absent=(404,),
        )

    def apply_deployment(self, name: str, manifest: Object, field_manager: str) -> Object | None:
        """Apply a part of a Deployment under a field manager of its own; `None` when there is no such Deployment.

        A server-side apply would create what is missing, so the Deployment is looked for first.
        """
        namespace = self.cluster.namespace
        there = self._apps(
            f"read the Deployment {namespace}/{name}",
            lambda api, fixed: api.read_namespaced_deployment(name, namespace, **fixed),
            absent=(404,),
        )
        if there is None:
            return None
        return self._apps(
            f"restart the Deployment {namespace}/{name}",
            lambda api, fixed: api.patch_namespaced_deployment(
                name,
                namespace,
                manifest,
                field_manager=field_manager,
                _content_type="application/apply-patch+yaml",
                **fixed,
            ),
        )

    def namespace_exists(self, name: str) -> bool:
        """Return whether there is such a namespace."""
        answer = self._core(
            f"look up the namespace {name}",
            lambda api, fixed: api.read_namespace(name, **fixed),
            absent=(404,),
        )
        return answer is not None

    def _core(
        self, what: str, call: Callable[[Any, dict[str, Any]], Any], *, absent: tuple[int, ...] = ()
    ) -> Object | None:
        from kubernetes.client.api.core_v1_api import CoreV1Api

        return self._call(what, CoreV1Api(self._client), call, absent)

    def _apps(
        self, what: str, call: Callable[[Any, dict[str, Any]], Any], *, absent: tuple[int, ...] = ()
    ) -> Object | None:
        from kubernetes.client.api.apps_v1_api import AppsV1Api

        return self._call(what, AppsV1Api(self._client), call, absent)

    def _call(
        self, what: str, api: Any, call: Callable[[Any, dict[str, Any]], Any], absent: tuple[int, ...]
    ) -> Object | None:
        from kubernetes.client.exceptions import ApiException
        from urllib3.exceptions import HTTPError

        try:
            answer = call(api, {"_preload_content": False, "_request_timeout": TIMEOUT_SECONDS})
        except ApiException as error:
            if error.status in absent:
                return None
            raise ClusterError(
                f"could not {what}: the Kubernetes API of {self.cluster.context} answered {error.status} "
                f"{error.reason}: {_status_message(error.body)}{_remedy(error.status, self.cluster.context)}"
            ) from None
        except (HTTPError, OSError) as error:
            raise ClusterError(
                f"could not {what}: the Kubernetes API of {self.cluster.context} does not answer "
                f"({type(error).__name__}). Try `kubectl --context {self.cluster.context} get nodes`; "
                f"the kubeconfig is {self._kubeconfig}."
            ) from None
        body: Object = json.loads(answer.data)
        return body


def decoded(secret: Mapping[str, Any]) -> dict[str, str]:
    """Return the values of a Secret by key, as text."""
    return {key: base64.b64decode(value).decode(errors="replace") for key, value in (secret.get("data") or {}).items()}


def encoded(values: Mapping[str, str]) -> dict[str, str]:
    """Return values as a Secret's `data` holds them."""
    return {key: base64.b64encode(value.encode()).decode() for key, value in values.items()}


def _status_message(body: Any) -> str:
    try:
        return scrubbed(str(json.loads(body)["message"]))
    except (TypeError, ValueError, KeyError):
        return "no reason given"


def _remedy(status: int, context: str) -> str:
    if status == 401:
        return f". Renew the credentials of the context {context} in the kubeconfig."
    if status == 403:
        return f". The user of the context {context} needs this right in its Role."
    return ""
