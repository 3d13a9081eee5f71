"""One function turns any manifest into a Pulumi resource of its own kind, with options by kind from one table."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from hearth.cluster.rollout import ROLLED_OUT, Rollout
from hearth.versions import versions

SKIP_AWAIT: Final = {"pulumi.com/skipAwait": "true"}
"""Annotation that makes Pulumi create an object without waiting for it."""

_DIGEST = re.compile(r"-[0-9a-f]{10}$")


@dataclass(frozen=True)
class KindOptions:
    """What Pulumi has to know about a kind beyond its manifest."""

    protect: bool = False
    """Whether Pulumi refuses to delete it until somebody unprotects it."""
    retain: bool = False
    """Whether the object stays in the cluster when it leaves the program."""
    minutes: int | None = None
    """How long creating and updating may take, in minutes."""
    skip_await: bool = False
    """Whether Pulumi goes on without waiting for it."""


OPTIONS: Final[Mapping[str, KindOptions]] = {
    # A volume outlives every mistake in the claim; with WaitForFirstConsumer, awaiting it would wait for ever.
    "PersistentVolumeClaim": KindOptions(protect=True, retain=True, skip_await=True),
    "StatefulSet": KindOptions(minutes=15),
    "Deployment": KindOptions(minutes=15),
    "Job": KindOptions(minutes=20),
    # A Service without ready Pods would hold up the very resources that make them ready.
    "Service": KindOptions(skip_await=True),
}
"""Options by kind; every other kind is created plainly."""
WORKLOADS: Final = ("Deployment", "StatefulSet", "Job")
"""Kinds that need the configuration that stands beside them."""


class Manifest(pulumi.CustomResource):
    """A Kubernetes object, declared by its plain manifest."""

    def __init__(self, name: str, manifest: Mapping[str, Any], options: pulumi.ResourceOptions) -> None:
        api_version, kind = manifest["apiVersion"], manifest["kind"]
        group_version = api_version if "/" in api_version else f"core/{api_version}"
        provider_version = versions()["PULUMI_KUBERNETES_VERSION"].removeprefix("v")
        super().__init__(
            f"kubernetes:{group_version}:{kind}",
            name,
            dict(manifest),
            pulumi.ResourceOptions.merge(pulumi.ResourceOptions(version=provider_version), options),
        )


def logical_name(manifest: Mapping[str, Any], name: str | None = None) -> str:
    """Return the name that Pulumi knows an object by: stable when a content digest in the real name changes.

    Args:
        manifest: the object.
        name: its stable name, for objects whose real name is only known at deployment.
    """
    metadata = manifest["metadata"]
    stable = _DIGEST.sub("", name or metadata["name"])
    namespace = metadata.get("namespace")
    return f"{manifest['kind']}:{namespace}/{stable}" if namespace else f"{manifest['kind']}:{stable}"


def _with_annotations(manifest: Mapping[str, Any], annotations: Mapping[str, str]) -> dict[str, Any]:
    metadata = dict(manifest["metadata"])
    metadata["annotations"] = {**metadata.get("annotations", {}), **annotations}
    return {**manifest, "metadata": metadata}


def _comes_back(manifest: Mapping[str, Any]) -> bool:
    """Return whether Kubernetes makes an object again as soon as it is deleted, so that its absence never comes.

    It goes with its namespace.
    """
    return bool(manifest["kind"] == "ServiceAccount" and manifest["metadata"]["name"] == "default")


def deploy(
    manifest: Mapping[str, Any],
    *,
    parent: pulumi.Resource,
    depends_on: Sequence[pulumi.Resource] = (),
    name: str | None = None,
    retain: bool = False,
) -> Manifest:
    """Declare one object.

    Args:
        manifest: the object as Kubernetes spells it; values may be Pulumi outputs.
        parent: component that it belongs to; the component carries the provider.
        depends_on: what has to exist first.
        name: its stable name when the real one is an output.
        retain: whether the object stays in the cluster when it leaves the program, whatever its kind.
    """
    options = OPTIONS.get(manifest["kind"], KindOptions())
    if options.skip_await:
        manifest = _with_annotations(manifest, SKIP_AWAIT)
    timeout = f"{options.minutes}m" if options.minutes else None
    return Manifest(
        logical_name(manifest, name),
        manifest,
        pulumi.ResourceOptions(
            parent=parent,
            depends_on=list(depends_on),
            protect=options.protect or None,
            retain_on_delete=retain or options.retain or _comes_back(manifest) or None,
            custom_timeouts=pulumi.CustomTimeouts(create=timeout, update=timeout) if timeout else None,
        ),
    )


def deploy_all(
    manifests: Iterable[Mapping[str, Any]],
    *,
    parent: pulumi.Resource,
    depends_on: Sequence[pulumi.Resource] = (),
    retain_namespaces: bool = False,
) -> list[pulumi.Resource]:
    """Declare several objects: namespaces, then what stands in them, then the workloads.

    What depends on the returned resources comes after the workloads have rolled out.

    Args:
        manifests: the objects.
        parent: component that they belong to.
        depends_on: what has to exist before all of them.
        retain_namespaces: whether the namespaces among them stay when they leave the program.
    """
    kinds: tuple[list[Mapping[str, Any]], ...] = ([], [], [])
    for manifest in manifests:
        kinds[2 if manifest["kind"] in WORKLOADS else 0 if manifest["kind"] == "Namespace" else 1].append(manifest)
    spaces = [deploy(m, parent=parent, depends_on=depends_on, retain=retain_namespaces) for m in kinds[0]]
    first = [deploy(m, parent=parent, depends_on=[*depends_on, *spaces]) for m in kinds[1]]
    last = [(m, deploy(m, parent=parent, depends_on=[*depends_on, *spaces, *first])) for m in kinds[2]]
    rollouts = [
        Rollout(logical_name(m), m, opts=pulumi.ResourceOptions(parent=parent, depends_on=[workload]))
        for m, workload in last
        if m["kind"] in ROLLED_OUT
    ]
    return [*spaces, *first, *(workload for _, workload in last), *rollouts]
