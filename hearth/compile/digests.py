"""Digests of what an endpoint and a deployment are (S4-17, S4-100).

Each digest is the SHA-256 of an RFC 8785 document with a version field. A document holds no version of a tool and no
secret, and its meaning never changes: another meaning is another version, so that old evidence is never taken for
something that it does not say.
"""

from ipaddress import ip_network
from typing import Any, Final

from hearth.canonical import digest
from hearth.claim.endpoints import RuntimeCapacity
from hearth.claim.instances import Instance
from hearth.compile.names import IN_CLUSTER
from hearth.compile.sidecar_document import sidecar_digest
from hearth.topology.expected import Expected, ExpectedDeployment, ExpectedSidecar, Termination
from hearth.topology.topology import Topology
from hearth.topology.upstreams import Upstream

ENDPOINT_VERSION: Final = "hearth.endpoint/v1"
"""Version of the endpoint document."""
ZONE_VERSION: Final = "hearth.zone/v1"
"""Version of the zone document."""
PROFILE_VERSION: Final = "hearth.profile/v1"
"""Version of the network profile document."""
CAPACITY_VERSION: Final = "hearth.capacity/v1"
"""Version of the capacity document."""
DEPLOYMENT_VERSION: Final = "hearth.deployment/v1"
"""Version of the deployment document."""
ISOLATION_VERSION: Final = "hearth.isolation/v1"
"""Version of the isolation document."""
RAW_TARGET_VERSION: Final = "hearth.raw-target/v1"
"""Version of the document of the runtime's own address."""


def endpoint_document(upstream: Upstream) -> dict[str, Any]:
    """Return what an endpoint's digest covers: its normalised address, its protocol and how it is identified to.

    Of headers it holds the names in lower case, never a value.
    """
    address, credential = upstream.address, upstream.credential
    return {
        "version": ENDPOINT_VERSION,
        "scheme": address.scheme,
        "host": address.host.rstrip("."),
        "port": address.port,
        "pathPrefix": address.path,
        "protocol": upstream.protocol,
        "authMode": upstream.auth.mode if upstream.auth else None,
        "authHeader": credential.header if credential else None,
        "headerNames": sorted(name.lower() for name in upstream.headers),
    }


def endpoint_digest(upstream: Upstream) -> str:
    """Return the digest of an endpoint's address, protocol and way of identifying (S4-100)."""
    return digest(endpoint_document(upstream))


def _networks(cidrs: tuple[str, ...]) -> list[str]:
    return sorted(str(ip_network(cidr)) for cidr in cidrs)


def zone_document(topology: Topology, zone_id: str) -> dict[str, Any]:
    """Return what a zone permits, in an order of its own: the revision of the zone is the digest of this."""
    if zone_id == IN_CLUSTER:
        cidrs = topology.policy.cluster_cidrs
        return {
            "version": ZONE_VERSION,
            "id": IN_CLUSTER,
            "services": _networks(cidrs.services) if cidrs else [],
            "pods": _networks(cidrs.pods) if cidrs else [],
        }
    zone = topology.zones[zone_id]
    return {
        "version": ZONE_VERSION,
        "id": zone_id,
        "dnsNames": sorted(zone.dns_names),
        "cidrs": _networks(zone.cidrs),
        "ports": sorted(zone.ports),
        "allowPrivateTls": zone.allow_private_tls,
        "allowPrivatePlaintext": zone.allow_private_plaintext,
        "encryptedOverlay": zone.encrypted_overlay,
    }


def profile_document(topology: Topology, upstream: Upstream) -> dict[str, Any]:
    """Return what a network profile's digest covers: mode, zone revision, trust bundle, termination, pool policy,
    and the address where no name is looked up.

    The bundle `in-cluster` has no version and no digest: Hearth makes it at deployment, and whoever is reached with
    it is bound by the certificate that the evidence names.
    """
    profile, bundle_id = upstream.profile, upstream.trust_bundle
    bundle = topology.trust_bundles[bundle_id] if bundle_id and bundle_id != IN_CLUSTER else None
    zone_id = profile.network_zone_id
    return {
        "version": PROFILE_VERSION,
        "mode": profile.mode,
        "termination": profile.termination,
        "zone": {"id": zone_id, "sha256": digest(zone_document(topology, zone_id))} if zone_id else None,
        "trustBundle": {
            "id": bundle_id,
            "version": bundle.version if bundle else None,
            "sha256": bundle.sha256 if bundle else None,
        }
        if bundle_id
        else None,
        "acceptPlaintextRisk": profile.accept_plaintext_risk,
        "poolIdleTimeoutMs": profile.connection.pool_idle_timeout_ms,
        "clientRefreshIntervalMs": profile.connection.client_refresh_interval_ms,
        # Only where it is declared: a document without it means that the name is looked up.
        **({"address": profile.address} if profile.address else {}),
    }


def profile_digest(topology: Topology, upstream: Upstream) -> str:
    """Return the digest of an endpoint's network profile (S4-100)."""
    return digest(profile_document(topology, upstream))


def capacity_document(capacity: RuntimeCapacity | None) -> dict[str, Any]:
    """Return what a capacity digest covers; an endpoint without a declared capacity has one too."""
    declared = None
    if capacity is not None:
        declared = {
            "physicalRuntimeId": capacity.physical_runtime_id,
            "capacityDomainId": capacity.capacity_domain_id,
            "maxParallelRequests": capacity.max_parallel_requests,
            "maxQueuedRequests": capacity.max_queued_requests,
            "readinessPolicy": capacity.readiness_policy,
            "coldStartTimeoutMs": capacity.cold_start_timeout_ms,
            "streamSetupTimeoutMs": capacity.stream_setup_timeout_ms,
            "requestTimeoutMs": capacity.request_timeout_ms,
        }
    return {"version": CAPACITY_VERSION, "capacity": declared}


