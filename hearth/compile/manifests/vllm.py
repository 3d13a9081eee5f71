"""vLLM in a Pod: its arguments, its environment, and the volume with its model (S3-84 … S3-86, S4-5, S4-6).

The sidecar in front of it passes the declared operations with exact paths, because vLLM asks for its key on some of its
routes alone: `/invocations`, `/tokenize`, `/metrics`, `/load` and others answer anybody who reaches its port.
"""

from math import ceil
from typing import Any, Final

from hearth.claim.instances import GPU_RESOURCE, Instance
from hearth.claim.node_pools import NodePool
from hearth.claim.operations import only_vectors
from hearth.claim.vllm import OPTIONS
from hearth.compile.images import ImageProfile, image
from hearth.compile.manifests.common import (
    TEMPORARY,
    Object,
    config_map,
    config_volume,
    container,
    content_digest,
    empty_dir,
    execute,
    literal,
    metadata,
    mount,
    probe,
    resources,
    secret_variable,
)
from hearth.compile.manifests.engine import EnginePod
from hearth.compile.manifests.model import MODELS, PodModel, hub_volume
from hearth.compile.manifests.node_pools import claim_template, node_labels, pool_of
from hearth.compile.names import FETCHED_AGAIN_ANNOTATION
from hearth.topology.instances import shared_memory_mebibytes
from hearth.topology.topology import Topology
from hearth.topology.upstreams import Runtime, Upstream

GPU_CLAIM: Final = "gpus"
"""What a Pod calls its claim of GPUs by DRA."""
SERVICE_ACCOUNT: Final = "llm-instance"
"""ServiceAccount of all instances."""
CACHE: Final = "/cache"
"""Where vLLM keeps what it compiles, and everything else that it writes (S3-86)."""
SHUTDOWN_SECONDS: Final = 15
"""How long vLLM itself finishes requests; there are none by then, because the sidecar drains before it is stopped."""
DOWNLOAD_BYTES_PER_SECOND: Final = 20_000_000
"""Slowest download that is planned for, in bytes a second."""
MOST_ANSWERS: Final = 64
"""Most answers to one request (`n`)."""

_VOLUME: Final = "/volume"
_SNAPSHOTS: Final = f"{_VOLUME}/snapshots"
_COMPONENT: Final = "runtime"
_ALIVE: Final = "import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=float(sys.argv[2]))"


def arguments(upstream: Upstream, runtime: Runtime, instance: Instance) -> list[str]:
    """Return the arguments of `vllm serve`: a vector, never a text that a shell reads.

    Args:
        upstream: the endpoint.
        runtime: its runtime.
        instance: what the claim says.
    """
    made = [MODELS, "--host", runtime.loopback.number, "--port", str(runtime.loopback.port)]
    made += ["--served-model-name", literal(upstream.models[0])]
    made += ["--max-model-len", str(instance.max_model_len), "--max-num-seqs", str(instance.max_num_seqs)]
    made += ["--gpu-memory-utilization", instance.gpu_memory_utilization]
    made += ["--tensor-parallel-size", str(instance.gpus)]
    # What a model's own file says of sampling is the client's to decide.
    made += ["--generation-config", "vllm"]
    made += ["--kv-cache-dtype", instance.kv_cache_dtype]
    made += ["--shutdown-timeout", str(SHUTDOWN_SECONDS)]
    # No picture is fetched from an address of a prompt: no host has this name.
    made += ["--allowed-media-domains", "none.invalid"]
    made += ["--disable-fastapi-docs", "--disable-uvicorn-access-log"]
    if instance.quantization != "checkpoint":
        made += ["--quantization", instance.quantization]
    if instance.tool_call_parser is not None:
        made += ["--enable-auto-tool-choice", "--tool-call-parser", instance.tool_call_parser]
    if only_vectors(upstream.operations):
        made += ["--runner", "pooling"]
    for name, value in sorted(instance.options.items()):
        if OPTIONS[name] == "switch":
            made.append(f"--{name}" if value else f"--no-{name}")
        else:
            made += [f"--{name}", str(value)]
    return made


