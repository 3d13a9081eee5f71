"""Tenants: a closed namespace each, one team at the gateway, one key and one Secret for each declaring application."""

from collections.abc import Sequence

import pulumi

from hearth.claim.claim import Claim
from hearth.cluster.manifest import deploy_all
from hearth.compile.artefacts import Artefacts
from hearth.compile.manifests.groups import tenant


class Tenants(pulumi.ComponentResource):
    """Every tenant of the claim."""

    def __init__(
        self,
        stack: str,
        claim: Claim,
        artefacts: Artefacts,
        *,
        master_key: pulumi.Output[str],
        parent: pulumi.Resource,
        gateway: Sequence[pulumi.Resource],
    ) -> None:
        super().__init__("hearth:index:Tenants", "tenants", {}, pulumi.ResourceOptions(parent=parent))
        for name in sorted(claim.tenants):
            deploy_all(tenant(claim, name), parent=self)
        self.register_outputs({})
