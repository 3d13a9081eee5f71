"""The claim: everything that one environment declares."""

from pydantic import Field

from hearth.claim.base import EnvironmentId, Identifier, Shape
from hearth.claim.endpoints import Endpoint
from hearth.claim.later import Mesh, PrivateInstance
from hearth.claim.llm import Llm
from hearth.claim.network import NetworkZone, TrustBundle
from hearth.claim.node_pools import NodePool
from hearth.claim.policy import Policy
from hearth.claim.routing import Alias, Deployment
from hearth.claim.tenants import Tenant


class Claim(Shape):
    """One environment. Each field is a configuration key of the Pulumi project `hearth` (S4-158)."""

    environment: EnvironmentId | None = None
    """What everything that this environment makes is marked with; the stack's name when absent. Whatever exists
    without this mark is left alone. It may change: what carries the old mark gets the new one."""
    llm: Llm
    """The gateway, its instances, providers, console and person budget."""
    network_zones: dict[Identifier, NetworkZone] = Field(default_factory=dict)
    """Outbound allow-lists by zone id."""
    trust_bundles: dict[Identifier, TrustBundle] = Field(default_factory=dict)
    """CA certificates by bundle id."""
    endpoints: dict[Identifier, Endpoint] = Field(default_factory=dict)
    """Addresses that the gateway may connect to, by endpoint id."""
    deployments: dict[Identifier, Deployment] = Field(default_factory=dict)
    """Models behind endpoints, by deployment id."""
    aliases: dict[str, Alias] = Field(default_factory=dict)
    """Public model names."""
    tenants: dict[Identifier, Tenant] = Field(default_factory=dict)
    """Tenants by name."""
    private_instances: dict[Identifier, PrivateInstance] = Field(default_factory=dict)
    """Model servers with a route of their own. Not supported yet."""
    node_pools: dict[Identifier, NodePool] = Field(default_factory=dict)
    """GPU node pools by name."""
    mesh: Mesh = Mesh()
    """Sharing with other sites. Not supported yet."""
    policy: Policy = Policy()
    """What this environment permits."""

    def deployments_on(self, endpoint: str) -> tuple[Deployment, ...]:
        """Return the deployments of an endpoint.

        Args:
            endpoint: its id.
        """
        return tuple(found for found in self.deployments.values() if found.endpoint == endpoint)
