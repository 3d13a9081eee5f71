"""CA certificates as the containers find them: one file for each trust bundle."""

from collections.abc import Mapping
from typing import Any

from hearth.compile.manifests.common import Object, config_map
from hearth.compile.manifests.connection import DATABASE_CA, database_address
from hearth.compile.manifests.credentials import SecretNames
from hearth.compile.names import GUARD, IN_CLUSTER
from hearth.topology.topology import Topology


def trust_config_map(topology: Topology, bundles: Mapping[str, str]) -> Object:
    """Return the ConfigMap with the declared trust bundles, `<bundle>.pem` each.

    HAProxy reads them once at its start; the digest in the name makes a new bundle start new Pods (S4-57).
    """
    files = {f"{bundle}.pem": text for bundle, text in bundles.items()}
    return config_map(topology.namespace, "llm-trust", "trust", files, app=GUARD)


def trust_volume(topology: Topology, trust: Any, names: SecretNames) -> dict[str, Any]:
    """Return the volume with every CA that the guard may need."""
    sources = [{"configMap": {"name": trust}}]
    if any(upstream.trust_bundle == IN_CLUSTER for upstream in topology.upstreams):
        sources.append({"configMap": {"name": names.in_cluster_trust}})
    return {"name": "trust", "projected": {"sources": sources}}


def database_trust_volume(topology: Topology, trust: Any) -> list[dict[str, Any]]:
    """Return the volume with the CA of an external database; none for the database that Hearth runs."""
    bundle = database_address(topology).trust_bundle
    if bundle is None:
        return []
    items = [{"key": f"{bundle}.pem", "path": DATABASE_CA.rsplit("/", 1)[1]}]
    return [{"name": "database-ca", "configMap": {"name": trust, "items": items}}]
