"""Shapes whose machinery is not there yet: what is written is checked, and declaring one is refused (S4-158)."""

from typing import Annotated, Literal

from pydantic import Field

from hearth.claim.base import Identifier, OneLine, PositiveInt, Sha256, Shape
from hearth.claim.endpoints import ModelSource


class InstanceModel(Shape):
    """The model of a private instance."""

    source: ModelSource
    """Where it comes from."""
    sha256: Sha256
    """Digest of the model file."""


class PrivateInstance(Shape):
    """A model server with a route and tokens of its own (S2)."""

    namespace: Identifier
    """Namespace of the server."""
    model: InstanceModel
    """The model that it serves."""
    replicas: Annotated[int, Field(ge=1, le=20)] = 1
    """Pods."""
    host: OneLine | None = None
    """Public host; no public route when absent."""
    tokens: tuple[Identifier, ...] = ()
    """Names of the tokens that open it."""


class DevicePlugin(Shape):
    """GPUs through a device plugin."""

    resource: OneLine
    """Name of the extended resource."""
    count: PositiveInt
    """GPUs of one node."""
    product: OneLine
    """GPU product, as the node label says it."""


class Accelerator(Shape):
    """How a node pool offers its GPUs."""

    device_plugin: DevicePlugin
    """The extended resource of a device plugin."""


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
    """What makes the nodes."""
    accelerator: Accelerator
    """How the GPUs are offered."""
    limits: PoolLimits
    """Hard limits."""
    node_class_ref: NodeClassReference | None = None
    """The cloud's node class; for Karpenter."""


class Mesh(Shape):
    """Sharing models with other sites (S0, S1)."""

    enabled: bool = False
    """Whether this environment is part of a mesh."""
    node: Identifier | None = None
    """This site's name in the mesh."""
    members: tuple[Identifier, ...] = ()
    """Other sites."""
    shares: tuple[OneLine, ...] = Field(default=())
    """Deployments that are shared."""
