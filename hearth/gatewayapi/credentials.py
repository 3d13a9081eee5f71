"""Credentials that the operator supplies: tokens of providers, and credentials of endpoints that others run.

Each is one key of a Secret that the guard reads (S3-32 … S3-40). Writing one leaves the others alone, whoever wrote
them, and restarts the guard's Pods one after another (S3-42, C-17). Nothing here ever gives a value back.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from hearth.claim.llm import ExternalDatabase
from hearth.claim.names import NAMESPACE
from hearth.compile.manifests.common import labels
from hearth.compile.manifests.credentials import EXTERNAL_CREDENTIALS, PROVIDER_CREDENTIALS
from hearth.compile.names import GATEWAY, GUARDS, credential_key
from hearth.kubeapi.client import KubernetesApi, Object, decoded, encoded
from hearth.kubeapi.errors import ClusterError
from hearth.kubeapi.rollout import wait_for_rollout
from hearth.topology.topology import Topology
from hearth.topology.upstreams import Source

LONGEST: Final = 8_192
"""Most characters of a credential."""
RESTART_ANNOTATION: Final = "hearth.dev/credentials"
"""Annotation of the guard's Pods, followed by a Secret's name: the version of the Secret that they started with."""
FIELD_MANAGER: Final = "hearth-credentials"
"""Field manager of that annotation, so that Pulumi, which manages the rest, sees no drift."""

_VALUE: Final = re.compile(r"^[!-~]([ -~]*[!-~])?$")

Kind = Literal["provider", "endpoint", "database"]
"""What a credential is for."""
Status = Literal["Token supplied", "Token missing", "Property missing", "No credential", "Not named"]
"""What is known of a credential without using it; never that it works (S3-80, S3-81)."""


@dataclass(frozen=True, order=True)
class Place:
    """The place of one credential: a key of a Secret. It is computed from a name, not taken from the claim (S3-35)."""

    kind: Kind
    """What it is for."""
    name: str
    """The provider's name, or the reference `credential://<scope>/<name>`."""
    secret: str
    """Secret in the gateway's namespace."""
    key: str
    """Key in it."""


def provider_place(name: str) -> Place:
    """Return the place of a provider's token: `<name>_api_key` with `-` as `_` (S3-27, S3-33)."""
    return Place("provider", name, PROVIDER_CREDENTIALS, f"{name.replace('-', '_')}_api_key")


def reference_place(reference: str, kind: Kind = "endpoint") -> Place:
    """Return the place of a credential that an endpoint or an external database refers to (S4-53)."""
    return Place(kind, reference, EXTERNAL_CREDENTIALS, credential_key(reference))


def places(topology: Topology) -> tuple[Place, ...]:
    """Return every place that there is for a credential of the operator (S3-34).

    Endpoints in Pods are not among them: Hearth makes their credentials itself.
    """
    database = topology.gateway.database
    roles = (database.owner_credential, database.gateway_credential) if isinstance(database, ExternalDatabase) else ()
    return (
        *(provider_place(upstream.id.name) for upstream in topology.upstreams if upstream.id.kind == "provider"),
        *(reference_place(reference) for reference in sorted(_references(topology, "reference"))),
        *(reference_place(reference, "database") for reference in sorted(set(roles))),
    )


def made_here(topology: Topology) -> frozenset[str]:
    """Return the references of the credentials that Hearth makes itself: those of endpoints in Pods."""
    return _references(topology, "deployment")


def is_credential(value: str) -> bool:
    """Return whether a text can be a credential: one line of printable ASCII, without spaces at its ends.

    Anything else could not stand in an HTTP header, or would end it.
    """
    return len(value) <= LONGEST and bool(_VALUE.match(value))


def statuses(kubernetes: KubernetesApi, topology: Topology) -> tuple[tuple[Place, Status], ...]:
    """Return every place and what is known of it, and after them what is stored and no longer named (S3-36).

    Args:
        kubernetes: the cluster.
        topology: the topology.
    """
    named = places(topology)
    secrets = {name: kubernetes.secret(NAMESPACE, name) for name in (PROVIDER_CREDENTIALS, EXTERNAL_CREDENTIALS)}
    rows: list[tuple[Place, Status]] = [(place, _status(secrets[place.secret], place.key)) for place in named]
    taken = {(place.secret, place.key) for place in named}
    for name, secret in secrets.items():
        kind: Kind = "provider" if name == PROVIDER_CREDENTIALS else "endpoint"
        left = sorted(key for key in decoded(secret or {}) if (name, key) not in taken)
        rows.extend((Place(kind, key, name, key), "Not named") for key in left)
    return tuple(rows)


