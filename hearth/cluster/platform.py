"""The platform of one environment: which groups of objects are deployed after which."""

from collections.abc import Sequence

import pulumi

from hearth.cluster.manifest import deploy, deploy_all
from hearth.cluster.system_secrets import SystemSecrets
from hearth.cluster.tenants import Tenants
from hearth.compile.artefacts import Artefacts
from hearth.compile.manifests import groups as compiled
from hearth.compile.manifests.credentials import SecretNames
from hearth.topology.topology import Topology
from hearth.versions import versions


class Group(pulumi.ComponentResource):
    """Objects that are deployed as one. A component groups and orders; it builds nothing."""

    def __init__(
        self, group: compiled.Group, *, parent: pulumi.Resource, depends_on: Sequence[pulumi.Resource] = ()
    ) -> None:
        super().__init__("hearth:index:Group", group.name, {}, pulumi.ResourceOptions(parent=parent))
        self.objects = deploy_all(group.objects, parent=self, depends_on=depends_on)
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

    def __init__(self, stack: str, topology: Topology, artefacts: Artefacts) -> None:
        super().__init__("hearth:index:Platform", stack)
        if topology.enabled:
            self._deploy(stack, topology, artefacts)
        self.register_outputs({})

    def _deploy(self, stack: str, topology: Topology, artefacts: Artefacts) -> None:
        # What cannot be built is refused here, before anything is declared.
        compiled.groups(topology, artefacts, SecretNames.by_reference(topology))
        cluster = _cluster_provider(self, stack)
        inside = pulumi.ComponentResource(
            "hearth:index:Cluster", "system-llm", {}, pulumi.ResourceOptions(parent=self, providers=[cluster])
        )
        secrets = SystemSecrets(topology, parent=inside)
        namespace, *others = compiled.groups(topology, artefacts, secrets.names)
        made: dict[compiled.GroupName, Sequence[pulumi.Resource]] = {}
        made["namespace"] = Group(namespace, parent=inside).objects
        made["secrets"] = [deploy(each, parent=secrets, depends_on=made["namespace"]) for each in secrets.objects]
        for group in others:
            if group.name == "tenants":
                Tenants(stack, topology, artefacts, parent=inside, gateway=made["gateway"])
            else:
                needed = [resource for need in group.needs for resource in made[need]]
                made[group.name] = Group(group, parent=inside, depends_on=needed).objects
