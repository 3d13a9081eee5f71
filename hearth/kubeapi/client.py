"""Typed calls to the Kubernetes API: Pods, Secrets, namespaces and workloads."""

import base64
import json
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Final, Literal

from hearth.kubeapi.cluster import KUBECONFIG, STACK_CONTEXT, Cluster, unusable
from hearth.kubeapi.errors import ClusterError, scrubbed

TIMEOUT_SECONDS: Final = (10, 30)
"""Seconds to connect, and between two bytes of an answer."""

RETRIES: Final[Mapping[str, Any]] = {
    "total": 5,
    # A cluster that is not there is said at once, and one whose API server restarts is waited for a moment.
    "connect": 2,
    "read": 2,
    # A certificate that is wrong stays wrong.
    "other": 0,
    "backoff_factor": 1,
    "backoff_max": 8,
    "retry_after_max": 8,
    "status_forcelist": (429, 500, 502, 503, 504),
    # Every call here may be repeated: a write that was done and not answered is a 409 the second time, as if somebody
    # else had done it, and every caller looks again then.
    "allowed_methods": None,
    "raise_on_status": False,
}
"""How urllib3 repeats a call that the Kubernetes API did not answer, or answered with an error of its own: about a
quarter of a minute at most."""

Object = dict[str, Any]
"""A Kubernetes object as its API spells it."""


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
        from kubernetes.client import Configuration
        from kubernetes.config import new_client_from_config, new_client_from_config_dict
        from kubernetes.config.config_exception import ConfigException
        from urllib3 import Retry

        configuration = Configuration()
        configuration.retries = Retry(**RETRIES)
        source = self.cluster.kubeconfig
        chosen = {
            "context": self.cluster.context,
            "persist_config": False,
            "client_configuration": configuration,
        }
        try:
            if self.cluster.is_content:
                return new_client_from_config_dict(yaml.safe_load(source), **chosen)
            return new_client_from_config(config_file=source, **chosen)
        except (ConfigException, OSError, ValueError, yaml.YAMLError) as error:
            raise unusable(source, str(error)) from None

    @cached_property
    def identity(self) -> str:
        """What tells this cluster from every other one: the UID of its namespace kube-system.

        Raises:
            ClusterError: the Kubernetes API cannot be used.
        """
        answer = self._core(
            "look up the namespace kube-system, whose UID tells one cluster from another",
            lambda api, fixed: api.read_namespace("kube-system", **fixed),
        )
        return str((answer or {})["metadata"]["uid"])

    def require(self, recorded: str) -> None:
        """Refuse a cluster that is not the one that was deployed to.

        Args:
            recorded: its identity, as Pulumi's state has it.

        Raises:
            ClusterError: it is another one, or the Kubernetes API cannot be used.
        """
        found = self.identity
        if found == recorded:
            return
        raise ClusterError(
            f"the context {self.cluster.context} leads to another cluster than this stack is deployed to: the UID of "
            f"its namespace kube-system is {found}, and {recorded} is recorded. Set {STACK_CONTEXT} of the stack or "
            f"{KUBECONFIG} to the right one. Where that cluster is gone for ever and "
            f"this one takes its place: `pulumi stack export | sed s/{recorded}/{found}/ | pulumi stack import`, then "
            "`pulumi up --refresh`."
        )

    def new_core_api(self) -> Any:
        """Return a CoreV1Api with a client of its own, for calls that take the client's connection over."""
        from kubernetes.client.api.core_v1_api import CoreV1Api

        return CoreV1Api(self._new_client())

    def pods(self, namespace: str, selector: str) -> list[Object]:
        """Return the Pods of a namespace with these labels, sorted by name."""
        answer = self._core(
            f"list the Pods {selector} in {namespace}",
            lambda api, fixed: api.list_namespaced_pod(namespace, label_selector=selector, **fixed),
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

    def apply_deployment(self, manifest: Object, field_manager: str) -> Object | None:
        """Apply a part of a Deployment under a field manager of its own; `None` when there is no such Deployment.

        A server-side apply would create what is missing, so the Deployment is looked for first.
        """
        namespace, name = manifest["metadata"]["namespace"], manifest["metadata"]["name"]
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

    def namespace(self, name: str) -> Object | None:
        """Return a namespace, or none when there is none of that name."""
        return self._core(
            f"look up the namespace {name}",
            lambda api, fixed: api.read_namespace(name, **fixed),
            absent=(404,),
        )

    def namespace_exists(self, name: str) -> bool:
        """Return whether there is such a namespace."""
        return self.namespace(name) is not None

    def get(
        self, what: str, path: str, *, query: Mapping[str, str] | None = None, accept: str = "application/json"
    ) -> Object | None:
        """Return what the API has under a path, or none when it has nothing there.

        Args:
            what: what this is for, as the end of the sentence "could not …".
            path: the path.
            query: parameters after it.
            accept: the form of the answer.
        """
        return self._request("GET", what, path, query=query, accept=accept, absent=(404,))

    def post(self, what: str, path: str, body: Object) -> Object:
        """Send an object to a path, and return the answer.

        Args:
            what: what this is for, as the end of the sentence "could not …".
            path: the path.
            body: the object.

        Raises:
            ClusterError: the Kubernetes API refuses it or cannot be used.
        """
        return self._request("POST", what, path, body=body) or {}

    def delete(self, what: str, path: str) -> None:
        """Delete what a path names, if it is there.

        Args:
            what: what this is for, as the end of the sentence "could not …".
            path: the path.

        Raises:
            ClusterError: the Kubernetes API refuses it or cannot be used.
        """
        self._request("DELETE", what, path, absent=(404,))

    def may(self, verb: str, resource: str, *, group: str = "", namespace: str = "", subresource: str = "") -> bool:
        """Return whether whoever the kubeconfig names may do something.

        Args:
            verb: what is done, such as `create`.
            resource: plural of the kind, or `*`.
            group: its API group, or `*`.
            namespace: where; empty for every namespace and for what lies in none.
            subresource: part of the kind, such as `portforward`.

        Raises:
            ClusterError: the Kubernetes API cannot be used.
        """
        asked = {
            "namespace": namespace,
            "verb": verb,
            "group": group,
            "resource": resource,
            "subresource": subresource,
        }
        answer = self.post(
            "ask what you may do",
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
            {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SelfSubjectAccessReview",
                "spec": {"resourceAttributes": asked},
            },
        )
        return bool(answer.get("status", {}).get("allowed"))

    def rules(self, namespace: str) -> tuple[list[Object], bool]:
        """Return what whoever the kubeconfig names may do in a namespace, which need not be there.

        Args:
            namespace: the namespace.

        Returns:
            The rules, as a Role has them, and whether they are all: some clusters decide elsewhere, and say so.

        Raises:
            ClusterError: the Kubernetes API cannot be used.
        """
        answer = self.post(
            "ask what you may do",
            "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
            {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SelfSubjectRulesReview",
                "spec": {"namespace": namespace},
            },
        )
        status = answer.get("status", {})
        return list(status.get("resourceRules") or []), not status.get("incomplete", False)

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

    def _request(
        self,
        method: str,
        what: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        accept: str = "application/json",
        body: Object | None = None,
        absent: tuple[int, ...] = (),
    ) -> Object | None:
        from kubernetes.client.exceptions import ApiException

        def call(api: Any, fixed: dict[str, Any]) -> Any:
            headers = {"Accept": accept, **({} if body is None else {"Content-Type": "application/json"})}
            request = api.param_serialize(
                method,
                path,
                query_params=list((query or {}).items()),
                header_params=headers,
                body=body,
                auth_settings=["BearerToken"],
            )
            answer = api.call_api(*request, _request_timeout=fixed["_request_timeout"])
            answer.read()
            if not 200 <= answer.status <= 299:
                raise ApiException.from_response(http_resp=answer, body=answer.data, data=None)
            return answer

        return self._call(what, self._client, call, absent)

    def log(self, namespace: str, pod: str) -> str:
        """Return what the one container of a Pod has written; empty while there is nothing."""
        from kubernetes.client.api.core_v1_api import CoreV1Api

        answer = self._answer(
            f"read the log of {namespace}/{pod}",
            CoreV1Api(self._client),
            lambda api, fixed: api.read_namespaced_pod_log(pod, namespace, **fixed),
            # 400 until the container has started
            absent=(400, 404),
        )
        return (answer or b"").decode(errors="replace")

    def _call(
        self, what: str, api: Any, call: Callable[[Any, dict[str, Any]], Any], absent: tuple[int, ...]
    ) -> Object | None:
        answer = self._answer(what, api, call, absent)
        return None if answer is None else json.loads(answer)

    def _answer(
        self, what: str, api: Any, call: Callable[[Any, dict[str, Any]], Any], absent: tuple[int, ...]
    ) -> bytes | None:
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
        data: bytes = answer.data
        return data


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
