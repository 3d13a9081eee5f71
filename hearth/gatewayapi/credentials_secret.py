"""The Secret with an application's key, as a Pulumi resource (S3-47, U-1).

It is not an ordinary Kubernetes resource of Pulumi, because a server-side apply takes over whatever has the same name.
Here the Secret is created only where there is none; one that does not carry Hearth's labels for this very application
is never changed and never deleted.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, ClassVar, Final

import pulumi
from pulumi.dynamic import CheckResult, CreateResult, DiffResult, ReadResult, Resource, UpdateResult
from pulumi.runtime.rpc import contains_unknowns

from hearth.compile.names import APP_LABEL, MANAGED_LABEL, TENANT_LABEL
from hearth.kubeapi.client import KubernetesApi, Object, decoded, encoded
from hearth.kubeapi.errors import ClusterError, NotOursError
from hearth.kubeapi.provider import CLUSTER, ClusterProvider, Props, step

OWNER_LABELS: Final = (MANAGED_LABEL, TENANT_LABEL, APP_LABEL)
"""Labels that make a Secret ours: all three must be there, with the values of this application."""
ATTEMPTS: Final = 3
"""How often a change is tried when somebody else changes the Secret at the same time."""


class CredentialsSecretProvider(ClusterProvider):
    """Writes, reads and deletes one Secret, and no other of the same name."""

    required: ClassVar[tuple[str, ...]] = ("namespace", "secret_name", "labels", "values")
    replacing: ClassVar[tuple[str, ...]] = ("namespace", "secret_name")
    changing: ClassVar[tuple[str, ...]] = ("labels",)

    def check(self, _olds: Props, news: Props) -> CheckResult:
        """Refuse a Secret that would not be known as ours afterwards."""
        result = super().check(_olds, news)
        labels = news.get("labels")
        if isinstance(labels, Mapping) and not all(labels.get(name) for name in OWNER_LABELS):
            raise ValueError(f"the Secret's manifest has to have the labels {', '.join(OWNER_LABELS)}")
        return result

    def diff(self, _id: str, _olds: Props, _news: Props) -> DiffResult:
        """Compare by digest, so that the values themselves are in no output."""
        replaces = [name for name in self.replacing if _olds.get(name) != _news.get(name)]
        values = _news.get("values")
        other = contains_unknowns(values) or _digest(values or {}) != _olds.get("digest")
        changed = other or bool(self.changes(_olds, _news))
        # Two Secrets of one name cannot be there at once; with another name or namespace the new one comes first.
        return DiffResult(bool(replaces) or changed, replaces, delete_before_replace=False)

    @step
    def create(self, props: Props) -> CreateResult:
        """Create the Secret, or take up the one that an earlier run wrote."""
        kubernetes = self.kubernetes(props)
        made = _write(kubernetes, props)
        return CreateResult(f"{props['namespace']}/{props['secret_name']}", _outputs(props, made))

    @step
    def read(self, id_: str, props: Props) -> ReadResult:
        """Say what is there; a Secret that is not ours counts as absent."""
        there = self.kubernetes(props).secret(*id_.split("/"))
        if there is None or not _is_ours(there, props["labels"]):
            return ReadResult("", {})
        return ReadResult(id_, _outputs(props, there))

    @step
    def update(self, _id: str, _olds: Props, _news: Props) -> UpdateResult:
        """Write what changed, and write the Secret again where somebody removed it."""
        return UpdateResult(_outputs(_news, _write(self.kubernetes(_news), _news)))

    @step
    def delete(self, _id: str, _props: Props) -> None:
        """Delete the Secret if it is ours. One that is gone already, or is somebody else's by now, is no error."""
        kubernetes = self.kubernetes(_props)
        for _ in range(ATTEMPTS):
            there = kubernetes.secret(*_id.split("/"))
            if there is None or not _is_ours(there, _props["labels"]) or kubernetes.delete_secret(there):
                return
        raise ClusterError(_contended(_id))


class CredentialsSecret(Resource, module="hearth", name="CredentialsSecret"):
    """The Secret of an application, written after its key is registered and deleted before the key is.

    Pulumi keeps this order when the resource depends on the application's `AppKey` and on the namespace.
    """

    digest: pulumi.Output[str]
    """Digest of the values; secret, because somebody may have written a short value by hand."""

    def __init__(
        self,
        resource_name: str,
        manifest: Mapping[str, Any],
        cluster: str,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Declare the Secret.

        Args:
            resource_name: name of the resource in Pulumi.
            manifest: the Secret as `credentials_secret_manifest` gives it; values may be secret outputs.
            cluster: identity of the cluster that it is in.
            opts: options of Pulumi; `depends_on` names the `AppKey` and the namespace.
        """
        metadata = manifest["metadata"]
        inputs = {
            CLUSTER: cluster,
            "namespace": metadata["namespace"],
            "secret_name": metadata["name"],
            "labels": dict(metadata["labels"]),
            "values": pulumi.Output.secret(manifest["stringData"]),
            "digest": None,
        }
        hidden = pulumi.ResourceOptions(additional_secret_outputs=["digest"])
        super().__init__(CredentialsSecretProvider(), resource_name, inputs, pulumi.ResourceOptions.merge(opts, hidden))


def _write(kubernetes: KubernetesApi, props: Props) -> Object:
    """Make the Secret what it should be, without ever changing one that is not ours.

    Raises:
        NotOursError: there is one that does not carry the labels.
        ClusterError: somebody changes it at the same time, again and again.
    """
    namespace, name, labels = props["namespace"], props["secret_name"], dict(props["labels"])
    wanted: Object = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "type": "Opaque",
        "data": encoded(props["values"]),
    }
    for _ in range(ATTEMPTS):
        there = kubernetes.secret(namespace, name)
        if there is None:
            written = kubernetes.create_secret(wanted)
        elif _is_ours(there, labels):
            kept = there["metadata"]
            metadata = {**kept, "labels": {**(kept.get("labels") or {}), **labels}}
            written = kubernetes.replace_secret({**there, "metadata": metadata, "data": wanted["data"]})
        else:
            raise NotOursError(
                f"the namespace {namespace} has a Secret {name} that Hearth did not write, and Hearth does not touch "
                f"it. Rename it or delete it (`kubectl -n {namespace} delete secret {name}`), then run the same "
                "command again; or rename the application in the claim."
            )
        if written is not None:
            return written
    raise ClusterError(_contended(f"{namespace}/{name}"))


def _contended(name: str) -> str:
    return f"the Secret {name} is changed by somebody else all the time; find out by whom, and try again"


def _is_ours(secret: Object, labels: Mapping[str, str]) -> bool:
    there = secret["metadata"].get("labels") or {}
    return all(there.get(name) == labels.get(name) for name in OWNER_LABELS)


def _digest(values: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(dict(values), sort_keys=True).encode()).hexdigest()


def _outputs(props: Props, there: Object) -> Props:
    have = there["metadata"].get("labels") or {}
    outputs = {
        CLUSTER: props.get(CLUSTER),
        "namespace": props["namespace"],
        "secret_name": props["secret_name"],
        # Labels that others added are theirs.
        "labels": {name: have.get(name, "") for name in props["labels"]},
        "digest": _digest(decoded(there)),
    }
    return {name: value for name, value in outputs.items() if value is not None}
