"""What all manifests have in common: names by content, labels, the security of a Pod, probes, volumes."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources as package
from typing import Any, Final

from hearth.claim.problems import ClaimError, Problem
from hearth.compile.images import ImageProfile
from hearth.compile.names import ADOPTED_ANNOTATION, ENVIRONMENT_LABEL, FETCHED_AGAIN_ANNOTATION, MANAGED_LABEL, MANAGER
from hearth.topology.topology import Topology
from hearth.versions import versions

Manifest = dict[str, Any]
"""A Kubernetes object as its API spells it."""


@dataclass(frozen=True)
class Object:
    """A manifest, and the name that stays when a digest of the content in its real name changes."""

    manifest: Manifest
    """The object as Kubernetes spells it."""
    stable_name: str
    """Its name without the digest; the real name where that has none. Unique among the objects of its kind in its
    namespace."""

    @classmethod
    def named(cls, manifest: Manifest) -> "Object":
        """Return an object whose name carries no digest."""
        return cls(manifest, manifest["metadata"]["name"])

    def of(self, environment: str | None) -> "Object":
        """Return it marked as an environment's, so that no run takes a stranger's object of the same name for ours.

        Args:
            environment: the environment; none leaves it as it is.
        """
        if environment is None:
            return self
        metadata = self.manifest["metadata"]
        marked = {**metadata, "labels": {**metadata.get("labels", {}), ENVIRONMENT_LABEL: environment}}
        return Object({**self.manifest, "metadata": marked}, self.stable_name)

    @property
    def adopted(self) -> bool:
        """Return whether somebody else made it, and it is taken over: a namespace, or what lies in every namespace."""
        return ADOPTED_ANNOTATION in self.manifest["metadata"].get("annotations", {})

    @property
    def fetched_again(self) -> bool:
        """Return whether it is a volume whose content can be fetched again."""
        return FETCHED_AGAIN_ANNOTATION in self.manifest["metadata"].get("annotations", {})

    @property
    def name(self) -> Any:
        """Return its real name; a Pulumi output where only the deployment knows it."""
        return self.manifest["metadata"]["name"]

    @property
    def kind(self) -> str:
        """Return its kind."""
        return str(self.manifest["kind"])

    @property
    def namespace(self) -> str | None:
        """Return its namespace; none for an object of the whole cluster."""
        namespace = self.manifest["metadata"].get("namespace")
        return None if namespace is None else str(namespace)


TEMPORARY: Final = "/tmp"  # noqa: S108 - an emptyDir of the Pod's own
"""Where programs may write: every root file system is read-only."""
MOST_BYTES: Final = 1_048_576
"""Most bytes of a ConfigMap, and of any other object that is made from a whole claim."""
DIGEST_LENGTH: Final = 10
"""Hexadecimal digits of a content digest at the end of a name."""


def text_file(name: str) -> str:
    """Return a file that a container runs or reads, from the folder `files`."""
    return (package.files("hearth.compile.manifests") / "files" / name).read_text(encoding="utf-8")


def content_digest(content: object) -> str:
    """Return the digest that stands in a name: equal content, equal name.

    Args:
        content: anything that JSON can hold.
    """
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]


def literal(text: str) -> str:
    """Return an argument or a variable's value that means this text: Kubernetes reads `$(NAME)` in both."""
    return text.replace("$", "$$")


def refuse_too_large(made: Object) -> Object:
    """Return the object, if Kubernetes takes one of its size.

    Raises:
        ClaimError: its JSON has more than `MOST_BYTES`.
    """
    size = len(json.dumps(made.manifest, ensure_ascii=False).encode())
    if size > MOST_BYTES:
        name = f"{made.kind} {made.name}"
        message = f"would have {size} bytes, and Kubernetes takes {MOST_BYTES} at most"
        remedy = "Declare less of what it is made from, or split the environment into two"
        raise ClaimError([Problem(name, message, remedy)])
    return made


