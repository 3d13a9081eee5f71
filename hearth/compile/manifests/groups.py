"""All manifests of a topology, in groups that say what they need."""

from dataclasses import dataclass, replace
from typing import Literal

from hearth.compile.artefacts import Artefacts
from hearth.compile.manifests.cache import cache
from hearth.compile.manifests.common import Object, refuse_too_large
from hearth.compile.manifests.credentials import SecretNames
from hearth.compile.manifests.database import database
from hearth.compile.manifests.gateway import gateway
from hearth.compile.manifests.migrations import migrations
from hearth.compile.manifests.mock import mock
from hearth.compile.manifests.namespace import namespace
from hearth.compile.manifests.node_pools import node_pools
from hearth.compile.manifests.policies import system_policies, tenant_policies
from hearth.compile.manifests.runtime_pod import instance_pods, runtime_pods
from hearth.compile.manifests.tenants import tenant_objects
from hearth.compile.manifests.trust import trust_config_map
from hearth.topology.topology import Tenant, Topology

GroupName = Literal[
    "namespace",
    "trust",
    "secrets",
    "database",
    "cache",
    "migrations",
    "runtimes",
    "nodePools",
    "instances",
    "gateway",
    "mock",
    "tenants",
]
"""What is deployed as one. `secrets` is what only the deployment can make; no group holds it, and others need it."""


@dataclass(frozen=True)
class Group:
    """Objects that are deployed as one."""

    name: GroupName
    """What they are."""
    objects: tuple[Object, ...]
    """The objects; none where the claim has no use for the group."""
    needs: tuple[GroupName, ...]
    """Groups that have to be there, and rolled out, before this one."""


def tenant_group(topology: Topology, tenant: Tenant) -> list[Object]:
    """Return a tenant's namespace and what closes it; a key and its Secret are made by the deployment."""
    found = [*tenant_objects(tenant), *tenant_policies(topology, tenant)]
    return [each.of(topology.environment) for each in found]


def groups(topology: Topology, artefacts: Artefacts, names: SecretNames) -> tuple[Group, ...]:
    """Return the manifests by group, each group after those that it needs.

    Without a gateway there are none at all (S3-2).

    Args:
        topology: the topology.
        artefacts: what it compiled to.
        names: names of the Secrets.

    Raises:
        ClaimError: something is declared that cannot be run as it is declared.
    """
    if not topology.enabled:
        return ()
    trust = trust_config_map(topology, artefacts.bundles)
    ready: tuple[GroupName, ...] = ("namespace", "trust", "secrets")
    closed = [*namespace(topology), *(refuse_too_large(policy) for policy in system_policies(topology))]
    made = (
        Group("namespace", tuple(closed), ()),
        Group("trust", (trust,), ("namespace",)),
        Group("database", tuple(database(topology, names, pool=artefacts.connection_pool)), ready),
        Group("cache", tuple(cache(topology, names)), ready),
        Group("migrations", tuple(migrations(topology, names, trust.name)), (*ready, "database")),
        Group("runtimes", tuple(runtime_pods(topology, names, artefacts.sidecars)), ready),
        Group("nodePools", tuple(node_pools(topology)), ("namespace",)),
        # Nothing waits for an instance: its node may have to be made, and its model takes long to load.
        Group("instances", tuple(instance_pods(topology, names, artefacts.sidecars)), (*ready, "nodePools")),
        Group(
            "gateway",
            tuple(
                gateway(
                    topology,
                    names,
                    litellm_yaml=artefacts.litellm_yaml,
                    intake_json=artefacts.intake_json,
                    proxy_files={**artefacts.guard.files, **artefacts.front.files},
                    trust=trust.name,
                )
            ),
            (*ready, "cache", "migrations", "runtimes"),
        ),
        Group("mock", tuple(mock(topology)), ready),
        # A tenant's namespace stands by itself; the deployment makes its keys and Secrets after the gateway.
        Group("tenants", tuple(found for each in topology.tenants for found in tenant_group(topology, each)), ()),
    )
    return tuple(
        replace(group, objects=tuple(each.of(topology.environment) for each in group.objects)) for group in made
    )
