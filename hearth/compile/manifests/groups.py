"""All manifests of a claim, grouped and in the order in which they have to exist."""

from typing import Literal

from hearth.claim.claim import Claim
from hearth.compile.artefacts import Artefacts
from hearth.compile.manifests.cache import cache
from hearth.compile.manifests.common import Manifest, refuse_too_large
from hearth.compile.manifests.credentials import SecretNames
from hearth.compile.manifests.database import database
from hearth.compile.manifests.gateway import gateway
from hearth.compile.manifests.migrations import migrations
from hearth.compile.manifests.mock import mock
from hearth.compile.manifests.namespace import namespace
from hearth.compile.manifests.runtime_pod import runtime_pods
from hearth.compile.manifests.tenants import tenant_objects
from hearth.compile.manifests.trust import trust_config_map
from hearth.compile.policies import tenant_policies

Group = Literal["namespace", "trust", "database", "cache", "migrations", "runtimes", "gateway", "mock", "tenants"]
"""What is deployed as one. A group needs those before it, except that tenants need the namespace alone."""


def tenant(claim: Claim, name: str) -> list[Manifest]:
    """Return a tenant's namespace and what closes it; a key and its Secret are made by the deployment."""
    return [*tenant_objects(claim, name), *tenant_policies(claim, name)]


def groups(claim: Claim, artefacts: Artefacts, names: SecretNames) -> dict[Group, list[Manifest]]:
    """Return the manifests by group, in the order of deployment.

    Without a gateway there are none at all (S3-2).

    Args:
        claim: a claim that passed the rules.
        artefacts: what it compiled to.
        names: names of the Secrets.

    Raises:
        ClaimError: something is declared that cannot be run as it is declared.
    """
    if not claim.llm.enabled:
        return {}
    trust = trust_config_map(artefacts.bundles)
    trust_name = trust["metadata"]["name"]
    pool = artefacts.litellm["general_settings"]["database_connection_pool_limit"]
    return {
        "namespace": [*namespace(), *(refuse_too_large(policy) for policy in artefacts.policies)],
        "trust": [trust],
        "database": database(claim, names, pool=pool),
        "cache": cache(claim, names),
        "migrations": migrations(claim, names, trust_name),
        "runtimes": runtime_pods(claim, names, artefacts.sidecars),
        "gateway": gateway(
            claim,
            names,
            litellm_yaml=artefacts.litellm_yaml,
            proxy_files={**artefacts.guard.files, **artefacts.front.files},
            trust=trust_name,
        ),
        "mock": mock(claim),
        "tenants": [manifest for name in sorted(claim.tenants) for manifest in tenant(claim, name)],
    }


def all_manifests(claim: Claim, artefacts: Artefacts, names: SecretNames) -> list[Manifest]:
    """Return all manifests in the order of deployment."""
    return [manifest for group in groups(claim, artefacts, names).values() for manifest in group]
