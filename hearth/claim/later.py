"""Shapes whose machinery is not there yet: what is written is checked, and declaring one is refused (S4-158)."""

from typing import Annotated

from pydantic import Field

from hearth.claim.base import Identifier, OneLine, Sha256, Shape
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
