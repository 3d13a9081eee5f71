"""How a model gets into a Pod: fetched by init containers, used only with the declared digest (S2-6, U-22)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from hearth.claim.endpoints import RuntimeModel
from hearth.claim.names import tagged_model
from hearth.claim.problems import ClaimError, Problem
from hearth.compile.images import ImageProfile, image
from hearth.compile.manifests.common import TEMPORARY, container, literal, mount, secret_volume
from hearth.compile.manifests.credentials import HUB_CREDENTIALS
from hearth.topology.topology import Topology
from hearth.topology.upstreams import Upstream

MODELS: Final = "/models"
"""Where the model files are in every container of the Pod."""


@dataclass(frozen=True)
class PodModel:
    """One model of a runtime in a Pod."""

    index: int
    """Its place in the claim."""
    name: str
    """Name that the deployments ask for it by."""
    model: RuntimeModel
    """Where it comes from."""

    @property
    def file(self) -> str:
        """Return its path in the Pod."""
        return f"{MODELS}/{self.index}.gguf"

    @property
    def sha256(self) -> str:
        """Return its declared digest as 64 hexadecimal digits."""
        return self.model.digest.removeprefix("sha256:")

    @property
    def from_library(self) -> bool:
        """Return whether Ollama pulls it from its library."""
        return self.model.source.ollama is not None

    @property
    def url(self) -> str | None:
        """Return the address that it is downloaded from, if it is."""
        source = self.model.source
        if source.hugging_face is not None:
            found = source.hugging_face
            return f"https://huggingface.co/{found.repo}/resolve/{found.revision}/{found.file}"
        return source.url


def _refuse(endpoint_id: str, path: str, message: str, remedy: str) -> ClaimError:
    return ClaimError([Problem(f"hearth:endpoints.{endpoint_id}.runtime{path}", message, remedy)])


def pod_models(upstream: Upstream) -> tuple[PodModel, ...]:
    """Return the models of an endpoint in a Pod, each with the name that deployments ask for it by.

    A model of the Ollama library has a name of its own. Any other has the one name that the deployments on this
    endpoint use, so there can be one of those at most.

    Raises:
        ClaimError: a source does not work in a Pod, or it cannot be told which model a deployment means.
    """
    endpoint_id, runtime = upstream.id.name, upstream.runtime
    if runtime is None:
        return ()
    if runtime.engine == "vllm":
        # The files of one model, under the one name that it is served as.
        return tuple(PodModel(index, upstream.models[0], model) for index, model in enumerate(runtime.models))
    for index, model in enumerate(runtime.models):
        if model.source.file is not None:
            raise _refuse(
                endpoint_id,
                f".models[{index}].source.file",
                "a Pod sees no files of its host",
                "Use image, url or huggingFace",
            )
        if model.source.ollama is not None and runtime.engine != "ollama":
            raise _refuse(
                endpoint_id, f".models[{index}].source.ollama", "only Ollama has that library", "Use engine: ollama"
            )
    if runtime.engine == "llamaCpp" and len(runtime.models) > 1:
        raise _refuse(endpoint_id, ".models", "llama.cpp serves one model", "Give each model an endpoint of its own")
    library = {tagged_model(model.source.ollama) for model in runtime.models if model.source.ollama is not None}
    wanted = {model for model in upstream.models if tagged_model(model) not in library}
    unnamed = [model for model in runtime.models if model.source.ollama is None]
    if len(unnamed) > 1 or len(wanted) > 1 or (wanted and not unnamed):
        raise _refuse(
            endpoint_id,
            ".models",
            f"{len(wanted)} model name(s) of deployments and {len(unnamed)} source(s) outside the Ollama library "
            "cannot be told which belongs to which",
            "Let one deployment model name belong to one such source",
        )
    name = next(iter(wanted), endpoint_id)
    return tuple(PodModel(index, model.source.ollama or name, model) for index, model in enumerate(runtime.models))


def fetch_containers(
    topology: Topology, models: Sequence[PodModel], runtime: ImageProfile, resources: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return the init containers that bring the model files.

    The file is checked in llama.cpp's image, which has curl and sha256sum in both builds, and never in the image
    that it came from, which could say anything. That one needs `cp`, and the file readable for everyone.

    Args:
        topology: the topology.
        models: the models.
        runtime: image of the runtime, whose user owns the files.
        resources: resources of each container.
    """
    checker = image(topology.policy, "llamacpp")
    made = []
    for model in models:
        if model.from_library:
            continue
        mounts = [mount("models", MODELS)]
        source = model.model.source.image
        if source is not None:
            copier = ImageProfile(source.ref, runtime.user, runtime.group, ("cp",))
            made.append(
                container(
                    f"copy-{model.index}",
                    copier,
                    args=[source.path, f"{model.file}.part"],
                    resources=resources,
                    mounts=mounts,
                )
            )
        environment = [{"name": "MODEL", "value": model.file}, {"name": "SHA256", "value": model.sha256}]
        if model.url is not None:
            environment.append({"name": "URL", "value": model.url})
        hub = [mount("hub", "/etc/hub-credentials", read_only=True)] if _needs_hub([model]) else []
        made.append(
            container(
                f"fetch-{model.index}",
                ImageProfile(checker.reference, runtime.user, runtime.group, ()),
                command=["/bin/sh", "/etc/llm-model/fetch.sh"],
                environment=environment,
                resources=resources,
                mounts=[*mounts, mount("scripts", "/etc/llm-model", read_only=True), mount("tmp", TEMPORARY), *hub],
            )
        )
    return made


