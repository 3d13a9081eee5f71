"""One function turns any manifest into a Pulumi resource of its own kind, with options by kind from one table."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pulumi

from hearth.cluster.rollout import ROLLED_OUT, Rollout
from hearth.compile.manifests.common import Object
from hearth.versions import versions

FIELD_MANAGER: Final = "hearth"
"""Who owns, in Kubernetes' eyes, the fields that Hearth declares: one name for every run and every object. Pulumi's own
choice is a random name for each resource, so that a run that was killed before it wrote its state leaves an owner
behind that nobody knows any more, and a field that is declared no longer stays because of it."""
OWNERSHIP: Final = {"pulumi.com/patchFieldManager": FIELD_MANAGER, "pulumi.com/patchForce": "true"}
"""Annotations of every object: what Hearth declares wins over `kubectl scale`, `kubectl set image` and the like. A
field that it does not declare is its owner's, unless kubectl wrote it: Pulumi takes that for something that
`kubectl apply` left.
Whether an object is ours at all, `hearth.cluster.owned` checks before."""
SKIP_AWAIT: Final = {"pulumi.com/skipAwait": "true"}
"""Annotation that makes Pulumi create an object without waiting for it."""
REPLACE_UNREADY: Final = {"pulumi.com/replaceUnready": "true"}
"""Annotation that makes Pulumi replace a Job that failed, in place of waiting for it until the time is up."""

FORMER: Final[Mapping[str, str]] = {
    "NetworkPolicy:system-llm/llm-gateway-inside": "NetworkPolicy:system-llm/llm-gateway",
    "NetworkPolicy:system-llm/llm-runtime-guarded": "NetworkPolicy:system-llm/llm-runtime",
}
"""Names in Pulumi of what replaced something else: the new one is made first, and the old one goes at the end."""

_DIGEST = re.compile(r"-[0-9a-f]{10}$")
"""What Hearth once took for a digest at the end of any name; see `former_name`."""


@dataclass(frozen=True)
class KindOptions:
    """What Pulumi has to know about a kind beyond its manifest."""

    protect: bool = False
    """Whether Pulumi refuses to delete it until somebody unprotects it."""
    retain: bool = False
    """Whether the object stays in the cluster when it leaves the program."""
    minutes: int | None = None
    """How long creating and updating may take at least, in minutes."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    """What Pulumi's Kubernetes provider has to know beyond what holds for every kind."""


OPTIONS: Final[Mapping[str, KindOptions]] = {
    # A volume outlives every mistake in the claim; with WaitForFirstConsumer, awaiting it would wait for ever.
    "PersistentVolumeClaim": KindOptions(protect=True, retain=True, annotations=SKIP_AWAIT),
    "StatefulSet": KindOptions(minutes=15),
    "Deployment": KindOptions(minutes=15),
    "Job": KindOptions(minutes=20, annotations=REPLACE_UNREADY),
    # A Service without ready Pods would hold up the very resources that make them ready.
    "Service": KindOptions(annotations=SKIP_AWAIT),
}
"""Options by kind; every other kind is created plainly."""
WORKLOADS: Final = ("Deployment", "StatefulSet", "Job")
"""Kinds that need the configuration that stands beside them."""


class Manifest(pulumi.CustomResource):
    """A Kubernetes object, declared by its plain manifest."""

    spec: pulumi.Output[dict[str, Any]]
    """What the cluster made of the manifest's `spec`, where it has one."""

    def __init__(
        self, name: str, manifest: Mapping[str, Any], options: pulumi.ResourceOptions, *, adopted: bool = False
    ) -> None:
        """Declare it.

        Args:
            name: name of the resource in Pulumi.
            manifest: the object.
            options: options of Pulumi.
            adopted: whether somebody else made it. Then Hearth has the fields of the manifest and nothing more, and
                gives them back in place of deleting it.
        """
        kind = f"{manifest['kind']}Patch" if adopted else manifest["kind"]
        api_version = manifest["apiVersion"]
        group_version = api_version if "/" in api_version else f"core/{api_version}"
        provider_version = versions()["PULUMI_KUBERNETES_VERSION"].removeprefix("v")
        super().__init__(
            f"kubernetes:{group_version}:{kind}",
            name,
            dict(manifest),
            pulumi.ResourceOptions.merge(pulumi.ResourceOptions(version=provider_version), options),
        )


def logical_name(declared: Object) -> str:
    """Return the name that Pulumi knows an object by: it stays when a content digest in the real name changes."""
    return _logical_name(declared, declared.stable_name)


