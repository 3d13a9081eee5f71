"""What a model needs of a GPU's memory, and what there is of it: worked out before anything is deployed (S4-6).

Weights take what their files take, split over the GPUs. The cache of keys and values takes, for every token of every
request that is computed at once, two vectors a layer. The sum has to fit below the share that vLLM may take.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import ceil
from typing import Final

from hearth.claim.instances import Architecture, Instance

GIBIBYTE: Final = 1024**3
"""Bytes of 1 GiB."""
WORKING_BYTES: Final = 2 * GIBIBYTE
"""Memory of each GPU for the CUDA context, the graphs and the activations of one step: an allowance of ours."""
UNQUANTISED_SHARE: Final = Decimal("0.1")
"""Share of the weights that stays in 16 bits when a checkpoint is quantised as it is loaded: embeddings and norms."""

KNOWN_ARCHITECTURES: Final[Mapping[str, Architecture]] = {
    name: Architecture.model_validate({"layers": layers, "keyValueHeads": heads, "headSize": size})
    for names, layers, heads, size in (
        (("qwen/qwen2.5-0.5b", "qwen/qwen2.5-0.5b-instruct"), 24, 2, 64),
        (("qwen/qwen2.5-1.5b", "qwen/qwen2.5-1.5b-instruct"), 28, 2, 128),
        (("qwen/qwen2.5-3b", "qwen/qwen2.5-3b-instruct"), 36, 2, 128),
        (("qwen/qwen2.5-7b", "qwen/qwen2.5-7b-instruct"), 28, 4, 128),
        (("qwen/qwen2.5-14b", "qwen/qwen2.5-14b-instruct"), 48, 8, 128),
        (("qwen/qwen2.5-32b", "qwen/qwen2.5-32b-instruct"), 64, 8, 128),
        (("qwen/qwen2.5-72b", "qwen/qwen2.5-72b-instruct"), 80, 8, 128),
        (("meta-llama/llama-3.1-8b", "meta-llama/llama-3.1-8b-instruct"), 32, 8, 128),
        (("meta-llama/llama-3.1-70b", "meta-llama/llama-3.1-70b-instruct"), 80, 8, 128),
        (("mistralai/mistral-7b-instruct-v0.3",), 32, 8, 128),
    )
    for name in names
}
"""Figures by repository in lower case, out of the `config.json` of each: `num_hidden_layers`, `num_key_value_heads`,
and `hidden_size` divided by `num_attention_heads`."""

_MEBIBYTES: Final[Mapping[str, int]] = {
    "NVIDIA-A100-SXM4-40GB": 40_960,
    "NVIDIA-A100-SXM4-80GB": 81_920,
    "NVIDIA-H100-80GB-HBM3": 81_559,
    "NVIDIA-H200": 143_771,
    "NVIDIA-L4": 23_034,
    "NVIDIA-L40S": 46_068,
    "Tesla-T4": 15_360,
}
"""Total memory in MiB that `nvidia-smi` shows, by the value of the label `nvidia.com/gpu.product`."""


@dataclass(frozen=True)
class Demand:
    """What a model needs of each GPU, in bytes."""

    weights: int
    """The weights."""
    cache: int
    """Keys and values of every request that is computed at once, each as long as it may be."""

    @property
    def total(self) -> int:
        """Return the sum, with what computing itself takes."""
        return self.weights + self.cache + WORKING_BYTES


def architecture_of(instance: Instance) -> Architecture | None:
    """Return the figures of a model: declared, else known, else none."""
    return instance.architecture or KNOWN_ARCHITECTURES.get(instance.model_id.lower())


def product_bytes(product: str) -> int | None:
    """Return the memory of a GPU in bytes, if it is a known product.

    Args:
        product: value of the label `nvidia.com/gpu.product`.
    """
    found = _MEBIBYTES.get(product)
    return found * 1024**2 if found else None


def demand(instance: Instance, architecture: Architecture) -> Demand:
    """Return what an instance needs of each of its GPUs.

    Heads of keys and values are split over the GPUs as long as there is one for each; beyond that every GPU has one.

    Args:
        instance: the instance, with its files.
        architecture: figures of its model.
    """
    weights = Decimal(sum(file.bytes for file in instance.weight_files.values()))
    if instance.quantization == "fp8":
        weights = weights * UNQUANTISED_SHARE + weights * (1 - UNQUANTISED_SHARE) / 2
    width = 1 if instance.kv_cache_dtype == "fp8" else 2
    heads = ceil(architecture.key_value_heads / instance.gpus)
    token = architecture.cache_bytes_per_token or 2 * architecture.layers * heads * architecture.head_size * width
    return Demand(ceil(weights / instance.gpus), token * instance.max_model_len * instance.max_num_seqs)


def usable(memory_bytes: int, utilization: str) -> int:
    """Return how many bytes of a GPU vLLM may take.

    Args:
        memory_bytes: memory of the GPU in bytes.
        utilization: the share that it may take, as a decimal text.
    """
    return int(memory_bytes * Decimal(utilization))


def gibibytes(size: int) -> str:
    """Return a size in GiB, in words, rounded up: what is said to fit fits."""
    return f"{ceil(size * 10 / GIBIBYTE) / 10:g} GiB"