def supply(kubernetes: KubernetesApi, place: Place, value: str) -> bool:
    """Write one credential, and no other (S3-37).

    Args:
        kubernetes: the cluster, with the rights of the person who supplies it (S3-38).
        place: where it goes.
        value: the credential.

    Returns:
        Whether it changed anything.

    Raises:
        ValueError: it cannot be a credential.
        ClusterError: the namespace is not there, or the Kubernetes API cannot be used.
    """
    if not is_credential(value):
        raise ValueError(f"a credential is one line of printable ASCII, at most {LONGEST} characters")
    _require_namespace(kubernetes)
    there = kubernetes.secret(NAMESPACE, place.secret)
    if there is not None and decoded(there).get(place.key) == value:
        return False
    patch = {"data": encoded({place.key: value})}
    if kubernetes.merge_secret(NAMESPACE, place.secret, patch) is None:
        manifest: Object = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": place.secret, "namespace": NAMESPACE, "labels": labels(GATEWAY, "credentials")},
            "type": "Opaque",
            **patch,
        }
        # Somebody who was faster made it; then it can be patched.
        if kubernetes.create_secret(manifest) is None:
            kubernetes.merge_secret(NAMESPACE, place.secret, patch)
    return True


def withdraw(kubernetes: KubernetesApi, place: Place) -> bool:
    """Remove one credential; the others stay.

    Returns:
        Whether there was one.
    """
    there = kubernetes.secret(NAMESPACE, place.secret)
    if there is None or place.key not in (there.get("data") or {}):
        return False
    kubernetes.merge_secret(NAMESPACE, place.secret, {"data": {place.key: None}})
    return True


def restart_guard(kubernetes: KubernetesApi, place: Place) -> bool:
    """Restart the guard's Pods, each when the one before it is ready, so that they take up a changed credential (C-17).

    Args:
        kubernetes: the cluster.
        place: the credential that changed.

    Returns:
        Whether there is a guard; one that is deployed later starts with the credential.

    Raises:
        ClusterError: a Pod did not become ready, or the Kubernetes API cannot be used.
    """
    secret = kubernetes.secret(NAMESPACE, place.secret)
    version = secret["metadata"]["resourceVersion"] if secret else "none"
    annotation = f"{RESTART_ANNOTATION}.{place.secret}"
    there = False
    for name in GUARDS:
        manifest: Object = {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {"template": {"metadata": {"annotations": {annotation: version}}}},
        }
        if kubernetes.apply_deployment(manifest, f"{FIELD_MANAGER}.{place.secret}") is not None:
            wait_for_rollout(kubernetes, "Deployment", NAMESPACE, name)
            there = True
    return there


def _references(topology: Topology, source: Source) -> frozenset[str]:
    credentials = (upstream.credential for upstream in topology.upstreams)
    return frozenset(found.name for found in credentials if found is not None and found.source == source)


def _status(secret: Mapping[str, object] | None, key: str) -> Status:
    if secret is None:
        return "No credential"
    values = decoded(secret)
    if key not in values:
        return "Property missing"
    return "Token supplied" if values[key] else "Token missing"


def _require_namespace(kubernetes: KubernetesApi) -> None:
    if not kubernetes.namespace_exists(NAMESPACE):
        context = kubernetes.cluster.context
        raise ClusterError(
            f"there is no namespace {NAMESPACE} in the context {context}. Run `pulumi up` first. Where the first "
            f"deployment needs the credential already, make it (`kubectl --context {context} create namespace "
            f"{NAMESPACE}`) and mark it as the environment's (`kubectl --context {context} label namespace {NAMESPACE} "
            "app.kubernetes.io/managed-by=hearth hearth.dev/environment=<environment>`)."
        )