def former_name(declared: Object) -> str | None:
    """Return the name that Pulumi knew an object by before builders handed over stable names; none if it is the same.

    Ten hexadecimal digits at the end of any name were taken for a digest then, those of a tenant's or an endpoint's
    own name too. An environment that was deployed so is updated without a replacement.
    """
    real = declared.name if isinstance(declared.name, str) else declared.stable_name
    former = _DIGEST.sub("", real)
    return None if former == declared.stable_name else _logical_name(declared, former)


def _logical_name(declared: Object, name: str) -> str:
    return f"{declared.kind}:{declared.namespace}/{name}" if declared.namespace else f"{declared.kind}:{name}"


def _aliases(declared: Object) -> list[pulumi.Input[str | pulumi.Alias]] | None:
    names = [former_name(declared), FORMER.get(logical_name(declared))]
    return [pulumi.Alias(name=name) for name in names if name] or None


def _with_annotations(manifest: Mapping[str, Any], annotations: Mapping[str, str]) -> dict[str, Any]:
    metadata = dict(manifest["metadata"])
    metadata["annotations"] = {**metadata.get("annotations", {}), **annotations}
    return {**manifest, "metadata": metadata}


def _comes_back(manifest: Mapping[str, Any]) -> bool:
    """Return whether Kubernetes makes an object again as soon as it is deleted, so that its absence never comes.

    It goes with its namespace.
    """
    return bool(manifest["kind"] == "ServiceAccount" and manifest["metadata"]["name"] == "default")


def patience_minutes(manifest: Mapping[str, Any]) -> int | None:
    """Return how long Pulumi waits for an object, in minutes; none for its own default.

    Never less than the object itself may take: a Pod may fetch a model for an hour, and a run that gave up before would
    fail at what goes on.

    Args:
        manifest: the object.
    """
    least = OPTIONS.get(str(manifest["kind"]), KindOptions()).minutes
    deadline = manifest.get("spec", {}).get("progressDeadlineSeconds")
    return max(least or 0, math.ceil(deadline / 60) + 1) if deadline else least


def deploy(
    declared: Object,
    *,
    parent: pulumi.Resource,
    depends_on: Sequence[pulumi.Resource] = (),
    retain: bool = False,
) -> Manifest:
    """Declare one object.

    Args:
        declared: the object; values may be Pulumi outputs.
        parent: component that it belongs to; the component carries the provider.
        depends_on: what has to exist first.
        retain: whether the object stays in the cluster when it leaves the program, whatever its kind.
    """
    options = OPTIONS.get(declared.kind, KindOptions())
    manifest = _with_annotations(declared.manifest, {**OWNERSHIP, **options.annotations})
    minutes = patience_minutes(manifest)
    timeout = f"{minutes}m" if minutes else None
    return Manifest(
        logical_name(declared),
        manifest,
        pulumi.ResourceOptions(
            parent=parent,
            depends_on=list(depends_on),
            aliases=_aliases(declared),
            protect=(options.protect and not declared.fetched_again) or None,
            retain_on_delete=(not declared.adopted and (retain or options.retain or _comes_back(manifest))) or None,
            custom_timeouts=pulumi.CustomTimeouts(create=timeout, update=timeout) if timeout else None,
        ),
        adopted=declared.adopted,
    )


def deploy_all(
    objects: Iterable[Object],
    *,
    parent: pulumi.Resource,
    depends_on: Sequence[pulumi.Resource] = (),
    retain_namespaces: bool = False,
) -> list[pulumi.Resource]:
    """Declare several objects: namespaces, then what stands in them, then the workloads.

    What depends on the returned resources comes after the workloads have rolled out.

    Args:
        objects: the objects.
        parent: component that they belong to.
        depends_on: what has to exist before all of them.
        retain_namespaces: whether the namespaces among them stay when they leave the program.
    """
    kinds: tuple[list[Object], ...] = ([], [], [])
    for each in objects:
        kinds[2 if each.kind in WORKLOADS else 0 if each.kind == "Namespace" else 1].append(each)
    spaces = [deploy(each, parent=parent, depends_on=depends_on, retain=retain_namespaces) for each in kinds[0]]
    first = [deploy(each, parent=parent, depends_on=[*depends_on, *spaces]) for each in kinds[1]]
    last = [(each, deploy(each, parent=parent, depends_on=[*depends_on, *spaces, *first])) for each in kinds[2]]
    rollouts = [
        Rollout(
            logical_name(each),
            each.manifest,
            opts=pulumi.ResourceOptions(parent=parent, depends_on=[workload], aliases=_aliases(each)),
        )
        for each, workload in last
        if each.kind in ROLLED_OUT
    ]
    return [*spaces, *first, *(workload for _, workload in last), *rollouts]