def labels(name: str, component: str) -> dict[str, str]:
    """Return the standard labels of an object.

    Args:
        name: the program's name in this installation, such as `llm-gateway`.
        component: what it is for, such as `database`.
    """
    return {
        "app.kubernetes.io/name": name,
        "app.kubernetes.io/component": component,
        "app.kubernetes.io/part-of": "hearth",
        MANAGED_LABEL: MANAGER,
    }


def adoption(*, adopted: bool) -> dict[str, Any]:
    """Return what the metadata of an object says beside its labels when somebody else made it."""
    return {"annotations": {ADOPTED_ANNOTATION: "true"}} if adopted else {}


def selector(name: str) -> dict[str, str]:
    """Return the labels that select the Pods of one workload; they never change, because a workload's cannot."""
    return {"app.kubernetes.io/name": name}


def metadata(namespace: str, name: Any, component: str, *, app: str | None = None) -> dict[str, Any]:
    """Return an object's metadata.

    Args:
        namespace: where it is.
        name: its name.
        component: what it is for.
        app: the program that it belongs to; its own name when absent.
    """
    return {"name": name, "namespace": namespace, "labels": labels(app or str(name), component)}


def config_map(namespace: str, name: str, component: str, data: Mapping[str, str], *, app: str | None = None) -> Object:
    """Return an immutable ConfigMap with its content's digest in its name, so that a change rolls the Pods.

    Raises:
        ClaimError: it would be larger than Kubernetes takes.
    """
    content = dict(sorted(data.items()))
    return refuse_too_large(
        Object(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": metadata(namespace, f"{name}-{content_digest(content)}", component, app=app or name),
                "immutable": True,
                "data": content,
            },
            name,
        )
    )


def service_account(topology: Topology, name: str, component: str) -> Object:
    """Return a ServiceAccount without a token: nothing here talks to the Kubernetes API.

    Its Pods pull their images with the Secret that the environment names, if it names one.
    """
    pull_secret = topology.policy.registry.pull_secret
    return Object.named(
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": metadata(topology.namespace, name, component),
            "automountServiceAccountToken": False,
            **({"imagePullSecrets": [{"name": pull_secret}]} if pull_secret else {}),
        }
    )


def service(
    namespace: str,
    name: str,
    component: str,
    ports: Mapping[str, int],
    *,
    pods: str | None = None,
    headless: bool = False,
    address: str | None = None,
) -> Object:
    """Return a Service inside the cluster; no other type exists here (S3-4).

    Args:
        namespace: where it is.
        name: its name.
        component: what it is for.
        ports: TCP port by name; the Pods have ports of the same names.
        pods: name of the Pods that it selects; its own when absent.
        headless: whether the name resolves to the Pods themselves.
        address: its cluster address; the cluster chooses one when absent.
    """
    spec: dict[str, Any] = {"type": "ClusterIP"}
    if headless:
        spec["clusterIP"] = "None"
    elif address is not None:
        spec["clusterIP"] = address
    spec["selector"] = selector(pods or name)
    spec["ports"] = [{"name": key, "port": port, "targetPort": key, "protocol": "TCP"} for key, port in ports.items()]
    made = {"apiVersion": "v1", "kind": "Service", "metadata": metadata(namespace, name, component), "spec": spec}
    return Object.named(made)


def disruption_budget(namespace: str, name: str, component: str, selected: Mapping[str, str]) -> Object:
    """Return a budget that lets one Pod at a time be evicted.

    Args:
        namespace: where it is.
        name: its name.
        component: what it is for.
        selected: labels of the Pods.
    """
    spec = {
        "maxUnavailable": 1,
        # A Pod that does not serve anyway must not hold up the drain of its node.
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
        "selector": {"matchLabels": dict(selected)},
    }
    made = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata(namespace, name, component)}
    return Object.named({**made, "spec": spec})


