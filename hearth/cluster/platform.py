"""The platform of one environment: which groups of objects are deployed after which."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from hearth.claim.claim import Claim
from hearth.cluster.manifest import deploy, deploy_all
from hearth.cluster.system_secrets import SystemSecrets
from hearth.cluster.tenants import Tenants
from hearth.compile.artefacts import Artefacts
from hearth.compile.manifests.credentials import SecretNames
from hearth.compile.manifests.groups import groups
from hearth.versions import versions


class Group(pulumi.ComponentResource):
    """Objects that are deployed as one. A component groups and orders; it builds nothing."""

    def __init__(
        self,
        name: str,
        manifests: Sequence[Mapping[str, Any]],
        *,
        parent: pulumi.Resource,
        depends_on: Sequence[pulumi.Resource] = (),
    ) -> None:
        super().__init__("hearth:index:Group", name, {}, pulumi.ResourceOptions(parent=parent))
        self.objects = deploy_all(manifests, parent=self, depends_on=depends_on)
        self.register_outputs({})


def _cluster_provider(parent: pulumi.Resource, stack: str) -> pulumi.ProviderResource:
    """Return the Kubernetes provider: one explicit provider, so that no object lands in a cluster by accident.

    `kubernetes:kubeconfig` and `kubernetes:context` of the stack say which cluster; without them it is what the
    environment's KUBECONFIG says. The identifier keeps an endpoint that moved from replacing everything.
    """
    config = pulumi.Config("kubernetes")
    return pulumi.ProviderResource(
        "kubernetes",
        "cluster",
        {"kubeconfig": config.get("kubeconfig"), "context": config.get("context"), "clusterIdentifier": stack},
        pulumi.ResourceOptions(parent=parent, version=versions()["PULUMI_KUBERNETES_VERSION"].removeprefix("v")),
    )


class Platform(pulumi.ComponentResource):
    """Everything of one environment in the cluster."""

    def __init__(self, stack: str, claim: Claim, artefacts: Artefacts) -> None:
        super().__init__("hearth:index:Platform", stack)
        if claim.llm.enabled:
            self._deploy(stack, claim, artefacts)
        self.register_outputs({})

    def _deploy(self, stack: str, claim: Claim, artefacts: Artefacts) -> None:
        # What cannot be built is refused here, before anything is declared.
        groups(claim, artefacts, SecretNames.by_reference(claim))
        cluster = _cluster_provider(self, stack)
        inside = pulumi.ComponentResource(
            "hearth:index:Cluster", "system-llm", {}, pulumi.ResourceOptions(parent=self, providers=[cluster])
        )
        secrets = SystemSecrets(claim, parent=inside)
        found = groups(claim, artefacts, secrets.names)

        namespace = Group("namespace", found["namespace"], parent=inside)
        trust = Group("trust", found["trust"], parent=inside, depends_on=namespace.objects)
        made = [deploy(m, name=name, parent=secrets, depends_on=namespace.objects) for name, m in secrets.manifests]
        ready = [*namespace.objects, *trust.objects, *made]
        database = Group("database", found["database"], parent=inside, depends_on=ready)
        cache = Group("cache", found["cache"], parent=inside, depends_on=ready)
        migrations = Group("migrations", found["migrations"], parent=inside, depends_on=[*ready, *database.objects])
        runtimes = Group("runtimes", found["runtimes"], parent=inside, depends_on=ready)
        gateway = Group(
            "gateway",
            found["gateway"],
            parent=inside,
            depends_on=[*ready, *cache.objects, *migrations.objects, *runtimes.objects],
        )
        Group("mock", found["mock"], parent=inside, depends_on=ready)
        Tenants(stack, claim, artefacts, parent=inside, gateway=gateway.objects)
