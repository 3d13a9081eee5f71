"""Upstreams and deployments out of the claim's instances: each becomes an endpoint of the zone `in-cluster` (S3-84).

From here on nothing knows them apart from other endpoints in Pods: guard, policies, secrets, evidence and catalogue
hold once.
"""

from collections.abc import Iterator
from math import ceil
from typing import Any, Final

from hearth.claim.claim import Claim
from hearth.claim.endpoints import RuntimeCapacity, RuntimeModel, Sidecar
from hearth.claim.instances import Instance, ModelFile
from hearth.claim.names import (
    IN_CLUSTER,
    NAMESPACE,
    SIDECAR_PORT,
    instance_endpoint,
    instance_host,
    public_instance_name,
)
from hearth.claim.network import BearerAuth, NetworkProfile
from hearth.claim.operations import in_order
from hearth.claim.routing import Deployment
from hearth.topology.address import Address
from hearth.topology.upstreams import Bounds, Credential, Runtime, Upstream, UpstreamId

RUNTIME_PORT: Final = 8000
"""TCP port of vLLM on loopback."""
LOADING_BYTES_PER_SECOND: Final = 100_000_000
"""Slowest reading of weights from a volume that is planned for, in bytes a second."""
STARTING_SECONDS: Final = 300
"""Time for everything but reading the weights: imports, compilation, graphs; in seconds."""
SHORTEST_START_SECONDS: Final = 600
"""Least time that a start may take before it counts as failed, in seconds."""
LONGEST_START_SECONDS: Final = 3_600
"""Most time that a start may take, in seconds."""
SETUP_MS: Final = 60_000
"""Longest time until a stream begins, in ms: a full server computes the prompts of others first."""


def read_instances(claim: Claim) -> tuple[Instance, ...]:
    """Return the instances that run, by name: none without GPUs (S3-83)."""
    if not claim.llm.gpu_acceleration:
        return ()
    return tuple(sorted(claim.llm.instances, key=lambda instance: instance.name))


def instance_deployment(instance: Instance) -> Deployment:
    """Return the one deployment of an instance."""
    return Deployment.model_validate(
        {
            "endpoint": instance_endpoint(instance.name),
            "model": public_instance_name(instance.model_id),
            "operations": instance.operations,
            "concurrency": instance.max_num_seqs,
            "contextTokens": instance.max_model_len,
            "pricing": instance.pricing,
            "embeddingSpace": instance.embedding_space,
            "residency": (IN_CLUSTER,),
        }
    )


def instance_deployments(claim: Claim) -> dict[str, Deployment]:
    """Return the deployment of every instance that runs, by id."""
    return {instance_endpoint(found.name): instance_deployment(found) for found in read_instances(claim)}


def start_seconds(instance: Instance) -> int:
    """Return how long a start may take, from the size of the weights, in seconds."""
    weights = sum(file.bytes for file in instance.weight_files.values())
    wanted = STARTING_SECONDS + ceil(weights / LOADING_BYTES_PER_SECOND)
    return min(LONGEST_START_SECONDS, max(SHORTEST_START_SECONDS, wanted))


def instance_upstreams(claim: Claim) -> Iterator[Upstream]:
    """Yield the upstream of every instance that runs, sorted by name."""
    for instance in read_instances(claim):
        own = instance_endpoint(instance.name)
        capacity = _capacity(instance, own)
        reference = f"credential://{own}/workload"
        yield Upstream(
            id=UpstreamId("endpoint", own),
            address=Address("https", instance_host(instance.name, claim.policy.cluster.domain), SIDECAR_PORT, "/v1"),
            profile=NetworkProfile.model_validate(
                {
                    "mode": "private_tls",
                    "termination": "light_gateway_sidecar",
                    "networkZoneId": IN_CLUSTER,
                    "tls": {"trustBundle": IN_CLUSTER},
                }
            ),
            cidrs=claim.policy.cluster_cidrs.services if claim.policy.cluster_cidrs else (),
            credential=Credential("authorization", True, "deployment", reference),
            headers={},
            operations=in_order(instance.operations),
            models=(public_instance_name(instance.model_id),),
            bounds=Bounds(
                parallel_requests=capacity.max_parallel_requests,
                queued_requests=capacity.max_queued_requests,
                request_timeout_ms=capacity.request_timeout_ms,
                stream_setup_timeout_ms=capacity.stream_setup_timeout_ms,
                cold_start_timeout_ms=capacity.stream_setup_timeout_ms,
                request_bytes=Sidecar().max_request_bytes,
                response_bytes=Sidecar().max_response_bytes,
            ),
            protocol="+".join(in_order(instance.operations)),
            auth=BearerAuth.model_validate({"mode": "bearer", "credentialRef": reference}),
            sidecar=Sidecar(),
            runtime=_runtime(instance),
            capacity=capacity,
        )


def _capacity(instance: Instance, own: str) -> RuntimeCapacity:
    return RuntimeCapacity.model_validate(
        {
            "physicalRuntimeId": f"{NAMESPACE}/{own}",
            "capacityDomainId": f"{NAMESPACE}/{own}",
            "maxParallelRequests": instance.max_num_seqs,
            "maxQueuedRequests": instance.max_queued_requests,
            "coldStartTimeoutMs": start_seconds(instance) * 1_000,
            "streamSetupTimeoutMs": min(SETUP_MS, instance.request_timeout_ms),
            "requestTimeoutMs": instance.request_timeout_ms,
        }
    )


def _runtime(instance: Instance) -> Runtime:
    return Runtime(
        engine="vllm",
        placement="pod",
        loopback=Address("http", "127.0.0.1", RUNTIME_PORT, ""),
        models=tuple(_model(instance, path, file) for path, file in sorted(instance.files.items())),
        credential=None,
        needs_credential=True,
        chat_template=None,
        pooling=None,
        threads=None,
        memory=instance.memory or host_memory(instance),
        context_tokens=instance.max_model_len,
        keep_alive_seconds=0,
        instance=instance,
    )


def _model(instance: Instance, path: str, file: ModelFile) -> RuntimeModel:
    if instance.source is None:
        source: Any = {"huggingFace": {"repo": instance.model_id, "revision": instance.revision, "file": path}}
    else:
        folder = instance.source.image
        source = {"image": {"ref": folder.ref, "path": f"{folder.path}/{path}"}}
    return RuntimeModel.model_validate({"source": source, "digest": f"sha256:{file.sha256}"})


def shared_memory_mebibytes(instance: Instance) -> int:
    """Return the size of `/dev/shm` in MiB: GPUs of one server talk to each other through it."""
    return 2_048 if instance.gpus == 1 else 16_384


def host_memory(instance: Instance) -> str:
    """Return the memory limit of a server that declares none: the largest file, shared memory and 8 GiB."""
    largest = max((file.bytes for file in instance.weight_files.values()), default=0)
    needed = ceil(largest * 1.2 / 1024**2) + shared_memory_mebibytes(instance) + 8_192
    return f"{ceil(needed / 1024)}Gi"
