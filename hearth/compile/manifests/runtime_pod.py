"""A model server and its TLS sidecar in one Pod (S4-146).

The runtime listens on loopback; NetworkPolicies do not see that hop, so nothing else is in the Pod, and the Service
knows the sidecar's port alone (S4-88, S4-89).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from hearth.claim.base import quantity_bytes
from hearth.claim.endpoints import RuntimeCapacity
from hearth.claim.operations import only_vectors
from hearth.claim.problems import ClaimError, Problem
from hearth.compile.images import ImageProfile, image
from hearth.compile.manifests.common import (
    TEMPORARY,
    Manifest,
    Object,
    config_map,
    config_volume,
    container,
    empty_dir,
    execute,
    http_get,
    labels,
    literal,
    metadata,
    mount,
    pod_template,
    probe,
    resources,
    secret_volume,
    selector,
    service,
    service_account,
    tcp_socket,
    text_file,
)
from hearth.compile.manifests.credentials import SecretNames
from hearth.compile.manifests.drain import PRE_STOP_SECONDS, grace_seconds
from hearth.compile.manifests.engine import EnginePod
from hearth.compile.manifests.model import (
    MODELS,
    PodModel,
    fetch_containers,
    fetches_from_network,
    hub_volume,
    ollama_containers,
    pod_models,
)
from hearth.compile.manifests.vllm import SERVICE_ACCOUNT as INSTANCE_ACCOUNT
from hearth.compile.manifests.vllm import vllm
from hearth.compile.names import (
    ENDPOINT_LABEL,
    GUARD_PROBE_PORT,
    ROLE_LABEL,
    SIDECAR_PORT,
)
from hearth.compile.sidecar import SidecarConfig
from hearth.topology.topology import Topology
from hearth.topology.upstreams import Runtime, Upstream

SERVICE_ACCOUNT: Final = "llm-runtime"
"""ServiceAccount of all runtimes."""
SHORTEST_START_SECONDS: Final = 600
"""Least time that a runtime may take to load its model before it is restarted, in seconds."""
DOWNLOAD_SECONDS: Final = 3600
"""Time that is allowed for a download before the rollout counts as failed, in seconds."""

_COMPONENT: Final = "runtime"


def _llamacpp_arguments(
    upstream: Upstream, runtime: Runtime, capacity: RuntimeCapacity, profile: ImageProfile
) -> list[str]:
    (model,) = pod_models(upstream)
    host, port = runtime.loopback.number, runtime.loopback.port
    slots = capacity.max_parallel_requests
    made = ["--model", model.file, "--alias", literal(model.name), "--host", host, "--port", str(port)]
    # The slots share the context evenly, and the claim states that of one request.
    made += ["--parallel", str(slots), "--ctx-size", str(runtime.context_tokens * slots)]
    made += ["--api-key-file", "/etc/runtime-secret/runtime-key"]
    if runtime.chat_template is not None:
        # With Jinja, the name itself would be read as a template.
        made += ["--no-jinja", "--chat-template", runtime.chat_template]
    if runtime.threads is not None:
        made += ["--threads", str(runtime.threads)]
    if only_vectors(upstream.operations):
        # An input is computed at once, and 512 tokens are the most of that unless told otherwise.
        made += [
            "--embedding",
            "--batch-size",
            str(runtime.context_tokens),
            "--ubatch-size",
            str(runtime.context_tokens),
        ]
        if runtime.pooling is not None:
            made += ["--pooling", runtime.pooling]
    return [*made, *profile.options]


def _ollama_environment(runtime: Runtime, capacity: RuntimeCapacity) -> list[dict[str, Any]]:
    host, port = runtime.loopback.number, runtime.loopback.port
    settings = {
        "HOME": TEMPORARY,
        "OLLAMA_HOST": f"[{host}]:{port}" if ":" in host else f"{host}:{port}",
        "OLLAMA_MODELS": "/library",
        # A cloud model's name would send the prompt to its vendor.
        "OLLAMA_NO_CLOUD": "1",
        "OLLAMA_NUM_PARALLEL": str(capacity.max_parallel_requests),
        "OLLAMA_MAX_QUEUE": str(max(1, capacity.max_queued_requests)),
        "OLLAMA_KEEP_ALIVE": f"{runtime.keep_alive_seconds}s",
        "OLLAMA_CONTEXT_LENGTH": str(runtime.context_tokens),
        "OLLAMA_LOAD_TIMEOUT": f"{math.ceil(capacity.cold_start_timeout_ms / 1000)}s",
    }
    return [{"name": name, "value": value} for name, value in settings.items()]


def _llamacpp(
    upstream: Upstream, runtime: Runtime, capacity: RuntimeCapacity, profile: ImageProfile, bounds: Mapping[str, Any]
) -> dict[str, Any]:
    health = execute(
        "curl", "--fail", "--silent", "--output", "/dev/null", f"http://{runtime.loopback.authority}/health"
    )
    return container(
        "runtime",
        profile,
        sidecar=True,
        args=_llamacpp_arguments(upstream, runtime, capacity, profile),
        environment=[{"name": "HOME", "value": TEMPORARY}],
        resources=bounds,
        mounts=[
            mount("models", MODELS, read_only=True),
            mount("runtime-secret", "/etc/runtime-secret", read_only=True),
            mount("tmp", TEMPORARY),
        ],
        startupProbe=probe(health, period=5, timeout=5, failures=_startup_seconds(capacity) // 5),
        # It answers 503 while it loads, and late while it is busy; only a server that is gone is restarted.
        livenessProbe=probe(health, period=15, timeout=10, failures=8),
    )


def _ollama(
    runtime: Runtime,
    capacity: RuntimeCapacity,
    models: Sequence[PodModel],
    profile: ImageProfile,
    bounds: Mapping[str, Any],
    embeds: Callable[[str], bool],
) -> dict[str, Any]:
    up = execute(*profile.command, "list")
    # An empty prompt loads a model, which then stays for the declared time (S4-118); one that embeds needs a text.
    steps = [
        f'{" ".join(profile.command)} run "${place}" {"warm" if embeds(model.name) else '""'} </dev/null >/dev/null'
        for place, model in enumerate(models)
    ]
    warm = [" && ".join(steps), *(model.name for model in models)]
    cold_start = math.ceil(capacity.cold_start_timeout_ms / 1000)
    started = (
        probe(
            execute("/bin/sh", "-c", *warm),
            period=5,
            timeout=cold_start * len(models),
            failures=max(3, 600 // cold_start),
        )
        if capacity.readiness_policy == "warm_before_eligible"
        else probe(up, period=2, timeout=5, failures=60)
    )
    return container(
        "runtime",
        profile,
        sidecar=True,
        args=["serve"],
        environment=_ollama_environment(runtime, capacity),
        resources=bounds,
        mounts=[mount("library", "/library"), mount("tmp", TEMPORARY)],
        startupProbe=started,
        livenessProbe=probe(up, period=15, timeout=10, failures=8),
    )


def _startup_seconds(capacity: RuntimeCapacity) -> int:
    return max(SHORTEST_START_SECONDS, math.ceil(capacity.cold_start_timeout_ms / 1000))


def _sidecar(topology: Topology, sidecar: SidecarConfig) -> dict[str, Any]:
    memory = math.ceil(sidecar.memory_bytes / 1024**2)
    return container(
        "sidecar",
        image(topology.policy, "haproxy"),
        args=["-db", "-f", "/etc/sidecar/sidecar.cfg"],
        ports={"https": SIDECAR_PORT, "probe": GUARD_PROBE_PORT},
        resources=resources(cpu="25m", memory="64Mi", memory_limit=f"{memory}Mi"),
        mounts=[
            mount("sidecar", "/etc/sidecar", read_only=True),
            mount("sidecar-secret", "/etc/sidecar-secret", read_only=True),
            mount("sidecar-tls", "/etc/sidecar-tls", read_only=True),
        ],
        # It fails while the runtime does not answer.
        startupProbe=probe(http_get("/healthz", "probe"), period=2, timeout=5, failures=90),
        readinessProbe=probe(http_get("/healthz", "probe"), period=5, timeout=5, failures=3),
        # Whether this process runs, whatever the runtime does.
        livenessProbe=probe(tcp_socket("probe"), period=20, timeout=10, failures=6),
        lifecycle={"preStop": {"sleep": {"seconds": PRE_STOP_SECONDS}}},
    )


def _declared(upstream: Upstream) -> tuple[Runtime, RuntimeCapacity]:
    path = f"hearth:endpoints.{upstream.id.name}"
    if upstream.runtime is None or upstream.capacity is None:
        raise ClaimError([Problem(f"{path}.runtimeCapacity", "is missing", "Declare what the runtime can bear")])
    if upstream.runtime.engine == "vllm" and upstream.runtime.instance is None:
        problem = Problem(f"{path}.runtime.engine", "vllm is not supported yet here", "Declare hearth:llm.instances")
        raise ClaimError([problem])
    return upstream.runtime, upstream.capacity


def _small_engine(topology: Topology, upstream: Upstream, models: tuple[PodModel, ...]) -> EnginePod:
    """Return a Pod of llama.cpp or Ollama, which has its model in a volume that goes with it."""
    runtime, capacity = _declared(upstream)
    ollama = runtime.engine == "ollama"
    profile = image(topology.policy, "ollama" if ollama else "llamacpp")
    size = quantity_bytes(runtime.memory) // 1024**2 * len(models)
    storage = f"{size * (2 if ollama else 1) + 256}Mi"
    bounds = resources(
        cpu=f"{500 * (runtime.threads or 1)}m",
        # All of it: a model whose pages are taken away answers a hundred times slower.
        memory=runtime.memory,
        memory_limit=runtime.memory,
        storage=storage,
        storage_limit=storage,
    )
    fetching = resources(cpu="50m", memory="64Mi", memory_limit="512Mi", storage=storage, storage_limit=storage)
    init_containers = fetch_containers(topology, models, profile, fetching)
    if ollama:
        importing = resources(
            cpu="50m", memory="64Mi", memory_limit=runtime.memory, storage=storage, storage_limit=storage
        )
        init_containers += ollama_containers(models, profile, _ollama_environment(runtime, capacity), importing)
        init_containers.append(
            _ollama(runtime, capacity, models, profile, bounds, partial(topology.model_embeds, upstream))
        )
    else:
        init_containers.append(_llamacpp(upstream, runtime, capacity, profile, bounds))
    return EnginePod(
        image=profile,
        init_containers=init_containers,
        volumes=[
            empty_dir("models", f"{size}Mi"),
            *([empty_dir("library", f"{size}Mi")] if ollama else []),
            *hub_volume(models),
        ],
        download_seconds=DOWNLOAD_SECONDS if fetches_from_network(models) else 0,
    )


def runtime_pod(topology: Topology, upstream: Upstream, names: SecretNames, sidecar: SidecarConfig) -> list[Object]:
    """Return the Deployment and Service of one endpoint in a Pod.

    Args:
        topology: the topology.
        upstream: the endpoint.
        names: names of the Secrets.
        sidecar: its compiled sidecar.

    Raises:
        ClaimError: the runtime cannot run in a Pod as it is declared.
    """
    endpoint_id, name = upstream.id.name, upstream.service
    runtime, capacity = _declared(upstream)
    models, secret = pod_models(upstream), names.endpoints[endpoint_id]
    own = (
        vllm(topology, upstream, models, secret)
        if runtime.engine == "vllm"
        else _small_engine(topology, upstream, models)
    )
    sidecar_config = config_map(topology.namespace, f"llm-endpoint-{endpoint_id}", _COMPONENT, sidecar.files, app=name)
    scripts_name, scripts_files = own.scripts
    scripts = config_map(
        topology.namespace, scripts_name, _COMPONENT, {file: text_file(file) for file in scripts_files}
    )
    # vLLM has its key in a variable.
    key_file = runtime.needs_credential and runtime.engine != "vllm"
    volumes = [
        config_volume("scripts", scripts.name),
        config_volume("sidecar", sidecar_config.name),
        secret_volume("sidecar-secret", secret, ["tokens.map", *(["runtime.map"] if runtime.needs_credential else [])]),
        secret_volume("sidecar-tls", secret, ["tls.crt", "tls.key"]),
        *([secret_volume("runtime-secret", secret, ["runtime-key"])] if key_file else []),
        *own.volumes,
        empty_dir("tmp", own.temporary),
    ]
    deployment: Manifest = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(topology.namespace, name, _COMPONENT),
        "spec": {
            "replicas": 1,
            "progressDeadlineSeconds": _startup_seconds(capacity) + 300 + own.download_seconds,
            "revisionHistoryLimit": 3,
            # A second one beside it would need the model's memory, or its GPUs, twice.
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": selector(name)},
            "template": pod_template(
                {**labels(name, _COMPONENT), ROLE_LABEL: "runtime", ENDPOINT_LABEL: endpoint_id},
                image=own.image,
                service_account=own.account,
                grace_seconds=grace_seconds(capacity.request_timeout_ms),
                init_containers=own.init_containers,
                containers=[_sidecar(topology, sidecar)],
                volumes=volumes,
                **own.fields,
            ),
        },
    }
    return [
        scripts,
        sidecar_config,
        *own.objects,
        service(topology.namespace, name, _COMPONENT, {"https": SIDECAR_PORT}),
        Object.named(deployment),
    ]


def runtime_pods(topology: Topology, names: SecretNames, sidecars: Mapping[str, SidecarConfig]) -> list[Object]:
    """Return everything of the endpoints whose runtime is placed in a Pod, without instances.

    Args:
        topology: the topology.
        names: names of the Secrets.
        sidecars: compiled sidecar by endpoint id.
    """
    pods = [pod for pod in topology.pods if not pod.is_instance]
    return _pods(topology, pods, SERVICE_ACCOUNT, names, sidecars)


def instance_pods(topology: Topology, names: SecretNames, sidecars: Mapping[str, SidecarConfig]) -> list[Object]:
    """Return everything of the instances: they take long to come up, and nothing waits for them.

    Args:
        topology: the topology.
        names: names of the Secrets.
        sidecars: compiled sidecar by endpoint id.
    """
    pods = [pod for pod in topology.pods if pod.is_instance]
    return _pods(topology, pods, INSTANCE_ACCOUNT, names, sidecars)


def _pods(
    topology: Topology,
    pods: Sequence[Upstream],
    account: str,
    names: SecretNames,
    sidecars: Mapping[str, SidecarConfig],
) -> list[Object]:
    if not pods:
        return []
    # What all of them share is made once.
    made: dict[tuple[str, str], Object] = {}
    for pod in pods:
        for found in runtime_pod(topology, pod, names, sidecars[pod.id.name]):
            made[found.kind, found.stable_name] = found
    return [service_account(topology, account, _COMPONENT), *made.values()]
