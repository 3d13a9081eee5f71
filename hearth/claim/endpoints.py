"""Endpoints: what the gateway may connect to, and who runs the model server there."""

from typing import Annotated, Final, Literal

from pydantic import Field

from hearth.claim.base import CommitHash, CredentialReference, OneLine, Quantity, Sha256, Shape, matching
from hearth.claim.network import EndpointAuth, NetworkProfile
from hearth.claim.operations import Operation, Protocol, protocol_operations

Engine = Literal["ollama", "llamaCpp", "vllm"]
"""A program that serves models."""
Milliseconds = Annotated[int, Field(ge=100, le=3_600_000)]
"""A time in ms, 100 ms to one hour."""


DEFAULT_REQUEST_TIMEOUT_MS: Final = 120_000
"""Longest wait for an answer where nothing declares one, in ms."""


class Sidecar(Shape):
    """The TLS sidecar in front of a runtime that has no HTTPS (S4-63 … S4-84)."""

    profile_version: Literal["model-provider-sidecar/v1"] = "model-provider-sidecar/v1"
    """The profile that the sidecar's configuration is compiled from."""
    max_request_bytes: Annotated[int, Field(ge=1_024, le=67_108_864)] = 4_194_304
    """Largest request body in bytes (U-17)."""
    max_response_bytes: Annotated[int, Field(ge=1_024, le=268_435_456)] = 16_777_216
    """Largest answer in bytes (U-17)."""
    config_sha256: Sha256 | None = None
    """Digest that `/sidecar/identity` names, of a sidecar that somebody else runs (S4-86); Hearth knows its own."""
    runtime_port: Annotated[int, Field(ge=1, le=65535)] | None = None
    """TCP port of the runtime itself, behind a sidecar that somebody else runs: it must not answer from outside
    (S4-93). Hearth knows its own."""


HuggingFaceRepository = Annotated[
    str,
    matching(
        r"^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?$",
        "a Hugging Face repository <owner>/<name>",
        min_length=1,
        max_length=200,
    ),
]
"""A repository of models, `<owner>/<name>`; the oldest have no owner."""


class HuggingFaceSource(Shape):
    """One file of a Hugging Face repository at one commit (S2-6)."""

    repo: HuggingFaceRepository
    """Repository, `<owner>/<name>`."""
    revision: CommitHash
    """Commit of the repository."""
    file: Annotated[
        str,
        matching(
            r"^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$",
            "the path of a file in the repository",
            max_length=255,
        ),
    ]
    """File in the repository."""


class ImageSource(Shape):
    """A file in a container image."""

    ref: Annotated[
        str,
        matching(
            r"^[a-z0-9][a-z0-9.-]*(:[0-9]{1,5})?(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)+(:[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?(@sha256:[0-9a-f]{64})?$",
            "an image with its registry, such as registry.example/models/gemma:1.0@sha256:<digest>",
            max_length=255,
        ),
    ]
    """The image, with a digest; a tag is accepted only for images of the local build."""
    path: Annotated[
        str,
        matching(
            r"^(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$", "the absolute path of a file, without . and ..", max_length=255
        ),
    ]
    """Absolute path of the model file in the image."""


class ModelSource(Shape):
    """Where a model comes from: exactly one of these. An address that serves a model is an endpoint instead (S1-1)."""

    hugging_face: HuggingFaceSource | None = None
    """A file of a Hugging Face repository."""
    url: (
        Annotated[
            str,
            matching(
                r"^https://[a-z0-9][a-z0-9.-]*(:[0-9]{1,5})?(/[A-Za-z0-9_~+%-][A-Za-z0-9._~+%-]*)+$",
                "an https address of a file without user, query and fragment",
                max_length=2048,
            ),
        ]
        | None
    ) = None
    """An https address of a model file; needs a digest."""
    image: ImageSource | None = None
    """A file in a container image."""
    ollama: (
        Annotated[
            str,
            matching(
                r"^[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*(:[A-Za-z0-9._-]+)?$",
                "a model of the Ollama library, such as gemma3:270m",
                max_length=200,
            ),
        ]
        | None
    ) = None
    """A model of the Ollama library."""
    file: (
        Annotated[
            str,
            matching(
                r"^(/[A-Za-z0-9_+-][A-Za-z0-9._+-]*)+$", "the absolute path of a file on the host", max_length=1024
            ),
        ]
        | None
    ) = None
    """Absolute path on the host."""


class RuntimeModel(Shape):
    """A model that the runtime has to have before it counts as ready."""

    source: ModelSource
    """Where it comes from."""
    digest: Annotated[str, matching(r"^sha256:[0-9a-f]{64}$", "sha256: and 64 lower-case hexadecimal digits")]
    """Digest that is checked before use (U-22): of the file, or of the manifest for an Ollama model."""


