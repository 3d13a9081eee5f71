"""The evidence document: what a runner saw of one endpoint (S4-98 … S4-101, S4-106).

Every field is always written, so that no default can change the meaning of an old document. A measured value that
the run could not learn is null. There is no place for a tool's version, for free text, or for a secret: a digest
must not move because a tool did, and no message of a model server may travel in evidence.

`hearth.evidence/v1` never changes meaning. A new meaning is a new version, and this one stays readable.
"""

import datetime
from collections.abc import Iterator
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from hearth.claim.base import Identifier, OneLine, Sha256, Shape, matching
from hearth.claim.operations import Operation

MAXIMUM_VALIDITY: Final = datetime.timedelta(days=30)
"""Longest time between `testedAt` and `validUntil`. It also bounds what a stolen key of the past can still sign."""
DEFAULT_VALIDITY: Final = datetime.timedelta(days=7)
"""Time between `testedAt` and `validUntil` unless the runner is told otherwise (S4-111)."""


def moment(text: str) -> datetime.datetime:
    """Return the time that a timestamp of a document means.

    Raises:
        ValueError: there is no such time.
    """
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.UTC)


def timestamp(when: datetime.datetime) -> str:
    """Return a time with a zone as a document writes it: UTC, whole seconds.

    Raises:
        ValueError: the time has no zone.
    """
    if when.tzinfo is None:
        raise ValueError("a time without a zone")
    return when.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def is_timestamp(text: str) -> bool:
    """Return whether a text is a time as a document writes it."""
    try:
        return timestamp(moment(text)) == text
    except ValueError:
        return False


def _exists(text: str) -> str:
    try:
        moment(text)
    except ValueError:
        raise ValueError("is a time that does not exist") from None
    return text


Timestamp = Annotated[
    str,
    matching(
        r"^2[0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$",
        'a time in UTC in quotes, such as "2026-08-08T16:00:00Z"',
    ),
    AfterValidator(_exists),
]
"""A time in UTC with whole seconds, such as `2026-08-08T16:00:00Z`."""

KeyId = Annotated[
    str,
    matching(
        r"^[a-z0-9]([a-z0-9.-]{0,62}[a-z0-9])?$", "a name of 1 to 64 lower-case letters, digits, hyphens and points"
    ),
]
"""Name of a runner's key in the trust store."""

Code = Annotated[
    str,
    matching(r"^[a-z]([a-z0-9_.]{0,62}[a-z0-9])?$", "a code of 1 to 64 lower-case letters, digits, _ and points"),
]
"""A machine-readable identifier of a probe or a reason (S4-107)."""

Outcome = Literal["passed", "failed", "skipped"]
"""What came of a probe. `skipped` always has a reason."""

VantageKind = Literal["external_workload", "external_host", "external_namespace"]
"""From where the raw port was tried: a Pod of its own, another host, or another network namespace of the same host.
A runner beside the target has no kind, because it proves nothing (S4-91)."""

