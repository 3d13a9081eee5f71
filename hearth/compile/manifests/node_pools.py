"""Node pools that something makes nodes for, and how a Pod gets onto one (S3-84).

A pool's grace outlasts the longest answer of what runs on it, because both are worked out from the same instances.
Nodes are replaced one at a time, and an empty one is given back.
"""

from typing import Any, Final

from hearth.claim.instances import GPU_NODE, GPU_RESOURCE, Instance
from hearth.claim.node_pools import DynamicResources, NodePool
from hearth.compile.manifests.common import Object, labels, metadata
from hearth.compile.manifests.drain import grace_seconds
from hearth.topology.topology import Topology

POOL_LABEL: Final = "hearth.dev/node-pool"
"""Label of the nodes of a pool that Hearth declares."""
SHORTEST_GRACE_SECONDS: Final = 1_800
"""Least time that Karpenter gives a node's Pods to end, in seconds."""
NODE_MARGIN_SECONDS: Final = 120
"""Time of a node beside that of its Pods, in seconds."""
EMPTY_SECONDS: Final = 600
"""How long an empty node is kept, in seconds: an instance that changes comes back to it."""

_COMPONENT: Final = "node-pool"


def node_pools(topology: Topology) -> list[Object]:
    """Return the pools that Karpenter makes nodes for; the others are there already."""
    return [
        Object.named(_karpenter(topology, name, pool))
        for name, pool in sorted(topology.node_pools.items())
        if pool.backend == "karpenter"
    ]


def _grace(topology: Topology, name: str) -> int:
    found = [
        grace_seconds(upstream.runtime.instance.request_timeout_ms)
        for upstream in topology.pods
        if upstream.runtime and upstream.runtime.instance and upstream.runtime.instance.node_pool == name
    ]
    return max(SHORTEST_GRACE_SECONDS, max(found, default=0) + NODE_MARGIN_SECONDS)


def _karpenter(topology: Topology, name: str, pool: NodePool) -> dict[str, Any]:
    plugin, node_class = pool.accelerator.device_plugin, pool.node_class_ref
    if plugin is None or node_class is None:
        raise ValueError(f"node pool {name} has no device plugin or no node class; the rules of the claim refuse it")
    requirements: list[dict[str, Any]] = [
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": [pool.capacity_type]}
    ]
    if pool.instance_types:
        requirements.append(
            {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": list(pool.instance_types)}
        )
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name, "labels": labels(name, _COMPONENT)},
        "spec": {
            "template": {
                "metadata": {"labels": {POOL_LABEL: name, **GPU_NODE}},
                "spec": {
                    "nodeClassRef": {"group": node_class.group, "kind": node_class.kind, "name": node_class.name},
                    "requirements": requirements,
                    # Nothing else runs where GPUs are paid for.
                    "taints": [{"key": GPU_RESOURCE, "value": "true", "effect": "NoSchedule"}],
                    "expireAfter": f"{pool.expire_after_hours}h" if pool.expire_after_hours else "Never",
                    "terminationGracePeriod": f"{_grace(topology, name)}s",
                },
            },
            "limits": {plugin.resource: pool.limits.gpus},
            "disruption": {
                # A node with a model on it is never given up to save money.
                "consolidationPolicy": "WhenEmpty",
                "consolidateAfter": f"{EMPTY_SECONDS}s",
                "budgets": [{"nodes": "1"}],
            },
        },
    }


def pool_of(topology: Topology, instance: Instance) -> NodePool | None:
    """Return the node pool of an instance; none for one that runs on any node with a GPU."""
    return topology.node_pools[instance.node_pool] if instance.node_pool else None


def node_labels(instance: Instance, pool: NodePool | None) -> dict[str, str]:
    """Return the labels of the nodes that an instance may run on.

    Args:
        instance: the instance.
        pool: its node pool.
    """
    if pool is None or instance.node_pool is None:
        return {**GPU_NODE, **instance.scheduling.node_selector}
    own = pool.labels if pool.backend == "existing" else {**GPU_NODE, POOL_LABEL: instance.node_pool}
    return {**own, **instance.scheduling.node_selector}


def claim_template(topology: Topology, name: str, devices: DynamicResources, gpus: int) -> Object:
    """Return what a Pod asks a DRA driver for.

    Args:
        topology: the topology.
        name: its name.
        devices: how the pool offers its GPUs.
        gpus: how many the Pod needs.
    """
    request: dict[str, Any] = {
        "deviceClassName": devices.device_class,
        "allocationMode": "ExactCount",
        "count": gpus,
    }
    if devices.selectors:
        request["selectors"] = [{"cel": {"expression": expression}} for expression in devices.selectors]
    return Object.named(
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": metadata(topology.namespace, name, "runtime"),
            "spec": {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": request}]}}},
        }
    )
