"""All manifests of a topology, in groups that say what they need."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from hearth.compile.artefacts import Artefacts
from hearth.compile.manifests.cache import cache
from hearth.compile.manifests.common import Object, refuse_too_large
from hearth.compile.manifests.credentials import SecretNames
from hearth.compile.manifests.database import database
from hearth.compile.manifests.gateway import gateway
from hearth.compile.manifests.guard import guard_common, guard_replica
from hearth.compile.manifests.migrations import migrations
from hearth.compile.manifests.mock import mock
from hearth.compile.manifests.namespace import namespace
from hearth.compile.manifests.node_pools import node_pools
from hearth.compile.manifests.policies import runner_policies, system_policies, tenant_policies
from hearth.compile.manifests.runner import runner
from hearth.compile.manifests.runtime_pod import instance_pods, runtime_pods
from hearth.compile.manifests.services import asks_a_name_server, services
from hearth.compile.manifests.tenants import tenant_objects
from hearth.compile.manifests.trust import trust_config_map
from hearth.topology.topology import Tenant, Topology

GroupName = Literal[
    "namespace",
    "trust",
    "secrets",
    "services",
    "database",
    "cache",
    "migrations",
    "runtimes",
    "nodePools",
    "instances",
    "guard",
    "guard-0",
    "guard-1",
    "gateway",
    "mock",
    "runner",
    "tenants",
]
"""What is deployed as one. `secrets` is what only the deployment can make; no group holds it, and others need it."""


GUARD_GROUPS: Final[tuple[GroupName, ...]] = ("guard-0", "guard-1")
"""Replicas of the guard: each is a group of its own, so that they are replaced one after the other."""


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


def groups(
    topology: Topology, artefacts: Artefacts, names: SecretNames, *, addresses: Mapping[str, Any] | None
) -> tuple[Group, ...]:
    """Return the manifests by group, each group after those that it needs.

    Without a gateway there are none at all (S3-2).

    Args:
        topology: the topology.
        artefacts: what it compiled to.
        names: names of the Secrets.
        addresses: cluster addresses of the group `services` by name; none where they are not known, so that the gateway
            has to ask the cluster's name server.

    Raises:
        ClaimError: something is declared that cannot be run as it is declared.
    """
    if not topology.enabled:
        return ()
    trust = trust_config_map(topology, artefacts.bundles)
    ready: tuple[GroupName, ...] = ("namespace", "trust", "secrets")
    policies = system_policies(topology, name_server=asks_a_name_server(topology, addresses))
    closed = [*namespace(topology), *(refuse_too_large(policy) for policy in policies)]
    made = (
        Group("namespace", tuple(closed), ()),
        Group("trust", (trust,), ("namespace",)),
        Group("services", tuple(services(topology)), ("namespace",)),
        Group("database", tuple(database(topology, names, pool=artefacts.connection_pool)), ready),
        Group("cache", tuple(cache(topology, names)), ready),
        Group("migrations", tuple(migrations(topology, names, trust.name)), (*ready, "database")),
        Group("runtimes", tuple(runtime_pods(topology, names, artefacts.sidecars)), ready),
        Group("nodePools", tuple(node_pools(topology)), ("namespace",)),
        # Nothing waits for an instance: its node may have to be made, and its model takes long to load.
        Group("instances", tuple(instance_pods(topology, names, artefacts.sidecars)), (*ready, "nodePools")),
        *_guard(topology, names, artefacts.guard.files, trust, ready),
        Group(
            "gateway",
            tuple(
                gateway(
                    topology,
                    names,
                    litellm_yaml=artefacts.litellm_yaml,
                    intake_json=artefacts.intake_json,
                    front_files=artefacts.front.files,
                    trust=trust.name,
                    addresses=addresses,
                )
            ),
            (*ready, "services", "cache", "migrations", "runtimes", *GUARD_GROUPS[: topology.gateway.guards]),
        ),
        Group("mock", tuple(mock(topology)), ready),
        # A namespace that stands by itself, as those of tenants do.
        Group("runner", (*runner(topology), *runner_policies(topology)), ()),
        # A tenant's namespace stands by itself; the deployment makes its keys and Secrets after the gateway.
        Group("tenants", tuple(found for each in topology.tenants for found in tenant_group(topology, each)), ()),
    )
    return tuple(
        replace(group, objects=tuple(each.of(topology.environment) for each in group.objects)) for group in made
    )


def known_groups(topology: Topology, artefacts: Artefacts) -> tuple[Group, ...]:
    """Return the manifests as they are known before a deployment: Secrets by their plain names, no address learnt yet.

    Args:
        topology: the topology.
        artefacts: what it compiled to.

    Raises:
        ClaimError: something is declared that cannot be run as it is declared.
    """
    return groups(topology, artefacts, SecretNames.by_reference(topology), addresses={})


def _guard(
    topology: Topology, names: SecretNames, files: Mapping[str, str], trust: Object, ready: tuple[GroupName, ...]
) -> list[Group]:
    """Return what the replicas of the guard have in common, and each replica after the one before it."""
    made = [Group("guard", tuple(guard_common(topology, files)), ready)]
    for replica, name in enumerate(GUARD_GROUPS[: topology.gateway.guards]):
        objects = guard_replica(topology, names, replica, files=files, trust=trust.name)
        made.append(Group(name, tuple(objects), (*ready, "services", made[-1].name)))
    return made
