"""From a claim to its topology: the one place where it is worked out what the parts of a claim mean together."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from hearth.claim.claim import Claim
from hearth.claim.names import NAMESPACE, tenant_namespace
from hearth.topology.endpoints import endpoint_upstreams
from hearth.topology.instances import instance_deployments, instance_upstreams
from hearth.topology.providers import offered_providers, provider_upstreams
from hearth.topology.routes import routes
from hearth.topology.topology import App, Gateway, Route, Tenant, Topology
from hearth.topology.upstreams import Upstream

KINDS: Final[tuple[Callable[[Claim], Iterator[Upstream]], ...]] = (
    endpoint_upstreams,
    provider_upstreams,
    instance_upstreams,
)
"""What yields the upstreams of each kind."""


def resolve(claim: Claim) -> Topology:
    """Return the topology of a claim.

    Args:
        claim: a claim that passed the rules.
    """
    found_routes = tuple(routes(claim))
    return Topology(
        environment=claim.environment,
        enabled=claim.llm.enabled,
        namespace=NAMESPACE,
        adopts_its_namespace=NAMESPACE in claim.policy.adopt.namespaces,
        gateway=Gateway(
            replicas=claim.llm.gateway.replicas,
            key_cache_seconds=claim.llm.gateway.key_cache_seconds,
            database=claim.llm.database,
            person_budget=claim.llm.person_budget,
            guards=claim.llm.guard.replicas,
            mock=not claim.llm.gpu_acceleration,
        ),
        upstreams=tuple(upstream for kind in KINDS for upstream in kind(claim)),
        routes=found_routes,
        tenants=tuple(_tenants(claim, found_routes)),
        policy=claim.policy,
        zones=claim.network_zones,
        trust_bundles=claim.trust_bundles,
        deployments={**claim.deployments, **instance_deployments(claim)},
        aliases=claim.aliases,
        providers=offered_providers(claim),
        node_pools=claim.node_pools,
        instances=claim.llm.instances,
    )


def _tenants(claim: Claim, found_routes: Sequence[Route]) -> Iterator[Tenant]:
    # A vendor's models reach a tenant that names them, and no other (S1-5).
    inside = tuple(route.name for route in found_routes if not route.reaches_a_vendor)
    for name, tenant in sorted(claim.tenants.items()):
        namespace = tenant_namespace(name, tenant)
        yield Tenant(
            name=name,
            namespace=namespace,
            names_its_namespace=tenant.namespace is not None,
            adopts_its_namespace=namespace in claim.policy.adopt.namespaces,
            apps=tuple(
                App(app, declared.key_generation, declared.key_grace_seconds)
                for app, declared in sorted(tenant.apps.items())
                if declared.llm
            ),
            models=inside if tenant.models is None else tenant.models,
            limits=tenant.limits,
        )
