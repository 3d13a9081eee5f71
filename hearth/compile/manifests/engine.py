"""What each engine brings to the Pod that its sidecar stands in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hearth.compile.images import ImageProfile
from hearth.compile.manifests.common import Object


@dataclass(frozen=True)
class EnginePod:
    """The part of a Pod that is the engine's own."""

    image: ImageProfile
    """Image of the runtime, whose group owns the volumes."""
    init_containers: Sequence[dict[str, Any]]
    """What brings the model, and the runtime itself as the last."""
    volumes: Sequence[dict[str, Any]]
    """Volumes beside those of the sidecar, of the scripts and of temporary files."""
    objects: Sequence[Object] = ()
    """Objects beside the Pod's own."""
    account: str = "llm-runtime"
    """ServiceAccount of the Pod."""
    scripts: tuple[str, tuple[str, ...]] = ("llm-model-scripts", ("fetch.sh", "ollama.sh"))
    """The ConfigMap of what its containers run, and the files in it."""
    temporary: str = "128Mi"
    """Size of the volume for temporary files."""
    download_seconds: int = 0
    """Time that bringing the model may take, in seconds."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the Pod: where it may run."""