def environment(secret: Any) -> list[dict[str, Any]]:
    """Return vLLM's environment: every folder that it or a library writes to, and nothing that leaves the Pod.

    Args:
        secret: name of the endpoint's Secret, with the key that vLLM asks for.
    """
    settings = {
        "HOME": f"{CACHE}/home",
        # A library asks for the user's name, and the number has none.
        "USER": "vllm",
        "LOGNAME": "vllm",
        "HF_HOME": f"{CACHE}/huggingface",
        "VLLM_CACHE_ROOT": f"{CACHE}/vllm",
        "VLLM_CONFIG_ROOT": f"{CACHE}/config",
        "TRITON_CACHE_DIR": f"{CACHE}/triton",
        "TORCHINDUCTOR_CACHE_DIR": f"{CACHE}/inductor",
        "NUMBA_CACHE_DIR": f"{CACHE}/numba",
        "XDG_CACHE_HOME": f"{CACHE}/xdg",
        "XDG_CONFIG_HOME": f"{CACHE}/config",
        "TMPDIR": TEMPORARY,
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "VLLM_MEDIA_URL_ALLOW_REDIRECTS": "0",
        "VLLM_MAX_N_SEQUENCES": str(MOST_ANSWERS),
    }
    made: list[dict[str, Any]] = [{"name": name, "value": value} for name, value in settings.items()]
    # Not an argument: those can be read by everyone in the Pod.
    return [*made, secret_variable("VLLM_API_KEY", secret, "runtime-key")]


def snapshot_name(instance: Instance) -> str:
    """Return the folder of an instance's files on its volume: other files, another folder."""
    return content_digest({path: [file.sha256, file.bytes] for path, file in instance.files.items()})


def volume_name(instance: Instance) -> str:
    """Return the name of the volume that keeps an instance's weights (S3-85)."""
    return f"vllm-{instance.name}-models"


def _volume_claim(topology: Topology, instance: Instance) -> Object:
    spec: dict[str, Any] = {
        "accessModes": [instance.access_mode],
        "resources": {"requests": {"storage": instance.model_cache_size}},
    }
    if instance.storage_class is not None:
        spec["storageClassName"] = instance.storage_class
    name = volume_name(instance)
    made = metadata(topology.namespace, name, _COMPONENT)
    return Object.named(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {**made, "annotations": {FETCHED_AGAIN_ANNOTATION: "true"}},
            "spec": spec,
        }
    )


def _fetching(topology: Topology, profile: ImageProfile, models: tuple[PodModel, ...], instance: Instance) -> Any:
    bounds = resources(cpu="50m", memory="64Mi", memory_limit="512Mi")
    settings = {
        "CACHE": f"{_VOLUME}/cache",
        "SNAPSHOTS": _SNAPSHOTS,
        "SNAPSHOT": f"{_SNAPSHOTS}/{snapshot_name(instance)}",
    }
    made = []
    if instance.source is None:
        settings["BASE_URL"] = f"https://huggingface.co/{instance.model_id}/resolve/{instance.revision}"
    else:
        settings["COPIED"] = f"{_VOLUME}/copied"
        source = instance.source.image
        made.append(
            container(
                "copy",
                ImageProfile(source.ref, profile.user, profile.group, ()),
                # Once: when all files were found right, the next start copies nothing.
                command=["/bin/sh", "-c", 'test -e "$1" || cp -r "$2/." "$3"', "copy"],
                args=[f"/copied/{snapshot_name(instance)}", source.path, "/copied/files"],
                resources=bounds,
                # An image can say anything: it has no way to what was checked.
                mounts=[{**mount("models", "/copied"), "subPath": "copied"}],
            )
        )
    hub = [mount("hub", "/etc/hub-credentials", read_only=True)] if hub_volume(models) else []
    checker = image(topology.policy, "llamacpp")
    made.append(
        container(
            "fetch",
            ImageProfile(checker.reference, profile.user, profile.group, ()),
            command=["/bin/sh", "/etc/llm-model/snapshot.sh"],
            environment=[{"name": name, "value": literal(value)} for name, value in settings.items()],
            resources=bounds,
            mounts=[
                mount("models", _VOLUME),
                mount("scripts", "/etc/llm-model", read_only=True),
                mount("snapshot", "/etc/llm-snapshot", read_only=True),
                mount("tmp", TEMPORARY),
                *hub,
            ],
        )
    )
    return made


