"""vLLM instances: what each needs fits where it is to run, and nothing of it comes unchecked (S3-83 … S3-88, S4-6)."""

from collections.abc import Iterator
from typing import Final

from hearth.claim.base import quantity_bytes
from hearth.claim.draft import Draft, Finding
from hearth.claim.gpu_memory import architecture_of, demand, gibibytes, usable
from hearth.claim.instances import Instance
from hearth.claim.names import instance_endpoint
from hearth.claim.operations import OPERATIONS
from hearth.claim.reader import Path as Place
from hearth.claim.rules.capacity import above_bounds
from hearth.claim.rules.node_pools import gpu_bytes
from hearth.claim.vllm import OPTIONS, fits

LONGEST_NAME: Final = 35
"""Characters of an instance's name: with `vllm-` before it, it is the id of an endpoint."""
CACHE_BYTES: Final = 8 * 1024**3
"""Room of the volume for what vLLM compiles and keeps, in bytes (S3-86)."""
LARGEST_MODEL_LENGTH: Final = 10_000_000
"""Longest context in tokens, as for every deployment."""
_UNSAFE: Final = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".py")


def _instances(draft: Draft) -> Iterator[tuple[Place, Instance]]:
    """Yield the instances that are read (S3-83)."""
    if draft.claim.llm.gpu_acceleration:
        for position, instance in zip(draft.positions["instances"], draft.claim.llm.instances, strict=True):
            yield ("llm", "instances", position), instance


def names(draft: Draft) -> Iterator[Finding]:
    """An instance is an endpoint and a deployment of its own, and nothing else has their id."""
    for place, instance in _instances(draft):
        own = instance_endpoint(instance.name)
        if len(instance.name) > LONGEST_NAME:
            yield Finding((*place, "name"), f"is longer than {LONGEST_NAME} characters", "Choose a shorter name")
        for key in ("endpoints", "deployments"):
            if own in draft.declared(key):
                yield Finding(
                    (*place, "name"),
                    f"makes the id {own}, which stands below {key} already",
                    "Rename the instance, or what stands there",
                )


def files(draft: Draft) -> Iterator[Finding]:
    """S2-6, U-22: every file has a digest, and none of them is a program."""
    for place, instance in _instances(draft):
        if not instance.files:
            yield Finding(
                (*place, "files"),
                "is missing",
                "List every file of the model at this revision with its sha256 and its bytes",
            )
            continue
        if "config.json" not in instance.files:
            yield Finding((*place, "files"), "has no config.json, which vLLM reads first", "List it too")
        if not instance.weight_files:
            yield Finding((*place, "files"), "has no weights as safetensors", "List every *.safetensors file too")
        for path in instance.files:
            if path.lower().endswith(_UNSAFE):
                yield Finding(
                    (*place, "files", path), "can run a program when it is read", "Use the weights as safetensors"
                )


def volume(draft: Draft) -> Iterator[Finding]:
    """S3-85: the volume holds the files, and what vLLM compiles."""
    for place, instance in _instances(draft):
        room, needed = quantity_bytes(instance.model_cache_size), instance.total_bytes + CACHE_BYTES
        if instance.source is not None:
            # While a file is checked it is there twice.
            needed += max((file.bytes for file in instance.files.values()), default=0)
        if room < needed:
            yield Finding(
                (*place, "modelCacheSize"),
                f"is {gibibytes(needed - room)} too small for the files and {gibibytes(CACHE_BYTES)} of compiled code",
                f"Write at least {-(-needed // 1024**3)}Gi",
            )


def operations(draft: Draft) -> Iterator[Finding]:
    """S4-127: a server generates or embeds, and vectors have a space."""
    for place, instance in _instances(draft):
        vectors = {OPERATIONS[operation].vectors for operation in instance.operations}
        if len(vectors) > 1:
            yield Finding(
                (*place, "operations"), "has embedding beside others", "Give the embeddings an instance of their own"
            )
        if True in vectors and instance.embedding_space is None:
            yield Finding(
                (*place, "embeddingSpace"), "is missing, and embedding needs it", "Name the revision of the space"
            )
        if True not in vectors and instance.embedding_space is not None:
            yield Finding((*place, "embeddingSpace"), "is declared without the operation embedding", "Remove it")


def options(draft: Draft) -> Iterator[Finding]:
    """An instance sets no flag that Hearth sets, and none that does more than computing."""
    for place, instance in _instances(draft):
        for name, value in instance.options.items():
            kind = OPTIONS.get(name)
            if kind is None:
                yield Finding(
                    (*place, "options", name),
                    "is no flag that an instance may set",
                    f"Those are {', '.join(sorted(OPTIONS))}",
                )
            elif not fits(kind, value):
                takes = {"switch": "true or false", "number": "a whole number", "word": "a word"}[kind]
                yield Finding((*place, "options", name), f"takes {takes}", f"Write {takes}")