def ollama_containers(
    models: Sequence[PodModel],
    runtime: ImageProfile,
    environment: Sequence[dict[str, Any]],
    resources: dict[str, Any],
) -> list[dict[str, Any]]:
    """Return the init containers that give Ollama its models.

    Args:
        models: the models.
        runtime: Ollama's image.
        environment: the environment that Ollama will serve with.
        resources: resources of each container.
    """
    made = []
    for model in models:
        own = [{"name": "MODEL_NAME", "value": literal(model.name)}]
        if model.from_library:
            own += [
                {"name": "SHA256", "value": model.sha256},
                {"name": "MANIFEST", "value": library_manifest(model.name)},
            ]
        else:
            own.append({"name": "MODEL_FILE", "value": model.file})
        made.append(
            container(
                f"import-{model.index}",
                runtime,
                command=["/bin/sh", "/etc/llm-model/ollama.sh"],
                environment=[*environment, *own],
                resources=resources,
                mounts=[
                    mount("models", MODELS),
                    mount("library", "/library"),
                    mount("scripts", "/etc/llm-model", read_only=True),
                    mount("tmp", TEMPORARY),
                ],
            )
        )
    return made


def library_manifest(name: str) -> str:
    """Return where Ollama keeps the manifest of a model, below its folder of manifests."""
    path, _, tag = name.partition(":")
    parts = path.split("/")
    host = parts[0] if len(parts) > 2 else "registry.ollama.ai"
    rest = parts[1:] if len(parts) > 2 else (parts if len(parts) == 2 else ["library", *parts])
    return "/".join([host, *rest, tag or "latest"])


def fetches_from_network(models: Sequence[PodModel]) -> bool:
    """Return whether the Pod has to reach addresses outside the cluster before its runtime starts."""
    return any(model.from_library or model.url is not None for model in models)


def _needs_hub(models: Sequence[PodModel]) -> bool:
    return any(model.model.source.hugging_face is not None for model in models)


def hub_volume(models: Sequence[PodModel]) -> list[dict[str, Any]]:
    """Return the volume with the optional Hugging Face token, if a model comes from there (S3-44)."""
    return [secret_volume("hub", HUB_CREDENTIALS, ["token"], optional=True)] if _needs_hub(models) else []
