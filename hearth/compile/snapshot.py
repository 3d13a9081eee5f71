"""The immutable snapshot of a claim: what was decided, by identifier, version and digest (S4-131).

It holds names, policy, address constraints and digests, and the ids of the approved runner keys. It holds no key of
any kind, no credential and no reference to one.
"""

from collections.abc import Mapping
from typing import Any, Final

from hearth.claim.claim import Claim
from hearth.compile.digests import zone_document
from hearth.compile.names import IN_CLUSTER
from hearth.compile.upstreams import Upstream, offered_providers, upstreams
from hearth.evidence.canonical import digest
from hearth.evidence.verify import Expected

SNAPSHOT_VERSION: Final = "hearth.snapshot/v1"
"""Version of the document; another meaning is another version."""


def snapshot(
    claim: Claim,
    *,
    expected: Mapping[str, Expected],
    configurations: Mapping[str, str],
    approved_key_ids: tuple[str, ...],
    withheld: Mapping[str, str],
) -> dict[str, Any]:
    """Return the snapshot document.

    Args:
        claim: a claim that passed the rules.
        expected: digests of every endpoint, as `expected_evidence` computes them.
        configurations: SHA-256 of each configuration of the gateway by name; empty without a gateway.
        approved_key_ids: ids of the runner keys that are believed (S4-102).
        withheld: reasons by endpoint id.
    """
    by_name = {upstream.name: upstream for upstream in upstreams(claim)}
    zones = (*sorted(claim.network_zones), *((IN_CLUSTER,) if claim.policy.cluster_cidrs else ()))
    return {
        "version": SNAPSHOT_VERSION,
        "policy": claim.policy.model_dump(mode="json", by_alias=True),
        "networkZones": {name: zone_document(claim, name) for name in zones},
        "trustBundles": {
            name: {"version": bundle.version, "sha256": bundle.sha256} for name, bundle in claim.trust_bundles.items()
        },
        "endpoints": {
            name: _endpoint(claim, name, by_name[f"endpoint-{name}"], expected[name], withheld.get(name))
            for name in claim.endpoints
        },
        "deployments": {
            name: {
                **deployment.model_dump(mode="json", by_alias=True),
                "revision": expected[deployment.endpoint].revisions[name],
            }
            for name, deployment in claim.deployments.items()
        },
        "aliases": {name: alias.model_dump(mode="json", by_alias=True) for name, alias in claim.aliases.items()},
        "providers": {
            provider.name: {
                **_address(by_name[f"provider-{provider.name}"]),
                "models": [
                    model.model_dump(mode="json", by_alias=True)
                    for model in sorted(provider.models, key=lambda model: model.name)
                ],
            }
            for provider in offered_providers(claim)
        },
        "instances": {
            instance.name: {"modelId": instance.model_id, "revision": instance.revision}
            for instance in claim.llm.instances
        },
        "configurations": dict(configurations),
        "approvedKeyIds": sorted(approved_key_ids),
    }


def snapshot_digest(document: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the snapshot's canonical form, which names it."""
    return digest(document)


def _address(upstream: Upstream) -> dict[str, Any]:
    return {"host": upstream.host, "port": upstream.port, "mode": upstream.mode}


def _endpoint(
    claim: Claim, name: str, upstream: Upstream, expected: Expected, withheld_reason: str | None
) -> dict[str, Any]:
    endpoint = claim.endpoints[name]
    return {
        **_address(upstream),
        "protocol": endpoint.protocol,
        "networkZoneId": endpoint.network_profile.network_zone_id,
        "cidrs": sorted(upstream.cidrs),
        "trustBundle": upstream.trust_bundle,
        "endpointSha256": expected.endpoint_sha256,
        "profileSha256": expected.profile_sha256,
        "capacitySha256": expected.capacity_sha256,
        "sidecar": {
            "profileVersion": endpoint.sidecar.profile_version,
            "configSha256": expected.sidecar_config_sha256,
        }
        if endpoint.sidecar
        else None,
        "withheld": withheld_reason,
    }
