"""Wrong claims: vLLM instances."""

from typing import Any

from tests.support.claims import instance, model_file
from tests.unit.claim.case import Case
from tests.unit.claim.examples import VALID, Change, drop, put

PLACE = "hearth:llm.instances[0]"


def gpu(**changes: Any) -> list[Change]:
    """GPUs, and one instance with changes."""
    return [put("llm/gpuAcceleration", True), put("llm/instances", [{**instance("qwen"), **changes}])]


def case(title: str, expected: str | list[str], /, *more: Change, **changes: Any) -> Case:
    found = [expected] if isinstance(expected, str) else expected
    return Case(title, [*gpu(**changes), *more], [f"{PLACE}{text}" for text in found])


FILES: dict[str, Any] = instance("qwen")["files"]

INSTANCES = (
    case(
        "an instance with a long name",
        ".name: is longer than 35 characters. Choose a shorter name.",
        name="q" * 36,
    ),
    case(
        "an instance with the id of a deployment",
        (
            ".name: makes the id vllm-qwen, which stands below deployments already. Rename the instance, or what "
            "stands there."
        ),
        put("deployments/vllm-qwen", VALID["deployments"]["gemma-pod"]),
    ),
    case(
        "U-22 an instance without files",
        ".files: is missing. List every file of the model at this revision with its sha256 and its bytes.",
        files={},
    ),
    case(
        "an instance without a configuration",
        ".files: has no config.json, which vLLM reads first. List it too.",
        files={"m.safetensors": model_file()},
    ),
    case(
        "an instance without weights",
        ".files: has no weights as safetensors. List every *.safetensors file too.",
        files={"config.json": model_file()},
    ),
    case(
        "an instance with weights that are a program",
        '.files["pytorch_model.bin"]: can run a program when it is read. Use the weights as safetensors.',
        files={**FILES, "pytorch_model.bin": model_file()},
    ),
    case(
        "S3-85 an instance whose volume is too small",
        ".modelCacheSize: is 2.2 GiB too small for the files and 8 GiB of compiled code. Write at least 23Gi.",
        modelCacheSize="20Gi",
    ),
    case(
        "an instance whose files come out of an image, and whose volume has no room for one of them twice",
        ".modelCacheSize: is 4.7 GiB too small for the files and 8 GiB of compiled code. Write at least 30Gi.",
        source={"image": {"ref": f"registry.example/qwen@sha256:{'c' * 64}", "path": "/models/qwen"}},
        modelCacheSize="25Gi",
    ),
    case(
        "an instance that generates and embeds",
        [
            ".embeddingSpace: is missing, and embedding needs it. Name the revision of the space.",
            ".operations: has embedding beside others. Give the embeddings an instance of their own.",
        ],
        operations=["chat", "embedding"],
    ),
    case(
        "S4-127 an embedding space without embeddings",
        ".embeddingSpace: is declared without the operation embedding. Remove it.",
        embeddingSpace="e/1",
    ),
    case(
        "an instance that trusts what a model brings",
        (
            ".options.trust-remote-code: is no flag that an instance may set. Those are async-scheduling, "
            "attention-backend, block-size, disable-custom-all-reduce, dtype, enable-chunked-prefill, "
            "enable-expert-parallel, enable-prefix-caching, enforce-eager, language-model-only, "
            "long-prefill-token-threshold, max-logprobs, max-num-batched-tokens, moe-backend, optimization-level, "
            "performance-mode, reasoning-parser, seed, tokenizer-mode."
        ),
        options={"trust-remote-code": True},
    ),
    case(
        "options of another kind",
        [
            ".options.block-size: takes a whole number. Write a whole number.",
            ".options.dtype: takes a word. Write a word.",
            ".options.enforce-eager: takes true or false. Write true or false.",
        ],
        options={"enforce-eager": 1, "block-size": True, "dtype": 16},
    ),
    case(
        "S4-114 an instance above the bounds",
        [
            (
                ".maxNumSeqs: is above hearth:policy.bounds.parallelRequests, which is 8. Lower it, or have the policy "
                "changed."
            ),
            (
                ".requestTimeoutMs: is above hearth:policy.bounds.requestTimeoutMs, which is 60000. Lower it, or have "
                "the policy changed."
            ),
        ],
        put("policy/bounds", {"requestTimeoutMs": 60_000, "parallelRequests": 8}),
        put("endpoints", {}),
        put("deployments", {}),
        put("aliases", {}),
        put("tenants", {}),
    ),
    case(
        "S4-123 an instance with a price that is none",
        (
            ".pricing.basis: does not go with the figures. Write zero_marginal with two zeros, or amortized_internal "
            "with a price."
        ),
        pricing={
            "basis": "amortized_internal",
            "version": "1",
            "inputMicrosPerMillionTokens": 0,
            "outputMicrosPerMillionTokens": 0,
        },
    ),
    case(
        "a model in an image without a digest",
        ".source.image.ref: has no digest. Append @sha256:<digest>.",
        source={"image": {"ref": "registry.example/models/qwen:1", "path": "/models/qwen"}},
    ),
    case(
        "a model that nothing here knows",
        (
            ".architecture: is missing, and nothing here knows acme/unknown. Write layers, keyValueHeads and headSize "
            "out of its config.json."
        ),
        modelId="acme/unknown",
    ),
    case(
        "heads that do not divide over the GPUs",
        (
            ".gpus: do not divide the 4 key and value heads of the model. Choose a number that divides them, or that "
            "they divide."
        ),
        gpus=3,
    ),
    case(
        "a GPU of unknown size",
        (
            ".gpuMemory: is missing. Write the memory of one GPU, such as 80Gi, or name a node pool whose product is "
            "known."
        ),
        gpuMemory=None,
    ),
    case(
        "S4-6 a model that does not fit",
        (
            ": needs 23.2 GiB of each GPU (14.2 GiB for weights, 7 GiB for 16 requests of 8192 tokens), which is "
            "1.6 GiB more than 0.90 of its memory. Use more or larger GPUs, a smaller or quantised model, kvCacheDtype "
            "fp8, or less of maxModelLen or maxNumSeqs."
        ),
        gpuMemory="24Gi",
    ),
    Case(
        "C-2 an instance in a cluster without ranges",
        [
            *gpu(),
            drop("policy/clusterCidrs"),
            put("endpoints", {}),
            put("deployments", {}),
            put("aliases", {}),
            put("tenants", {}),
        ],
        [
            (
                "hearth:policy.clusterCidrs: is missing, and the instance qwen is in the zone in-cluster. State the "
                "Service and Pod ranges of the cluster."
            )
        ],
    ),
)