def _server(
    upstream: Upstream,
    runtime: Runtime,
    instance: Instance,
    pool: NodePool | None,
    profile: ImageProfile,
    secret: Any,
) -> Any:
    bounds = resources(
        cpu=str(2 * instance.gpus),
        memory=runtime.memory,
        memory_limit=runtime.memory,
        storage="1Gi",
        storage_limit="8Gi",
    )
    accelerator = pool.accelerator if pool else None
    if accelerator is not None and accelerator.dynamic_resources is not None:
        # By DRA alone: with the extended resource beside it, one GPU could be given twice.
        bounds["claims"] = [{"name": GPU_CLAIM}]
    else:
        plugin = accelerator.device_plugin if accelerator else None
        for part in ("requests", "limits"):
            bounds[part][plugin.resource if plugin else GPU_RESOURCE] = instance.gpus
    health = f"http://{runtime.loopback.authority}/health"

    def alive(seconds: int) -> dict[str, Any]:
        return execute("python3", "-I", "-c", _ALIVE, health, str(seconds))

    started = ceil((upstream.capacity.cold_start_timeout_ms if upstream.capacity else 0) / 10_000)
    made = container(
        "runtime",
        profile,
        sidecar=True,
        args=arguments(upstream, runtime, instance),
        environment=environment(secret),
        resources=bounds,
        mounts=[
            {**mount("models", MODELS, read_only=True), "subPath": f"snapshots/{snapshot_name(instance)}"},
            {**mount("models", CACHE), "subPath": "cache"},
            mount("shm", "/dev/shm"),  # noqa: S108 - a volume of the Pod's own
            mount("tmp", TEMPORARY),
        ],
        startupProbe=probe(alive(8), period=10, timeout=10, failures=started),
        # A busy server answers late; only one that is gone is restarted.
        livenessProbe=probe(alive(15), period=20, timeout=20, failures=6),
    )
    # What puts a GPU's devices into a container writes to its root file system first.
    made["securityContext"]["readOnlyRootFilesystem"] = False
    return made


def vllm(topology: Topology, upstream: Upstream, models: tuple[PodModel, ...], secret: Any) -> EnginePod:
    """Return what a vLLM Pod has beside its sidecar.

    Args:
        topology: the topology.
        upstream: an endpoint that is an instance.
        models: its files.
        secret: name of its Secret.

    Raises:
        ClaimError: the build has no image of vLLM.
        ValueError: the endpoint is no instance.
    """
    runtime = upstream.runtime
    instance = runtime.instance if runtime else None
    if runtime is None or instance is None:
        raise ValueError(f"endpoint {upstream.id.name} is no instance")
    profile, pool = image(topology.policy, "vllm"), pool_of(topology, instance)
    devices = pool.accelerator.dynamic_resources if pool else None
    lines = "".join(f"{file.sha256} {file.bytes} {path}\n" for path, file in sorted(instance.files.items()))
    listing = config_map(
        topology.namespace, f"{upstream.service}-files", _COMPONENT, {"files": lines}, app=upstream.service
    )
    return EnginePod(
        image=profile,
        init_containers=[
            *_fetching(topology, profile, models, instance),
            _server(upstream, runtime, instance, pool, profile, secret),
        ],
        volumes=[
            {"name": "models", "persistentVolumeClaim": {"claimName": volume_name(instance)}},
            config_volume("snapshot", listing.name),
            empty_dir("shm", f"{shared_memory_mebibytes(instance)}Mi", in_memory=True),
            *hub_volume(models),
        ],
        objects=[
            listing,
            _volume_claim(topology, instance),
            *([claim_template(topology, f"vllm-{instance.name}-gpus", devices, instance.gpus)] if devices else []),
        ],
        account=SERVICE_ACCOUNT,
        scripts=("llm-snapshot-scripts", ("fetch.sh", "snapshot.sh")),
        temporary="2Gi",
        download_seconds=max(600, ceil(instance.total_bytes / DOWNLOAD_BYTES_PER_SECOND)),
        fields=scheduling(instance, pool),
    )


def scheduling(instance: Instance, pool: NodePool | None) -> dict[str, Any]:
    """Return the fields of a Pod that say which nodes it may run on.

    Args:
        instance: what the claim says.
        pool: its node pool.
    """
    wanted = instance.scheduling
    tolerations: list[dict[str, Any]] = [{"key": GPU_RESOURCE, "operator": "Exists", "effect": "NoSchedule"}]
    for each in wanted.tolerations:
        made: dict[str, Any] = {"key": each.key, "operator": "Exists" if each.value is None else "Equal"}
        if each.value is not None:
            made["value"] = each.value
        if each.effect is not None:
            made["effect"] = each.effect
        tolerations.append(made)
    fields: dict[str, Any] = {
        "nodeSelector": dict(sorted(node_labels(instance, pool).items())),
        "tolerations": tolerations,
    }
    if pool is not None and pool.accelerator.dynamic_resources is not None:
        fields["resourceClaims"] = [{"name": GPU_CLAIM, "resourceClaimTemplateName": f"vllm-{instance.name}-gpus"}]
    if wanted.runtime_class is not None:
        fields["runtimeClassName"] = wanted.runtime_class
    if wanted.priority_class is not None:
        fields["priorityClassName"] = wanted.priority_class
    return fields
