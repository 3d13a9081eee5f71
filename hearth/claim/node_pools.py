"""`hearth:nodePools`: GPU nodes that instances run on (S3-84), made by Karpenter or there already."""

from typing import Annotated, Literal

from pydantic import Field

from hearth.claim.base import Identifier, OneLine, PositiveInt, Quantity, Shape, matching
from hearth.claim.instances import GPU_RESOURCE, LabelKey, LabelValue

GpuCount = Annotated[int, Field(ge=1, le=16)]
"""GPUs of one node."""


class DevicePlugin(Shape):
    """GPUs that a device plugin offers as an extended resource."""

    resource: LabelKey = GPU_RESOURCE
    """Name of the extended resource."""
    count: GpuCount
    """GPUs of one node."""
    product: LabelValue
    """The product, as the node's label `nvidia.com/gpu.product` says it; its memory is looked up by it."""


class DynamicResources(Shape):
    """GPUs that a DRA driver offers as devices (`resource.k8s.io/v1`)."""

    device_class: Annotated[
        str,
        matching(
            r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$",
            "the name of a DeviceClass, such as gpu.nvidia.com",
            max_length=253,
        ),
    ]
    """DeviceClass of the GPUs."""
    count: GpuCount
    """GPUs of one node."""
    selectors: Annotated[tuple[OneLine, ...], Field(max_length=8)] = ()
    """CEL expressions that a device has to satisfy, all of them."""


class Accelerator(Shape):
    """How the nodes offer their GPUs: by a device plugin or by DRA, and never by both, or one GPU is given twice."""

    device_plugin: DevicePlugin | None = None
    """A device plugin."""
    dynamic_resources: DynamicResources | None = None
    """A DRA driver."""
    memory: Quantity | None = None
    """Memory of each GPU; that of the product when absent."""


class PoolLimits(Shape):
    """Hard limits of a node pool."""

    gpus: PositiveInt
    """Most GPUs at once."""


class NodeClassReference(Shape):
    """The cloud's node class of a Karpenter pool."""

    group: OneLine
    """API group."""
    kind: OneLine
    """Kind."""
    name: Identifier
    """Name."""


class NodePool(Shape):
    """GPU nodes (S3-84)."""

    backend: Literal["karpenter", "gke", "clusterApi", "existing"]
    """What makes the nodes; `existing` makes none."""
    accelerator: Accelerator
    """How the GPUs are offered."""
    limits: PoolLimits
    """Hard limits. Those of `existing` say what there is."""
    node_class_ref: NodeClassReference | None = None
    """The cloud's node class; required for Karpenter, and for nothing else."""
    instance_types: Annotated[tuple[LabelValue, ...], Field(max_length=60)] = ()
    """Types of machines that Karpenter may choose from; all that its node class has, when empty."""
    capacity_type: Literal["on-demand", "spot", "reserved"] = "on-demand"
    """What Karpenter buys. A `spot` node may go within two minutes, with what it answers."""
    expire_after_hours: Annotated[int, Field(ge=24, le=8_760)] | None = None
    """Age at which Karpenter replaces a node, in hours; never when absent."""
    labels: dict[LabelKey, LabelValue] = Field(default_factory=dict)
    """Labels that tell the nodes of an `existing` pool from others; required for it, and for nothing else."""

    @property
    def gpus_of_a_node(self) -> int:
        """Return how many GPUs one node has."""
        offered = self.accelerator.device_plugin or self.accelerator.dynamic_resources
        return offered.count if offered else 0
