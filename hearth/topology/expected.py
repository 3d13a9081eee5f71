"""What evidence of an endpoint has to say now: the compiler works it out, and verification compares with it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from hearth.claim.endpoints import Engine
from hearth.claim.operations import Operation

Termination = Literal["plaintext", "native", "light_gateway_sidecar"]
"""Who ends TLS: nobody, the runtime itself, or the sidecar."""


@dataclass(frozen=True)
class ExpectedDeployment:
    """One deployment of the endpoint."""

    revision: str
    """Deployment revision (S4-17)."""
    model: str
    """Name that the runtime knows the model by."""
    operations: tuple[Operation, ...]
    """What it may be asked for."""


@dataclass(frozen=True)
class ExpectedSidecar:
    """The TLS sidecar. A digest is none where the claim does not say enough to compare with; evidence then cannot
    hold, because nothing would bind it to this sidecar."""

    profile_version: str
    """Profile of its configuration."""
    config_sha256: str | None
    """Digest of what its configuration means (S4-86)."""
    isolation_sha256: str | None
    """Digest of how its runtime has to be isolated (S4-90)."""
    raw_target_sha256: str | None
    """Digest of the address of the runtime's own port, as it would be reached from outside (S4-92)."""


@dataclass(frozen=True)
class Expected:
    """What the claim declares for one endpoint now (S4-99, S4-100)."""

    termination: Termination
    """Who ends TLS."""
    engine: Engine | None
    """The model server's program; none when somebody else runs it."""
    identifies: bool
    """Whether the endpoint asks for a credential."""
    endpoint_sha256: str
    """Scheme, host, port, path, protocol, way of identifying and header names."""
    profile_sha256: str
    """Mode, zone, trust bundle, termination and pool policy."""
    capacity_sha256: str
    """Declared capacity."""
    physical_runtime_id: str | None
    """Process that answers (S4-87); none when no capacity is declared."""
    deployments: Mapping[str, ExpectedDeployment]
    """Every deployment of the endpoint by id, sorted."""
    sidecar: ExpectedSidecar | None
    """The sidecar; none when there is none."""
    revision: str
    """Digest of all of it: evidence of one revision says nothing about another."""
