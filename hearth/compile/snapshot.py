"""The immutable snapshot of a claim: what was decided, by identifier, version and digest (S4-131).

It holds names, policy, address constraints and digests, and the ids of the approved runner keys. It holds no key of
any kind, no credential and no reference to one.
"""

from collections.abc import Mapping
from typing import Any, Final

from hearth.canonical import digest
from hearth.claim.policy import EvidenceMode
from hearth.compile.digests import zone_document
from hearth.compile.names import IN_CLUSTER
from hearth.topology.expected import Expected
from hearth.topology.topology import Topology
from hearth.topology.upstreams import Upstream, UpstreamId

SNAPSHOT_VERSION: Final = "hearth.snapshot/v1"
"""Version of the document; another meaning is another version."""


def snapshot(
    topology: Topology,
    *,
    expected: Mapping[str, Expected],
    configurations: Mapping[str, str],
    approved_key_ids: tuple[str, ...],
    withheld: Mapping[str, str],
    evidence: Mapping[str, str],
    evidence_mode: EvidenceMode,
) -> dict[str, Any]:
    """Return the snapshot document.

    Args:
        topology: the topology.
        expected: digests of every endpoint, as `expected_evidence` computes them.
        configurations: SHA-256 of each configuration of the gateway by name; empty without a gateway.
        approved_key_ids: ids of the runner keys that are believed (S4-102).
        withheld: reasons by endpoint id.
        evidence: digest of the evidence that decided, by endpoint id.
        evidence_mode: what holds now, the policy or a waiver that has not ended.
    """
    zones = (*sorted(topology.zones), *((IN_CLUSTER,) if topology.policy.cluster_cidrs else ()))
    return {
        "version": SNAPSHOT_VERSION,
        "policy": topology.policy.model_dump(mode="json", by_alias=True),
        "evidenceMode": evidence_mode,
        "networkZones": {name: zone_document(topology, name) for name in zones},
        "trustBundles": {
            name: {"version": bundle.version, "sha256": bundle.sha256}
            for name, bundle in topology.trust_bundles.items()
        },
        "endpoints": {
            upstream.id.name: {
                **_endpoint(upstream, expected[upstream.id.name]),
                "evidenceSha256": evidence.get(upstream.id.name),
                "withheld": withheld.get(upstream.id.name),
            }
            for upstream in topology.endpoints
        },
        "deployments": {
            name: {
                **deployment.model_dump(mode="json", by_alias=True),
                "revision": expected[deployment.endpoint].deployments[name].revision,
            }
            for name, deployment in topology.deployments.items()
        },
        "aliases": {name: alias.model_dump(mode="json", by_alias=True) for name, alias in topology.aliases.items()},
        "providers": {
            provider.name: {
                **_address(topology.upstream(UpstreamId("provider", provider.name))),
                "models": [
                    model.model_dump(mode="json", by_alias=True)
                    for model in sorted(provider.models, key=lambda model: model.name)
                ],
            }
            for provider in topology.providers
        },
        "instances": {
            instance.name: {"modelId": instance.model_id, "revision": instance.revision}
            for instance in topology.instances
        },
        "configurations": dict(configurations),
        "approvedKeyIds": sorted(approved_key_ids),
    }


def snapshot_digest(document: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the snapshot's canonical form, which names it."""
    return digest(document)


def _address(upstream: Upstream) -> dict[str, Any]:
    return {"host": upstream.address.host, "port": upstream.address.port, "mode": upstream.mode}


def _endpoint(upstream: Upstream, expected: Expected) -> dict[str, Any]:
    return {
        **_address(upstream),
        "protocol": upstream.protocol,
        "networkZoneId": upstream.profile.network_zone_id,
        "cidrs": sorted(upstream.cidrs),
        "trustBundle": upstream.trust_bundle,
        "endpointSha256": expected.endpoint_sha256,
        "profileSha256": expected.profile_sha256,
        "capacitySha256": expected.capacity_sha256,
        "sidecar": {
            "profileVersion": expected.sidecar.profile_version,
            "configSha256": expected.sidecar.config_sha256,
        }
        if expected.sidecar
        else None,
    }