def bounds(draft: Draft) -> Iterator[Finding]:
    """S4-114: an instance keeps to the bounds of the environment, and to those of every deployment."""
    limits = draft.claim.policy.bounds if draft.valid("policy", "bounds") else None
    for place, instance in _instances(draft):
        if instance.max_model_len > LARGEST_MODEL_LENGTH:
            yield Finding((*place, "maxModelLen"), f"is above {LARGEST_MODEL_LENGTH}", "Lower it")
        if limits is None:
            continue
        yield from above_bounds(
            limits,
            place,
            requestTimeoutMs=("requestTimeoutMs", instance.request_timeout_ms),
            parallelRequests=("maxNumSeqs", instance.max_num_seqs),
            queuedRequests=("maxQueuedRequests", instance.max_queued_requests),
        )


def pricing(draft: Draft) -> Iterator[Finding]:
    """S4-123: a price says what it is."""
    for place, instance in _instances(draft):
        price = instance.pricing
        free = price.input_micros_per_million_tokens == price.output_micros_per_million_tokens == 0
        if price.basis == "provider" or free != (price.basis == "zero_marginal"):
            yield Finding(
                (*place, "pricing", "basis"),
                "does not go with the figures",
                "Write zero_marginal with two zeros, or amortized_internal with a price",
            )


def images(draft: Draft) -> Iterator[Finding]:
    """There are images for it, and one that holds a model has a digest."""
    if not draft.valid("policy", "images"):
        return
    local = draft.claim.policy.images == "localBuild"
    for place, instance in _instances(draft):
        if local:
            yield Finding(
                place, "needs vLLM, which the images of hearth:policy.images localBuild do not have", "Use pinned"
            )
        elif instance.source is not None and "@sha256:" not in instance.source.image.ref:
            yield Finding((*place, "source", "image", "ref"), "has no digest", "Append @sha256:<digest>")


def cluster_ranges(draft: Draft) -> Iterator[Finding]:
    """C-2: the zone in-cluster has ranges."""
    if draft.claim.policy.cluster_cidrs is None and draft.valid("policy", "clusterCidrs"):
        for _, instance in _instances(draft):
            yield Finding(
                ("policy", "clusterCidrs"),
                f"is missing, and the instance {instance.name} is in the zone in-cluster",
                "State the Service and Pod ranges of the cluster",
            )


def memory(draft: Draft) -> Iterator[Finding]:
    """S4-6: what cannot fit into the GPUs is refused, with by how much."""
    for place, instance in _instances(draft):
        architecture = architecture_of(instance)
        if architecture is None:
            yield Finding(
                (*place, "architecture"),
                f"is missing, and nothing here knows {instance.model_id}",
                "Write layers, keyValueHeads and headSize out of its config.json",
            )
            continue
        heads = architecture.key_value_heads
        if heads % instance.gpus and instance.gpus % heads:
            yield Finding(
                (*place, "gpus"),
                f"do not divide the {heads} key and value heads of the model",
                "Choose a number that divides them, or that they divide",
            )
            continue
        found = gpu_bytes(instance, draft.claim.node_pools)
        if found is None:
            yield Finding(
                (*place, "gpuMemory"),
                "is missing",
                "Write the memory of one GPU, such as 80Gi, or name a node pool whose product is known",
            )
        elif instance.weight_files:
            yield from _fits(place, instance, found)


def _fits(place: Place, instance: Instance, gpu_bytes: int) -> Iterator[Finding]:
    architecture = architecture_of(instance)
    if architecture is None:
        return
    needed, there = demand(instance, architecture), usable(gpu_bytes, instance.gpu_memory_utilization)
    if needed.total > there:
        yield Finding(
            place,
            f"needs {gibibytes(needed.total)} of each GPU ({gibibytes(needed.weights)} for weights, "
            f"{gibibytes(needed.cache)} for {instance.max_num_seqs} requests of {instance.max_model_len} tokens), "
            f"which is {gibibytes(needed.total - there)} more than {instance.gpu_memory_utilization} of its memory",
            "Use more or larger GPUs, a smaller or quantised model, kvCacheDtype fp8, or less of maxModelLen or "
            "maxNumSeqs",
        )


RULES: Final = (
    names,
    files,
    volume,
    operations,
    options,
    bounds,
    pricing,
    images,
    cluster_ranges,
    memory,
)