def capacity_digest(capacity: RuntimeCapacity | None) -> str:
    """Return the digest of a declared capacity (S4-114)."""
    return digest(capacity_document(capacity))


def sidecar_config_digest(upstream: Upstream) -> str | None:
    """Return the digest of what a sidecar's configuration means (S4-86).

    It is worked out where Hearth runs the sidecar, declared where somebody else does, and none where there is none or
    nobody said.
    """
    if upstream.sidecar is None:
        return None
    return sidecar_digest(upstream) if upstream.runtime is not None else upstream.sidecar.config_sha256


def _raw_port(upstream: Upstream) -> int | None:
    if upstream.runtime is not None:
        return upstream.runtime.loopback.port
    return upstream.sidecar.runtime_port if upstream.sidecar else None


def isolation_document(upstream: Upstream, raw_port: int) -> dict[str, Any]:
    """Return how the runtime behind a sidecar is isolated (S4-89, S4-90): a runner writes what it found the same way.

    Args:
        upstream: an endpoint with a sidecar.
        raw_port: the runtime's own port.
    """
    return {
        "version": ISOLATION_VERSION,
        "placement": upstream.runtime.placement if upstream.runtime else "elsewhere",
        "rawPort": raw_port,
        "rawPortOnLoopbackOnly": True,
        "exposedPorts": [upstream.address.port],
        "hostNetwork": False if upstream.in_a_pod else None,
        "unrelatedContainers": False if upstream.in_a_pod else None,
        "serviceOnRawPort": False if upstream.in_a_pod else None,
    }


def raw_target_document(upstream: Upstream, raw_port: int) -> dict[str, Any]:
    """Return the address at which the runtime's own port would be reached from outside (S4-92)."""
    host = upstream.profile.address or upstream.address.host.rstrip(".")
    return {"version": RAW_TARGET_VERSION, "host": host, "port": raw_port}


def deployment_document(topology: Topology, deployment_id: str) -> dict[str, Any]:
    """Return what a deployment revision covers: all of S4-17, and what decides how the model answers.

    Prices, aliases, lanes and concurrency are not in it: they change nothing that was measured.
    """
    deployment = topology.deployments[deployment_id]
    upstream = topology.endpoint(deployment.endpoint)
    runtime = upstream.runtime
    return {
        "version": DEPLOYMENT_VERSION,
        "endpointSha256": endpoint_digest(upstream),
        "profileSha256": profile_digest(topology, upstream),
        "capacitySha256": capacity_digest(upstream.capacity),
        "credentialRef": upstream.credential.name if upstream.credential else None,
        "model": deployment.model,
        "embeddingSpace": deployment.embedding_space,
        "runtime": {
            "engine": runtime.engine,
            "chatTemplate": runtime.chat_template,
            "modelDigests": sorted(model.digest for model in runtime.models),
            **_vllm_settings(runtime.instance),
        }
        if runtime
        else None,
        "sidecar": {
            "profileVersion": upstream.sidecar.profile_version,
            "configSha256": sidecar_config_digest(upstream),
        }
        if upstream.sidecar
        else None,
    }


def _vllm_settings(instance: Instance | None) -> dict[str, Any]:
    """Return what else decides how an instance answers; nothing for other runtimes."""
    if instance is None:
        return {}
    options = {name: str(value) for name, value in instance.options.items()}
    return {
        "vllm": {
            "gpus": instance.gpus,
            "quantization": instance.quantization,
            "kvCacheDtype": instance.kv_cache_dtype,
            "toolCallParser": instance.tool_call_parser,
            "options": options,
        }
    }


def deployment_revision(topology: Topology, deployment_id: str) -> str:
    """Return the revision of a deployment: with another one, new evidence is needed (S4-17).

    Args:
        topology: the topology.
        deployment_id: one of its deployments.
    """
    return digest(deployment_document(topology, deployment_id))


def _termination(upstream: Upstream) -> Termination:
    if upstream.mode == "private_plaintext":
        return "plaintext"
    return "light_gateway_sidecar" if upstream.sidecar is not None else "native"


def _expected_sidecar(upstream: Upstream) -> ExpectedSidecar | None:
    if upstream.sidecar is None:
        return None
    raw_port = _raw_port(upstream)
    return ExpectedSidecar(
        profile_version=upstream.sidecar.profile_version,
        config_sha256=sidecar_config_digest(upstream),
        isolation_sha256=digest(isolation_document(upstream, raw_port)) if raw_port else None,
        raw_target_sha256=digest(raw_target_document(upstream, raw_port)) if raw_port else None,
    )


def expected_evidence(topology: Topology) -> dict[str, Expected]:
    """Return what the evidence of every endpoint has to say now, by endpoint id (S4-99, S4-100)."""
    return {upstream.id.name: _expected(topology, upstream) for upstream in topology.endpoints}


def _expected(topology: Topology, upstream: Upstream) -> Expected:
    deployments = {
        deployment_id: ExpectedDeployment(
            deployment_revision(topology, deployment_id), deployment.model, deployment.operations
        )
        for deployment_id, deployment in topology.deployments_on(upstream).items()
    }
    return Expected(
        termination=_termination(upstream),
        engine=upstream.runtime.engine if upstream.runtime else None,
        identifies=upstream.credential is not None,
        endpoint_sha256=endpoint_digest(upstream),
        profile_sha256=profile_digest(topology, upstream),
        capacity_sha256=capacity_digest(upstream.capacity),
        physical_runtime_id=upstream.capacity.physical_runtime_id if upstream.capacity else None,
        deployments=deployments,
        sidecar=_expected_sidecar(upstream),
        revision=digest({name: deployment.revision for name, deployment in deployments.items()}),
    )
