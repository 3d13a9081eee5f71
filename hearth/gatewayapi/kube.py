"""The Kubernetes API, as far as the gateway's management needs it: Pods, Secrets, and one annotation of a Deployment.

Which cluster is meant is always said: a kubeconfig by path and a context by name. ~/.kube/config is never taken by
itself.
"""

import base64
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from hearth.claim.names import NAMESPACE
from hearth.gatewayapi.errors import ClusterError, scrubbed

TIMEOUT_SECONDS: Final = (10, 30)
"""Seconds to connect, and between two bytes of an answer."""
KUBECONFIG: Final = "KUBECONFIG"
"""Environment variable with the path of the kubeconfig."""

Object = dict[str, Any]
"""A Kubernetes object as its API spells it."""


@dataclass(frozen=True)
class Cluster:
    """Which cluster is meant, and where the gateway is in it."""

    kubeconfig: str = field(repr=False)
    """Path of the kubeconfig, or the kubeconfig itself."""
    context: str
    """Context in it."""
    namespace: str = NAMESPACE
    """Namespace of the gateway."""

    @classmethod
    def named(cls, kubeconfig: str | None = None, context: str | None = None, namespace: str = NAMESPACE) -> "Cluster":
        """Return the cluster that is named here, by the same rules as Pulumi's Kubernetes provider.

        Args:
            kubeconfig: path of a kubeconfig, or a kubeconfig itself; the variable KUBECONFIG when absent.
            context: context in it; its current one when absent.
            namespace: namespace of the gateway.

        Raises:
            ClusterError: nothing names a kubeconfig, or it cannot be read, or it has no such context.
        """
        source = kubeconfig or os.environ.get(KUBECONFIG, "")
        if not source:
            raise ClusterError(
                f"which cluster is meant is not said: set {KUBECONFIG} to the path of the cluster's kubeconfig "
                "(`. local/env.sh` does it for the local cluster). Hearth never takes ~/.kube/config by itself."
            )
        return cls(source, context or _current_context(source), namespace)


def _is_content(kubeconfig: str) -> bool:
    return "\n" in kubeconfig or kubeconfig.lstrip().startswith("{")


def _unusable(kubeconfig: str, reason: str) -> ClusterError:
    source = "of the stack's configuration" if _is_content(kubeconfig) else kubeconfig
    return ClusterError(
        f"the kubeconfig {source} does not lead to a cluster: {scrubbed(reason)}. "
        f"Set {KUBECONFIG}, or kubernetes:kubeconfig and kubernetes:context of the stack, to the cluster that is meant."
    )


def _current_context(kubeconfig: str) -> str:
    """Return the current context of a kubeconfig.

    Raises:
        ClusterError: it cannot be read or has none.
    """
    import yaml

    paths = [Path(part).expanduser() for part in kubeconfig.split(os.pathsep) if part]
    try:
        texts = [kubeconfig] if _is_content(kubeconfig) else [path.read_text(encoding="utf-8") for path in paths]
        contents = [yaml.safe_load(text) for text in texts]
    except (OSError, UnicodeDecodeError) as error:
        raise _unusable(kubeconfig, str(error)) from None
    except yaml.YAMLError:
        raise _unusable(kubeconfig, "it is not YAML") from None
    found = next((content["current-context"] for content in contents if _has_context(content)), None)
    if found is None:
        raise _unusable(kubeconfig, "it has no current context, and none was named")
    return str(found)


def _has_context(content: Any) -> bool:
    return isinstance(content, dict) and bool(content.get("current-context"))


class KubernetesApi:
    """Calls to one cluster with the rights of whoever the kubeconfig names (S3-38)."""

    def __init__(self, cluster: Cluster) -> None:
        """Read the kubeconfig.

        Args:
            cluster: the cluster.

        Raises:
            ClusterError: the kubeconfig cannot be read or has no such context.
        """
        self.cluster = cluster
        self._client = self._new_client()

    def _new_client(self) -> Any:
        import yaml
        from kubernetes.config import new_client_from_config, new_client_from_config_dict
        from kubernetes.config.config_exception import ConfigException

        source, chosen = self.cluster.kubeconfig, {"context": self.cluster.context, "persist_config": False}
        try:
            if _is_content(source):
                return new_client_from_config_dict(yaml.safe_load(source), **chosen)
            return new_client_from_config(config_file=source, **chosen)
        except (ConfigException, OSError, ValueError, yaml.YAMLError) as error:
            raise _unusable(source, str(error)) from None

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

    def workload(self, kind: Literal["Deployment", "StatefulSet"], namespace: str, name: str) -> Object | None:
        """Return a Deployment or a StatefulSet, or none when there is none of that name."""
        read = {"Deployment": "read_namespaced_deployment", "StatefulSet": "read_namespaced_stateful_set"}[kind]
        return self._apps(
            f"read the {kind} {namespace}/{name}",
            lambda api, fixed: getattr(api, read)(name, namespace, **fixed),
            absent=(404,),
        )

    def apply_deployment(self, name: str, manifest: Object, field_manager: str) -> Object | None:
        """Apply a part of a Deployment under a field manager of its own; `None` when there is no such Deployment.

        A server-side apply would create what is missing, so the Deployment is looked for first.
        """
        namespace = self.cluster.namespace
        if self.workload("Deployment", namespace, name) is None:
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
                f"({type(error).__name__}). Try `kubectl --context {self.cluster.context} get nodes`."
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
