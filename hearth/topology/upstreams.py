"""Upstreams: one type for whatever answers a request, whoever runs it."""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Final, Literal

from hearth.claim.endpoints import DEFAULT_REQUEST_TIMEOUT_MS, Engine, RuntimeCapacity, RuntimeModel, Sidecar
from hearth.claim.instances import Instance
from hearth.claim.network import EndpointAuth, NetworkProfile
from hearth.claim.operations import Operation
from hearth.topology.address import Address

Kind = Literal["endpoint", "provider"]
"""What declares an upstream."""
Source = Literal["deployment", "reference", "token"]
"""Who has a credential: the deployment makes it, the operator supplies it by reference, or it is a provider's token."""
Mode = Literal["public_tls", "private_tls", "private_plaintext"]
"""How an upstream is reached (S4-7)."""


@dataclass(frozen=True, order=True)
class UpstreamId:
    """What an upstream is called: its kind and its name together, because two kinds may use one name."""

    kind: Kind
    """What declares it."""
    name: str
    """Its name among those of its kind."""

    def __str__(self) -> str:
        """Return the one text that stands for it; no kind has a hyphen, so no two ids have one text."""
        return f"{self.kind}-{self.name}"


@dataclass(frozen=True)
class Credential:
    """How the guard identifies itself to an upstream (S4-47 … S4-51)."""

    header: Literal["authorization", "x-api-key"]
    """Header that carries the credential."""
    bearer: bool
    """Whether the value begins with `Bearer `."""
    source: Source
    """Who has it."""
    name: str
    """Its reference `credential://<scope>/<name>`, or the property of the provider's token."""


@dataclass(frozen=True)
class Bounds:
    """What one upstream is asked for at most."""

    parallel_requests: int
    """Requests at once."""
    queued_requests: int
    """Requests that may wait."""
    request_timeout_ms: int
    """Longest time of a request in ms."""
    stream_setup_timeout_ms: int
    """Longest time until the answer begins, in ms."""
    cold_start_timeout_ms: int
    """The same where a model may have to be loaded first, in ms (S4-119)."""
    request_bytes: int | None = None
    """Largest request body in bytes; none where nothing declares it."""
    response_bytes: int | None = None
    """Largest answer in bytes; none where nothing declares it."""


DEFAULT_BOUNDS: Final = Bounds(
    parallel_requests=64,
    queued_requests=64,
    request_timeout_ms=DEFAULT_REQUEST_TIMEOUT_MS,
    stream_setup_timeout_ms=DEFAULT_REQUEST_TIMEOUT_MS,
    cold_start_timeout_ms=DEFAULT_REQUEST_TIMEOUT_MS,
)
"""Bounds of an upstream whose claim has no field for them."""


@dataclass(frozen=True)
class Runtime:
    """A model server that Hearth runs (S1-10, S4-146)."""

    engine: Engine
    """The program."""
    placement: Literal["host", "pod"]
    """`host` is installed by Ansible, `pod` by Pulumi."""
    loopback: Address
    """Where it listens (S4-66)."""
    models: tuple[RuntimeModel, ...]
    """Models that are present before it is called ready."""
    credential: str | None
    """Reference of its own key, which only the sidecar knows (S4-51)."""
    needs_credential: bool
    """Whether the sidecar identifies itself to it, with that key or with one that the deployment makes."""
    chat_template: str | None
    """llama.cpp's name of a chat template; the model file's own when none."""
    pooling: str | None
    """How llama.cpp makes one vector of an input; the model file's own way when none."""
    threads: int | None
    """Threads of the computation; the engine decides when none."""
    memory: str
    """Memory limit as Kubernetes writes it."""
    context_tokens: int
    """Context of one request in tokens."""
    keep_alive_seconds: int
    """How long an idle model stays loaded, in seconds."""
    instance: Instance | None = None
    """What the claim says of a vLLM server on GPUs; none for any other."""


@dataclass(frozen=True)
class Upstream:
    """One address that the guard may connect to."""

    id: UpstreamId
    """What it is called."""
    address: Address
    """Where it answers: verification name, SNI and Host header are the host (S4-43)."""
    profile: NetworkProfile
    """How it is reached (S4-7 … S4-18)."""
    cidrs: tuple[str, ...]
    """Approved ranges of a private upstream; empty for a public one, which may be any public address (S4-25)."""
    credential: Credential | None
    """How the guard identifies itself; none sends no credential header at all."""
    headers: Mapping[str, str]
    """Extra request headers."""
    operations: tuple[Operation, ...]
    """What it may be asked for: everything that is declared for the models behind it (S4-72)."""
    models: tuple[str, ...]
    """Names that its models are asked for by, sorted."""
    bounds: Bounds
    """What it is asked for at most."""
    protocol: str | None = None
    """Declared wire protocol, or the declared operations joined by `+`; none where the kind has no field for either."""
    auth: EndpointAuth | None = None
    """Declared way of identifying, for the digests; none where the kind has no field for one."""
    sidecar: Sidecar | None = None
    """The TLS sidecar in front of it; none when there is none."""
    runtime: Runtime | None = None
    """The model server behind it; none when somebody else runs it."""
    capacity: RuntimeCapacity | None = None
    """What the model server can bear, as declared."""

    @property
    def name(self) -> str:
        """Return what it is called in artefacts: `endpoint-<id>`, `provider-<name>`."""
        return str(self.id)

    @property
    def mode(self) -> Mode:
        """Return how it is reached."""
        return self.profile.mode

    @property
    def ip_address(self) -> str | None:
        """Return the address that is connected to without a look-up; none where the name is resolved."""
        return self.profile.address or (self.address.host if self.address.is_ip_address else None)

    @property
    def destinations(self) -> tuple[str, ...]:
        """Return the ranges of a private upstream that may be connected to: where no name is looked up, one address."""
        return (str(ip_network(self.profile.address)),) if self.profile.address else self.cidrs

    @property
    def service(self) -> str:
        """Return the Service of an upstream in a Pod: the first label of its host."""
        return self.address.host.partition(".")[0]

    @property
    def trust_bundle(self) -> str | None:
        """Return its trust bundle; none for the public CAs and for plaintext."""
        return self.profile.tls.trust_bundle if self.profile.tls else None

    @property
    def in_a_pod(self) -> bool:
        """Return whether Hearth runs it in a Pod of the cluster."""
        return self.runtime is not None and self.runtime.placement == "pod"

    @property
    def is_instance(self) -> bool:
        """Return whether it is a vLLM server on the cluster's GPUs."""
        return self.runtime is not None and self.runtime.instance is not None

    @property
    def on_a_host(self) -> bool:
        """Return whether Hearth runs it on a host, by Ansible."""
        return self.runtime is not None and self.runtime.placement == "host"
