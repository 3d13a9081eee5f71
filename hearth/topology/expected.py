"""What evidence of an endpoint has to name now: the compiler works it out, and verification compares with it."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Expected:
    """Digests of what the claim declares for one endpoint now (S4-100)."""

    endpoint_sha256: str
    """Scheme, host, port, path, protocol, way of identifying and header names."""
    profile_sha256: str
    """Mode, zone, trust bundle, termination and pool policy."""
    capacity_sha256: str
    """Declared capacity."""
    revisions: Mapping[str, str]
    """Deployment revision by deployment id, for every deployment of the endpoint (S4-17)."""
    sidecar_config_sha256: str | None
    """Digest of the compiled sidecar configuration (S4-86); none when the endpoint has no sidecar, or one that somebody
    else runs: then evidence records which configuration was there, and there is nothing to compare it with."""
