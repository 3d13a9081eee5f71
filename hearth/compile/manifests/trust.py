"""CA certificates as the containers find them: one file for each trust bundle."""

from collections.abc import Mapping
from typing import Any

from hearth.claim.claim import Claim
from hearth.compile.manifests.common import Manifest, config_map
from hearth.compile.manifests.connection import DATABASE_CA, database_address
from hearth.compile.manifests.credentials import SecretNames
from hearth.compile.names import GATEWAY, IN_CLUSTER


def trust_config_map(bundles: Mapping[str, str]) -> Manifest:
    """Return the ConfigMap with the declared trust bundles, `<bundle>.pem` each.

    HAProxy reads them once at its start; the digest in the name makes a new bundle start new Pods (S4-57).
    """
    return config_map("llm-trust", "trust", {f"{bundle}.pem": text for bundle, text in bundles.items()}, app=GATEWAY)


def uses_in_cluster_trust(claim: Claim) -> bool:
    """Return whether any endpoint is verified with the CA that Hearth makes for its own Pods."""
    return any(
        endpoint.network_profile.tls is not None and endpoint.network_profile.tls.trust_bundle == IN_CLUSTER
        for endpoint in claim.endpoints.values()
    )


def trust_volume(claim: Claim, trust: Any, names: SecretNames) -> dict[str, Any]:
    """Return the volume with every CA that the guard may need."""
    sources = [{"configMap": {"name": trust}}]
    if uses_in_cluster_trust(claim):
        sources.append({"configMap": {"name": names.in_cluster_trust}})
    return {"name": "trust", "projected": {"sources": sources}}


def database_trust_volume(claim: Claim, trust: Any) -> list[dict[str, Any]]:
    """Return the volume with the CA of an external database; none for the database that Hearth runs."""
    bundle = database_address(claim).trust_bundle
    if bundle is None:
        return []
    items = [{"key": f"{bundle}.pem", "path": DATABASE_CA.rsplit("/", 1)[1]}]
    return [{"name": "database-ca", "configMap": {"name": trust, "items": items}}]
