"""Wrong claims: node pools, and what is to run on them."""

from typing import Any

from tests.support.claims import existing_pool, instance, node_pool
from tests.unit.claim.case import Case
from tests.unit.claim.examples import put

PLACE = "hearth:nodePools.h100"


def pool(title: str, expected: str, values: dict[str, Any]) -> Case:
    return Case(title, [put("nodePools/h100", values)], [f"{PLACE}{expected}"])


def runs(title: str, expected: list[str], *instances: dict[str, Any], values: dict[str, Any] | None = None) -> Case:
    changes = [
        put("llm/gpuAcceleration", True),
        put("llm/instances", list(instances)),
        put("nodePools/h100", values or node_pool()),
    ]
    return Case(title, changes, expected)


def on_pool(name: str = "qwen", **changes: Any) -> dict[str, Any]:
    made = {**instance(name), "nodePool": "h100", **changes}
    made.pop("gpuMemory")
    return made


PLUGIN = node_pool()["accelerator"]["devicePlugin"]
DEVICES = existing_pool()["accelerator"]["dynamicResources"]

NODE_POOLS = (
    pool(
        "one GPU by a device plugin and by DRA",
        (
            ".accelerator: must have exactly one of devicePlugin and dynamicResources. Name the one that the nodes "
            "have; both would hand out one GPU twice."
        ),
        existing_pool(accelerator={"devicePlugin": PLUGIN, "dynamicResources": DEVICES}),
    ),
    pool(
        "nodes without GPUs",
        (
            ".accelerator: must have exactly one of devicePlugin and dynamicResources. Name the one that the nodes "
            "have; both would hand out one GPU twice."
        ),
        existing_pool(accelerator={}),
    ),
    pool(
        "DRA on nodes of Karpenter",
        (
            ".accelerator.dynamicResources: is behind a feature gate of Karpenter, which Hearth does not count on. Use "
            "devicePlugin, or backend existing."
        ),
        node_pool(accelerator={"dynamicResources": DEVICES}),
    ),
    pool(
        "a pool of GKE",
        ".backend: gke is not supported yet. Use karpenter, or existing with labels.",
        existing_pool(backend="gke"),
    ),
    pool(
        "Karpenter without a node class",
        ".nodeClassRef: is missing, and Karpenter needs it. Name your node class.",
        node_pool(nodeClassRef=None),
    ),
    pool(
        "Karpenter with labels",
        ".labels: belongs to existing pools. Remove it: Hearth labels these nodes.",
        node_pool(labels={"a": "b"}),
    ),
    pool(
        "existing nodes without labels",
        ".labels: is missing. Write the labels that these nodes have and others have not.",
        existing_pool(labels={}),
    ),
    pool(
        "existing nodes that expire",
        ".expireAfterHours: belongs to Karpenter. Remove it, or use backend karpenter.",
        existing_pool(expireAfterHours=100),
    ),
    runs(
        "an instance on a pool that is not declared",
        ["hearth:llm.instances[0].nodePool: is not declared. Declared below hearth:nodePools: h100."],
        instance("qwen", nodePool="other"),
    ),
    runs(
        "an instance that is larger than a node",
        ["hearth:llm.instances[0].gpus: are more than the 4 of a node of h100. Use a pool with larger nodes."],
        on_pool(gpus=8),
    ),
    runs(
        "instances above the limit of their pool",
        [
            (
                "hearth:llm.instances[2].nodePool: has a limit of 8 GPUs, and the instances up to this one need 9. "
                "Raise hearth:nodePools.h100.limits.gpus, or use fewer."
            )
        ],
        on_pool("a", gpus=4),
        on_pool("b", gpus=4, modelId="Qwen/Qwen2.5-7B"),
        on_pool("c", gpus=1, modelId="Qwen/Qwen2.5-14B"),
    ),
    runs(
        "S4-6 the memory of the pool's product counts",
        [
            (
                "hearth:llm.instances[0]: needs 23.2 GiB of each GPU (14.2 GiB for weights, 7 GiB for 16 requests of "
                "8192 tokens), which is 3 GiB more than 0.90 of its memory. Use more or larger GPUs, a smaller or "
                "quantised model, kvCacheDtype fp8, or less of maxModelLen or maxNumSeqs."
            )
        ],
        on_pool(),
        values=node_pool(accelerator={"devicePlugin": {**PLUGIN, "product": "NVIDIA-L4"}}),
    ),
)