PodUid = Annotated[str, matching(r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$", "the UID of a Pod")]
"""UID that the API server gave to a Pod."""


class Case(Shape):
    """What came of one probe (S4-106, S4-107)."""

    outcome: Outcome
    """What came of it."""
    reason: Code | None
    """Why it failed or was skipped; null when it passed, and never null otherwise."""
    facts: Annotated[dict[Code, int | Code], Field(max_length=32)]
    """What was measured, as whole numbers with the unit in the name (`first_token_ms`), or as codes."""

    @model_validator(mode="after")
    def _reason(self) -> Self:
        if (self.outcome == "passed") != (self.reason is None):
            raise ValueError("needs a reason exactly when it did not pass")
        return self


class NetworkNamespace(Shape):
    """A network namespace, by what the kernel or the API server says of it; exactly one of `inode` and `podUid`."""

    machine_sha256: Sha256
    """SHA-256 of the kernel's boot id as text, so that one machine is told from another and none is named."""
    inode: Annotated[int, Field(ge=1, le=2**53 - 1)] | None
    """Inode of `/proc/<process>/ns/net` on that machine; null in a Pod."""
    pod_uid: PodUid | None
    """UID of the Pod, whose containers share one network namespace; null outside a Pod."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.inode is None) == (self.pod_uid is None):
            raise ValueError("needs either an inode or the UID of a Pod")
        return self

    def is_other_than(self, target: "NetworkNamespace") -> bool:
        """Return whether the two are shown to be different; what cannot be compared is not shown."""
        if self.machine_sha256 != target.machine_sha256:
            return True
        if self.inode is not None and target.inode is not None:
            return self.inode != target.inode
        if self.pod_uid is not None and target.pod_uid is not None:
            return self.pod_uid != target.pod_uid
        return False


class SidecarIdentity(Shape):
    """What the run learned of the TLS sidecar (S4-85, S4-86, S4-90)."""

    profile_version: OneLine | None
    """Profile that `/sidecar/identity` names."""
    config_sha256: Sha256 | None
    """Digest of the configuration that `/sidecar/identity` names."""
    certificate_identity_sha256: Sha256 | None
    """SHA-256 of the DER certificate that `/sidecar/identity` names."""
    isolation_evidence_sha256: Sha256 | None
    """Digest of what shows that the runtime is isolated: the live Pod and Services, or the host's sockets and units
    (S4-90)."""
    raw_port_reachable: bool | None
    """Whether the runtime's own port answered from the vantage; null when it was not tried (S4-93)."""


class RunnerVantage(Shape):
    """From where the raw port was tried (S4-91)."""

    kind: VantageKind
    """What kind of place it was; it follows from the two network namespaces, and is compared with them."""
    environment_id: Identifier
    """Environment that the runner was in."""
    source_workload_id: OneLine
    """The runner's workload."""
    source_network_zone_id: Identifier
    """Network zone of the runner."""
    source_network_namespace: NetworkNamespace
    """Network namespace of the runner."""
    target_network_namespace: NetworkNamespace
    """Network namespace of the model server; never the runner's own (S4-101)."""
    raw_probe_target_sha256: Sha256
    """Digest of the address that was tried. The address itself stays out, it would publish topology (S4-92)."""

    @property
    def proven_kind(self) -> VantageKind | None:
        """Return the kind that the two network namespaces show; none when they may be one."""
        source, target = self.source_network_namespace, self.target_network_namespace
        if not source.is_other_than(target):
            return None
        if source.pod_uid is not None:
            return "external_workload"
        return "external_namespace" if source.machine_sha256 == target.machine_sha256 else "external_host"


Cases = Annotated[dict[Code, Case], Field(max_length=512)]
"""Outcome by what was tried. A case stands in a document once, so that it has one outcome."""


class QualifiedDeployment(Shape):
    """What was asked of one deployment of the endpoint."""

    revision: Sha256
    """Deployment revision: digest of what S4-17 lists."""
    model: OneLine
    """Name that the runtime knows the model by."""
    operations: dict[Operation, Cases]
    """Outcome of each capability of each operation, such as `stream`. One says nothing about another (S4-97)."""


class Statement(Shape):
    """Everything that is signed."""

    version: Literal["hearth.evidence/v1"]
    """Version of the document; for ever."""
    kind: Literal["live_endpoint", "codec_corpus", "kb_embedding"]
    """What was examined (S4-94). Only `live_endpoint` opens a route (S4-98)."""
    environment: Identifier
    """Environment that the evidence is for."""
    endpoint: Identifier
    """Endpoint of the claim that was examined."""
    endpoint_sha256: Sha256
    """Digest of scheme, host, port, path, protocol, way of identifying and header names (S4-100)."""
    profile_sha256: Sha256
    """Digest of mode, zone, trust bundle, termination and pool policy (S4-100)."""
    capacity_sha256: Sha256
    """Digest of the declared capacity."""
    physical_runtime_id: OneLine
    """Process that answered (S4-87)."""
    runtime_version: OneLine | None
    """Version that the runtime said of itself: for people, never compared (S4-96)."""
    certificate_sha256: Sha256 | None
    """SHA-256 of the DER certificate that the endpoint showed in the handshake; null without TLS."""
    public_key_sha256: Sha256 | None
    """SHA-256 of that certificate's SubjectPublicKeyInfo, which outlives a renewal with the same key; null without
    TLS."""
    state: Literal["passed", "failed"]
    """Outcome of the whole run; `passed` only if no case failed."""
    deployments: Annotated[dict[Identifier, QualifiedDeployment], Field(min_length=1, max_length=256)]
    """Deployments behind the endpoint by id."""
    sidecar: SidecarIdentity | None
    """The sidecar; null when the runtime ends TLS itself or speaks plaintext (S4-101)."""
    runner_vantage: RunnerVantage | None
    """From where the raw port was tried; null without a sidecar (S4-101)."""
    probes: Cases
    """Every case about the endpoint itself that was run or skipped."""
    catalogue_version: Annotated[int, Field(ge=1, le=1_000_000)]
    """Version of the catalogue that says which cases must have passed."""
    previous_sha256: Sha256 | None
    """Digest of the evidence that this one supersedes, whatever the clocks say; null for the first."""
    tested_at: Timestamp
    """When the run ended."""
    valid_until: Timestamp
    """When the evidence expires (S4-111)."""
    signer_key_id: KeyId
    """Key in the trust store that the signature is checked with (S4-102)."""

    @property
    def cases(self) -> Iterator[Case]:
        """Return every case of the document."""
        yield from self.probes.values()
        for deployment in self.deployments.values():
            for operation in deployment.operations.values():
                yield from operation.values()


class Evidence(Statement):
    """A statement with its signature."""

    signature: Annotated[str, matching(r"^base64:[A-Za-z0-9+/]{86}==$", "base64: and 88 characters")]
    """Ed25519 over the canonical JSON of everything else, as `base64:` and 88 characters."""
