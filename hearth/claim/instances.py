"""`hearth:llm.instances`: vLLM servers on the cluster's own GPUs (S3-83 … S3-88, S4-6)."""

from typing import Annotated, Final, Literal

from pydantic import Field

from hearth.claim.base import CommitHash, Identifier, OneLine, PositiveInt, Quantity, Sha256, Shape, matching
from hearth.claim.endpoints import DEFAULT_REQUEST_TIMEOUT_MS, HuggingFaceRepository, ImageSource, Milliseconds
from hearth.claim.operations import Operation
from hearth.claim.routing import Pricing

FilePath = Annotated[
    str,
    matching(
        r"^[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*$",
        "the path of a file in the repository, of letters, digits and . _ - /",
        max_length=255,
    ),
]
"""Path of a file below the repository's root."""
OptionName = Annotated[
    str, matching(r"^[a-z][a-z0-9-]*[a-z0-9]$", "a flag of vllm serve without its hyphens in front", max_length=64)
]
"""A flag of `vllm serve` without `--`."""
OptionWord = Annotated[
    str, matching(r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$", "a word of letters, digits and . _ + -", max_length=64)
]
"""The value of a flag that takes a word."""
LabelKey = Annotated[
    str,
    matching(
        r"^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$",
        "the key of a Kubernetes label, such as nvidia.com/gpu.product",
        max_length=317,
    ),
]
"""Key of a label or a taint of a node."""
LabelValue = Annotated[
    str,
    matching(
        r"^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$",
        "the value of a Kubernetes label: at most 63 letters, digits and . _ -",
        max_length=63,
    ),
]
"""Value of a label or a taint of a node."""

GPU_RESOURCE: Final = "nvidia.com/gpu"
"""Extended resource of a GPU that a device plugin offers, and key of the taint that keeps other Pods away."""
GPU_NODE: Final = {"nvidia.com/gpu.present": "true"}
"""Label of a node with a GPU, as the GPU operator sets it (S3-84)."""


class ModelFile(Shape):
    """One file of a model, which is used only when it has this digest and this size."""

    sha256: Sha256
    """Digest of its content (U-22)."""
    bytes: Annotated[int, Field(ge=0, le=10**13)]
    """Its size in bytes. What a model needs of a GPU, of a volume and of time is worked out from the sizes."""


class Architecture(Shape):
    """What decides how much memory one token of context takes, as `config.json` of the model says it."""

    layers: Annotated[int, Field(ge=1, le=1_000)]
    """`num_hidden_layers`."""
    key_value_heads: Annotated[int, Field(ge=1, le=1_024)]
    """`num_key_value_heads`; `num_attention_heads` where there is no such figure."""
    head_size: Annotated[int, Field(ge=1, le=4_096)]
    """`head_dim`; `hidden_size` divided by `num_attention_heads` where there is no such figure."""
    cache_bytes_per_token: PositiveInt | None = None
    """Bytes that one token takes on each GPU, for a model whose cache does not follow from the three figures above
    (a latent or a sliding window cache)."""


class InstanceSource(Shape):
    """Where the files come from, if not from Hugging Face."""

    image: ImageSource
    """A folder in a container image, which has `sh` and `cp`."""


class Toleration(Shape):
    """A taint that the Pod tolerates."""

    key: LabelKey
    """Key of the taint."""
    value: LabelValue | None = None
    """Its value; any when absent."""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = None
    """Its effect; any when absent."""


class Scheduling(Shape):
    """Where a Pod may run, beside what its node pool asks for."""

    node_selector: dict[LabelKey, LabelValue] = Field(default_factory=dict)
    """Labels that the node has to have."""
    tolerations: tuple[Toleration, ...] = ()
    """Taints that the Pod tolerates."""
    runtime_class: Identifier | None = None
    """RuntimeClass, where the GPU needs one."""
    priority_class: Identifier | None = None
    """PriorityClass."""


class Instance(Shape):
    """A vLLM server on the cluster's own GPUs (S3-83 … S3-88). Read only with `gpuAcceleration`.

    It is an endpoint of the zone `in-cluster` with the id `vllm-<name>`, in a Pod with a TLS sidecar, and needs
    evidence as every private endpoint does.
    """

    name: Identifier
    """Name of the instance, at most 35 characters; its Service is `vllm-<name>-inference` (S3-14)."""
    model_id: HuggingFaceRepository
    """Hugging Face repository; offered in lower case with `/` as `-` (S3-13)."""
    revision: CommitHash
    """The model's commit, 40 hexadecimal digits."""
    files: Annotated[dict[FilePath, ModelFile], Field(max_length=500)] = Field(default_factory=dict)
    """Every file that is fetched, by its path in the repository: `config.json`, the tokenizer's, and the weights as
    safetensors. Required with `gpuAcceleration`."""
    source: InstanceSource | None = None
    """Where the files come from; that commit of the repository on Hugging Face when absent."""
    operations: Annotated[tuple[Operation, ...], Field(min_length=1)] = ("chat", "completion")
    """What it may be asked for; `embedding` stands alone."""
    embedding_space: OneLine | None = None
    """Revision of the embedding space; required with the operation `embedding` (S4-127)."""
    gpus: Annotated[int, Field(ge=1, le=16)] = 1
    """GPUs of the server; the model is split over all of them (tensor parallelism)."""
    gpu_memory: Quantity | None = None
    """Memory of each GPU; that of the node pool's product when absent."""
    gpu_memory_utilization: Annotated[
        str, matching(r"^0\.[0-9]{1,3}$", 'a fraction in quotes between 0 and 1, such as "0.85"')
    ] = "0.90"
    """Fraction of the GPU's memory that vLLM may take."""
    max_model_len: PositiveInt
    """Context window in tokens."""
    max_num_seqs: Annotated[int, Field(ge=1, le=256)] = 16
    """Requests that are computed at once (S4-6)."""
    max_queued_requests: Annotated[int, Field(ge=0, le=1024)] = 32
    """Requests that may wait; the next is answered with 429 (S4-116)."""
    request_timeout_ms: Milliseconds = DEFAULT_REQUEST_TIMEOUT_MS
    """Longest wait for an answer, and longest silence within a stream, in ms."""
    architecture: Architecture | None = None
    """Figures of the model; needed for one that Hearth's own table does not have."""
    quantization: Literal["checkpoint", "fp8"] = "checkpoint"
    """`checkpoint` takes the weights as the files have them, quantised or not; `fp8` halves 16-bit weights as they are
    loaded."""
    kv_cache_dtype: Literal["auto", "fp8"] = "auto"
    """How a token of context is kept: in 16 bits, or in 8."""
    tool_call_parser: OptionWord | None = None
    """vLLM's name of the parser for calls of tools; none are read out of an answer when absent (U-5)."""
    options: dict[OptionName, bool | int | OptionWord] = Field(default_factory=dict)
    """Further flags of `vllm serve`, out of a list of those that change nothing but how the answer is computed."""
    memory: Quantity | None = None
    """Memory limit of the server's container; worked out from the weights when absent."""
    model_cache_size: Quantity
    """Size of the volume that keeps the weights; it stays when the instance goes (S3-85)."""
    storage_class: Identifier | None = None
    """StorageClass of the volume; the cluster's default when absent."""
    access_mode: Literal["ReadWriteOnce", "ReadWriteOncePod", "ReadWriteMany"] = "ReadWriteOnce"
    """Access mode of the volume."""
    node_pool: Identifier | None = None
    """The node pool that it runs on."""
    scheduling: Scheduling = Scheduling()
    """Where it may run beside that."""
    pricing: Pricing = Pricing.model_validate(
        {
            "basis": "zero_marginal",
            "version": "1",
            "inputMicrosPerMillionTokens": 0,
            "outputMicrosPerMillionTokens": 0,
        }
    )
    """Its price; nothing when absent (S4-122)."""

    @property
    def total_bytes(self) -> int:
        """Return the size of all its files."""
        return sum(file.bytes for file in self.files.values())

    @property
    def weight_files(self) -> dict[str, ModelFile]:
        """Return the files with weights."""
        return {path: file for path, file in self.files.items() if path.endswith(".safetensors")}
