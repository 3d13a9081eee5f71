"""Zones, trust bundles and the transport of an endpoint (S4-7 … S4-57)."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from hearth.claim.base import CredentialReference, Identifier, Sha256, Shape, matching

Port = Annotated[int, Field(ge=1, le=65535)]
"""A TCP port."""


class NetworkZone(Shape):
    """A named outbound allow-list, owned by the platform's administrators (S4-21 … S4-28)."""

    dns_names: tuple[str, ...] = ()
    """Names that may be connected to; `*.example` matches exactly one label (U-14)."""
    cidrs: Annotated[tuple[str, ...], Field(min_length=1)]
    """Private address ranges that may be connected to. Metadata, loopback, link-local, multicast and public
    addresses stay refused whatever is written here (S4-13, U-15)."""
    ports: Annotated[tuple[Port, ...], Field(min_length=1)]
    """TCP ports that may be connected to."""
    allow_private_tls: bool = True
    """Whether `private_tls` endpoints may name this zone."""
    allow_private_plaintext: bool = False
    """Whether `private_plaintext` endpoints may name this zone (S4-12)."""
    encrypted_overlay: bool = False
    """Whether the network itself encrypts what crosses it, as WireGuard does; `policy.plaintext: overlay` permits
    plaintext in such zones only (S4-12)."""


class TrustBundle(Shape):
    """CA certificates by version and digest, never by content (S4-54 … S4-57)."""

    file: Annotated[
        str,
        matching(
            r"^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$",
            "a path inside the project's folder, such as trust/home-ca.v3.pem",
            max_length=255,
        ),
    ]
    """Path of the PEM file, relative to the project's folder."""
    version: Annotated[int, Field(ge=1, le=1_000_000)]
    """Goes up with every change of the file."""
    sha256: Sha256
    """Digest of the file's bytes."""


class Tls(Shape):
    """How the endpoint's certificate is verified. There is no switch that turns verification off (S4-42)."""

    trust_bundle: Identifier
    """Name of the trust bundle; `in-cluster` is the CA that Hearth makes for its own Pods."""


class Connection(Shape):
    """Bounds on connection reuse (S4-38 … S4-40, U-14)."""

    pool_idle_timeout_ms: Annotated[int, Field(ge=1_000, le=300_000)]
    """How long an idle connection is kept, in ms."""
    client_refresh_interval_ms: Annotated[int, Field(ge=10_000, le=3_600_000)]
    """How long DNS may hide behind connection reuse, in ms; not below `poolIdleTimeoutMs`."""


def _one_spelling(termination: str) -> str:
    """Return the name that artefacts and digests know a termination by."""
    return "light_gateway_sidecar" if termination == "tls_sidecar" else termination


class NetworkProfile(Shape):
    """How the gateway reaches an endpoint (S4-7 … S4-18)."""

    mode: Literal["public_tls", "private_tls", "private_plaintext"] = "public_tls"
    """`public_tls`, `private_tls` or `private_plaintext`."""
    termination: Annotated[Literal["native", "light_gateway_sidecar", "tls_sidecar"], AfterValidator(_one_spelling)] = (
        "native"
    )
    """Who ends TLS: the runtime itself or the sidecar; `tls_sidecar` is another spelling of the latter (S4-16)."""
    network_zone_id: Identifier | None = None
    """The zone of a private endpoint; `in-cluster` is built in (C-2)."""
    tls: Tls | None = None
    """Trust of a private endpoint. A public endpoint is verified with the public CAs (U-14)."""
    connection: Connection = Connection.model_validate(
        {"poolIdleTimeoutMs": 30_000, "clientRefreshIntervalMs": 300_000}
    )
    """Bounds on connection reuse; required for a private endpoint that is no Pod of Hearth (S4-38)."""
    address: str | None = None
    """Address that is connected to instead of looking up the name of the URL, for a network without a DNS server. The
    certificate is verified by the name all the same, and the zone has to hold both."""
    accept_plaintext_risk: bool = False
    """Says that the operator accepts that prompts and answers cross the network unencrypted (S4-11)."""


class NoAuth(Shape):
    """No credential at all: none is looked up and none is sent (S4-48)."""

    mode: Literal["none"]
    """`none`."""


class BearerAuth(Shape):
    """`Authorization: Bearer …` (S4-49)."""

    mode: Literal["bearer"]
    """`bearer`."""
    credential_ref: CredentialReference
    """Where the credential is found."""


class ApiKeyAuth(Shape):
    """The credential as the whole value of one approved header (S4-49)."""

    mode: Literal["api_key"]
    """`api_key`."""
    header: Literal["x-api-key", "authorization"] = "x-api-key"
    """The header that carries it."""
    credential_ref: CredentialReference
    """Where the credential is found."""


EndpointAuth = Annotated[NoAuth | BearerAuth | ApiKeyAuth, Field(discriminator="mode")]
"""How the gateway identifies itself to an endpoint (S4-47)."""