def resources(
    *, cpu: str, memory: str, memory_limit: str, storage: str = "64Mi", storage_limit: str = "256Mi"
) -> dict[str, Any]:
    """Return the resources of a container.

    There is no CPU limit: everything here is on the path of a request. The local storage holds its log and its
    emptyDir volumes.
    """
    return {
        "requests": {"cpu": cpu, "memory": memory, "ephemeral-storage": storage},
        "limits": {"memory": memory_limit, "ephemeral-storage": storage_limit},
    }


def container(
    name: str,
    image: ImageProfile,
    *,
    resources: Mapping[str, Any],
    command: Sequence[str] | None = None,
    args: Sequence[Any] = (),
    environment: Sequence[Mapping[str, Any]] = (),
    ports: Mapping[str, int] | None = None,
    mounts: Sequence[Mapping[str, Any]] = (),
    sidecar: bool = False,
    **fields: Any,
) -> dict[str, Any]:
    """Return a container that is as closed as the baseline asks for.

    Args:
        name: its name.
        image: its image.
        resources: what it asks for and may take.
        command: argument vector in place of the image's program.
        args: arguments after it.
        environment: its environment; nothing else is inherited.
        ports: TCP port by name.
        mounts: its volume mounts.
        sidecar: whether it is a native sidecar: an init container that stays, up before the containers after it
            and down after them.
        fields: probes and lifecycle, as Kubernetes spells them.
    """
    made: dict[str, Any] = {"name": name, "image": image.reference, "imagePullPolicy": "IfNotPresent"}
    if sidecar:
        made["restartPolicy"] = "Always"
    made["command"] = list(command if command is not None else image.command)
    if args:
        made["args"] = list(args)
    if environment:
        made["env"] = [dict(entry) for entry in environment]
    if ports:
        made["ports"] = [{"name": key, "containerPort": port, "protocol": "TCP"} for key, port in ports.items()]
    made["resources"] = dict(resources)
    made["securityContext"] = {
        "runAsNonRoot": True,
        "runAsUser": image.user,
        "runAsGroup": image.group,
        "allowPrivilegeEscalation": False,
        "privileged": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    made["terminationMessagePolicy"] = "FallbackToLogsOnError"
    if mounts:
        made["volumeMounts"] = [dict(mount) for mount in mounts]
    made.update(fields)
    return made


def pod_template(
    pod_labels: Mapping[str, str],
    *,
    image: ImageProfile,
    service_account: str,
    grace_seconds: int,
    containers: Sequence[Mapping[str, Any]],
    init_containers: Sequence[Mapping[str, Any]] = (),
    volumes: Sequence[Mapping[str, Any]] = (),
    **fields: Any,
) -> dict[str, Any]:
    """Return a Pod template that Pod Security `restricted` admits.

    Args:
        pod_labels: its labels, the role for NetworkPolicies among them.
        image: image of the Pod's main program; its group owns the volumes.
        service_account: its ServiceAccount.
        grace_seconds: how long it may take to stop, in seconds.
        containers: its containers.
        init_containers: what runs before them, and the native sidecars.
        volumes: its volumes.
        fields: more of the Pod's specification, as Kubernetes spells it.
    """
    template: dict[str, Any] = {"metadata": {"labels": dict(pod_labels)}}
    spec: dict[str, Any] = {
        "serviceAccountName": service_account,
        "automountServiceAccountToken": False,
        # Environment variables out of Services have broken programs that read a variable of the same name.
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": grace_seconds,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": image.user,
            "runAsGroup": image.group,
            "fsGroup": image.group,
            # Otherwise every start walks through the whole volume.
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        **fields,
    }
    if init_containers:
        spec["initContainers"] = [dict(entry) for entry in init_containers]
    spec["containers"] = [dict(entry) for entry in containers]
    if volumes:
        spec["volumes"] = [dict(volume) for volume in volumes]
    template["spec"] = spec
    return template


def spread(selected: Mapping[str, str], *, by_template: bool = True) -> list[dict[str, Any]]:
    """Return the constraints that spread Pods over zones and nodes where there are any.

    Args:
        selected: labels of the Pods.
        by_template: whether Pods of one workload's template are spread among themselves alone.
    """
    return [
        {
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": dict(selected)},
            **({"matchLabelKeys": ["pod-template-hash"]} if by_template else {}),
        }
        for key in ("topology.kubernetes.io/zone", "kubernetes.io/hostname")
    ]


def probe(check: Mapping[str, Any], *, period: int, timeout: int, failures: int) -> dict[str, Any]:
    """Return a probe.

    Args:
        check: what it does, as Kubernetes spells it.
        period: seconds between two attempts.
        timeout: seconds that an attempt may take.
        failures: attempts in a row that make it fail.
    """
    return {**check, "periodSeconds": period, "timeoutSeconds": timeout, "failureThreshold": failures}


def http_get(path: str, port: int | str) -> dict[str, Any]:
    """Return the check of a probe that expects an answer below 400."""
    return {"httpGet": {"path": path, "port": port}}


def tcp_socket(port: int | str) -> dict[str, Any]:
    """Return the check of a probe that connects."""
    return {"tcpSocket": {"port": port}}


def execute(*command: str) -> dict[str, Any]:
    """Return the check of a probe that runs a program in the container."""
    return {"exec": {"command": list(command)}}


def secret_variable(variable: str, secret: Any, key: str, *, optional: bool = False) -> dict[str, Any]:
    """Return an environment variable out of a Secret.

    Args:
        variable: its name.
        secret: name of the Secret.
        key: key in the Secret.
        optional: whether the container starts without it.
    """
    reference: dict[str, Any] = {"name": secret, "key": key}
    if optional:
        reference["optional"] = True
    return {"name": variable, "valueFrom": {"secretKeyRef": reference}}


def secret_volume(name: str, secret: Any, keys: Sequence[str], *, optional: bool = False) -> dict[str, Any]:
    """Return a volume with some keys of a Secret, readable by the Pod's group alone."""
    source: dict[str, Any] = {
        "secretName": secret,
        "defaultMode": 0o440,
        "items": [{"key": key, "path": key} for key in keys],
    }
    if optional:
        source["optional"] = True
    return {"name": name, "secret": source}


def config_volume(name: str, config: Any, paths: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return a volume with a ConfigMap's files.

    Args:
        name: its name.
        config: name of the ConfigMap.
        paths: where each of its keys lies in the volume, for files in folders, whose paths no key can have.
    """
    items = [{"key": key, "path": path} for key, path in (paths or {}).items()]
    return {"name": name, "configMap": {"name": config, **({"items": items} if items else {})}}


def empty_dir(name: str, size: str, *, in_memory: bool = False) -> dict[str, Any]:
    """Return a volume that is empty at the start of a Pod and gone after it.

    Args:
        name: its name.
        size: how large it may become.
        in_memory: whether it is in memory, where it counts against the container's limit.
    """
    return {"name": name, "emptyDir": {**({"medium": "Memory"} if in_memory else {}), "sizeLimit": size}}


def mount(volume: str, path: str, *, read_only: bool = False) -> dict[str, Any]:
    """Return a volume mount."""
    return {"name": volume, "mountPath": path, **({"readOnly": True} if read_only else {})}


def pod_security_labels() -> dict[str, str]:
    """Return the labels that hold a namespace's Pods to Pod Security `restricted`, at a version that is pinned.

    The version is that of the Kubernetes that this project is tested with; an older API server takes its newest.
    """
    major, minor, _ = versions()["KUBERNETES_VERSION"].split(".")
    made = {}
    for mode in ("enforce", "audit", "warn"):
        made[f"pod-security.kubernetes.io/{mode}"] = "restricted"
        made[f"pod-security.kubernetes.io/{mode}-version"] = f"{major}.{minor}"
    return made
