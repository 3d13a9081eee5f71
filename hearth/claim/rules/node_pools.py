"""Node pools: one way to a GPU, and room for what is to run there (S3-84)."""

from collections.abc import Iterator
from typing import Final

from hearth.claim.base import quantity_bytes
from hearth.claim.draft import Draft, Finding
from hearth.claim.gpu_memory import product_bytes
from hearth.claim.instances import Instance
from hearth.claim.node_pools import NodePool
from hearth.claim.problems import listed
from hearth.claim.reader import Path as Place

UNSUPPORTED: Final = ("gke", "clusterApi")
"""Back-ends whose machinery comes later."""


def gpu_bytes(instance: Instance, pools: dict[str, NodePool]) -> int | None:
    """Return the memory of each GPU of an instance in bytes: declared, else of its pool, else none.

    Args:
        instance: the instance.
        pools: node pools by name.
    """
    if instance.gpu_memory is not None:
        return quantity_bytes(instance.gpu_memory)
    pool = pools.get(instance.node_pool) if instance.node_pool else None
    if pool is None:
        return None
    if pool.accelerator.memory is not None:
        return quantity_bytes(pool.accelerator.memory)
    return product_bytes(pool.accelerator.device_plugin.product) if pool.accelerator.device_plugin else None


def one_way_to_a_gpu(draft: Draft) -> Iterator[Finding]:
    """A device plugin and a DRA driver on one node hand out one GPU twice."""
    for name, pool in draft.claim.node_pools.items():
        place: Place = ("nodePools", name)
        found = [pool.accelerator.device_plugin, pool.accelerator.dynamic_resources]
        if found.count(None) != 1:
            yield Finding(
                (*place, "accelerator"),
                "must have exactly one of devicePlugin and dynamicResources",
                "Name the one that the nodes have; both would hand out one GPU twice",
            )
        if pool.backend == "karpenter" and pool.accelerator.dynamic_resources is not None:
            yield Finding(
                (*place, "accelerator", "dynamicResources"),
                "is behind a feature gate of Karpenter, which Hearth does not count on",
                "Use devicePlugin, or backend existing",
            )


def backends(draft: Draft) -> Iterator[Finding]:
    """Each back-end has its own fields, and no others."""
    for name, pool in draft.claim.node_pools.items():
        place: Place = ("nodePools", name)
        if pool.backend in UNSUPPORTED:
            yield Finding(
                (*place, "backend"), f"{pool.backend} is not supported yet", "Use karpenter, or existing with labels"
            )
            continue
        karpenter = pool.backend == "karpenter"
        if karpenter and pool.node_class_ref is None:
            yield Finding((*place, "nodeClassRef"), "is missing, and Karpenter needs it", "Name your node class")
        if not karpenter and not pool.labels:
            yield Finding(
                (*place, "labels"), "is missing", "Write the labels that these nodes have and others have not"
            )
        if karpenter and pool.labels:
            yield Finding((*place, "labels"), "belongs to existing pools", "Remove it: Hearth labels these nodes")
        for field in ("node_class_ref", "instance_types", "capacity_type", "expire_after_hours"):
            if not karpenter and field in pool.model_fields_set:
                shown = NodePool.model_fields[field].alias or field
                yield Finding((*place, shown), "belongs to Karpenter", "Remove it, or use backend karpenter")


def room(draft: Draft) -> Iterator[Finding]:
    """An instance fits on a node of its pool, and all of them into its limit."""
    if not draft.claim.llm.gpu_acceleration or not draft.whole("nodePools"):
        return
    used: dict[str, int] = {}
    for position, instance in zip(draft.positions["instances"], draft.claim.llm.instances, strict=True):
        place: Place = ("llm", "instances", position)
        if instance.node_pool is None:
            continue
        pool = draft.claim.node_pools.get(instance.node_pool)
        if pool is None:
            if ("nodePools", instance.node_pool) not in draft.invalid:
                yield Finding(
                    (*place, "nodePool"),
                    "is not declared",
                    f"Declared below hearth:nodePools: {listed(draft.claim.node_pools)}",
                )
            continue
        if instance.gpus > pool.gpus_of_a_node:
            yield Finding(
                (*place, "gpus"),
                f"are more than the {pool.gpus_of_a_node} of a node of {instance.node_pool}",
                "Use a pool with larger nodes",
            )
        used[instance.node_pool] = used.get(instance.node_pool, 0) + instance.gpus
        if used[instance.node_pool] > pool.limits.gpus:
            yield Finding(
                (*place, "nodePool"),
                f"has a limit of {pool.limits.gpus} GPUs, and the instances up to this one need "
                f"{used[instance.node_pool]}",
                f"Raise hearth:nodePools.{instance.node_pool}.limits.gpus, or use fewer",
            )


RULES: Final = (one_way_to_a_gpu, backends, room)