class Runtime(Shape):
    """The model server of an endpoint that Hearth runs (S1-10, S4-146)."""

    engine: Engine
    """The program."""
    placement: Literal["host", "pod"]
    """`host` is installed by Ansible, `pod` by Pulumi."""
    loopback: Annotated[
        str,
        matching(
            r"^http://(127\.0\.0\.1|\[::1\]|localhost):[1-9][0-9]{0,4}$",
            "an http address of loopback with a port and without a path, such as http://127.0.0.1:11434",
        ),
    ]
    """Origin of the runtime on loopback, path `/` (S4-66)."""
    models: Annotated[tuple[RuntimeModel, ...], Field(min_length=1)]
    """Models that are present before the runtime is called ready."""
    credential_ref: CredentialReference | None = None
    """The runtime's own key, which only the sidecar knows (S4-51). Made by Hearth for a Pod when absent."""
    chat_template: (
        Annotated[str, matching(r"^[a-z0-9][a-z0-9._-]{0,63}$", "the name of a llama.cpp chat template")] | None
    ) = None
    """llama.cpp's name of a chat template, such as `gemma`, for a model file that carries none of its own. Without
    the right one a model still answers, and answers badly. llama.cpp takes no tools with it: a request that has any is
    refused with 400."""
    pooling: Literal["mean", "cls", "last"] | None = None
    """How llama.cpp makes one vector of an input, for an embedding model whose file does not say it."""
    threads: Annotated[int, Field(ge=1, le=512)] | None = None
    """Threads of the computation; the engine decides when absent."""
    memory: Quantity = "2Gi"
    """Memory limit of the runtime."""
    context_tokens: Annotated[int, Field(ge=256, le=10_000_000)] = 4096
    """Context of one request in tokens."""
    keep_alive_seconds: Annotated[int, Field(ge=0, le=604_800)] = 86_400
    """How long an idle model stays loaded, in seconds (S4-114)."""

    @property
    def loopback_port(self) -> int:
        """Return the port of its origin on loopback."""
        return int(self.loopback.rsplit(":", 1)[1])


class RuntimeCapacity(Shape):
    """What the runtime can bear (S4-113 … S4-121). Required for private endpoints (U-14)."""

    physical_runtime_id: OneLine
    """The process that answers; two endpoints of one process name the same (S4-87)."""
    capacity_domain_id: OneLine
    """The device that is shared; lanes may not share one (S4-120)."""
    max_parallel_requests: Annotated[int, Field(ge=1, le=256)]
    """Requests at once."""
    max_queued_requests: Annotated[int, Field(ge=0, le=1024)]
    """Requests that may wait; the next is answered with 429 (S4-116)."""
    readiness_policy: Literal["warm_before_eligible", "on_demand"] = "warm_before_eligible"
    """Whether the model must be warm before the route counts (S4-118)."""
    cold_start_timeout_ms: Milliseconds = 180_000
    """Longest time until a cold model answers, in ms."""
    stream_setup_timeout_ms: Milliseconds = 30_000
    """Longest time until a stream begins, in ms; not above `requestTimeoutMs`."""
    request_timeout_ms: Milliseconds = DEFAULT_REQUEST_TIMEOUT_MS
    """Longest wait for an answer, and longest silence within a stream, in ms."""


class Endpoint(Shape):
    """One address with one transport. Different values need a different endpoint (S4-14)."""

    protocol: Protocol | None = None
    """`openai_chat`, `openai_embeddings` or `openai_responses`; either this or `operations`."""
    operations: Annotated[tuple[Operation, ...], Field(min_length=1)] | None = None
    """Everything that the model server answers, instead of one protocol: one runtime, one sidecar and one port for
    chats, responses and embeddings together (S4-68)."""
    base_url: str
    """http(s) address with a host, without user, query and fragment (S4-29, S4-30)."""
    endpoint_auth: EndpointAuth
    """How the gateway identifies itself."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Extra request headers out of an allow-list; nothing that looks like a credential (S4-52)."""
    network_profile: NetworkProfile
    """How the gateway reaches it."""
    sidecar: Sidecar | None = None
    """The sidecar; required when it terminates TLS."""
    runtime: Runtime | None = None
    """Who runs the model server; absent when somebody else does (S1-10, S1-18)."""
    runtime_capacity: RuntimeCapacity | None = None
    """What the runtime can bear; required for private endpoints."""
    posture: Literal["local", "vendor"] | None = None
    """Whose model server it is, whatever leads to it: one of this house, or a vendor's behind a private link as well.
    A `public_tls` endpoint is a vendor's when absent, any other is local (S1-5)."""

    @property
    def permitted_operations(self) -> frozenset[Operation]:
        """Return what its deployments may be asked for."""
        return protocol_operations(self.protocol) if self.protocol else frozenset(self.operations or ())

    @property
    def is_vendor(self) -> bool:
        """Return whether a vendor answers (S1-5)."""
        return (self.posture or ("vendor" if self.network_profile.mode == "public_tls" else "local")) == "vendor"
