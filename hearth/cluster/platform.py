"""The platform of one environment: which groups of objects are deployed after which."""

from collections.abc import Collection, Sequence

import pulumi

from hearth.cluster.manifest import Manifest, deploy, deploy_all
from hearth.cluster.owned import require_owned
from hearth.cluster.preflight import require_fit
from hearth.cluster.switched_off import what_stays
from hearth.cluster.system_secrets import SystemSecrets
from hearth.cluster.tenants import Environment, Tenants
from hearth.compile.artefacts import Artefacts
from hearth.compile.manifests import groups as compiled
from hearth.kubeapi.client import KubernetesApi
from hearth.kubeapi.cluster import Cluster
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


def cluster_provider(parent: pulumi.Resource, stack: str, cluster: Cluster) -> pulumi.ProviderResource:
    """Return the Kubernetes provider: one explicit provider, with the cluster that everything else uses too.

    The identifier keeps an endpoint that moved from replacing everything; that the cluster is still the same one is
    checked before (`hearth.cluster.program`).
    """
    # A kubeconfig has keys in it; the path of one is no secret, and is shown when it changes.
    kubeconfig = pulumi.Output.secret(cluster.kubeconfig) if cluster.is_content else cluster.kubeconfig
    return pulumi.ProviderResource(
        "kubernetes",
        "cluster",
        {"kubeconfig": kubeconfig, "context": cluster.context, "clusterIdentifier": stack},
        pulumi.ResourceOptions(parent=parent, version=versions()["PULUMI_KUBERNETES_VERSION"].removeprefix("v")),
    )


def cluster_addresses(services: compiled.Group, made: Sequence[pulumi.Resource]) -> dict[str, pulumi.Output[str]]:
    """Return the addresses that the cluster gave to Services, by name.

    Args:
        services: the Services.
        made: their resources, in the same order.
    """
    found = {}
    for declared, resource in zip(services.objects, made, strict=True):
        if isinstance(resource, Manifest):
            found[declared.stable_name] = resource.spec.apply(lambda spec: str(spec["clusterIP"]))
    return found


class Platform(pulumi.ComponentResource):
    """Everything of one environment in the cluster."""

    def __init__(
        self,
        stack: str,
        topology: Topology,
        artefacts: Artefacts,
        kubernetes: KubernetesApi | None,
        former: Collection[str] = (),
        *,
        off: bool = False,
    ) -> None:
        """Declare the platform.

        Args:
            stack: name of the stack.
            topology: what its claim declares.
            artefacts: what was compiled from it.
            kubernetes: the cluster; none where the claim declares nothing.
            former: what the environment was called before.
            off: whether the gateway is switched off, so that only what holds data stays.

        Raises:
            ClaimError: something cannot be built, or would take over or delete what is somebody else's; nothing has
                been declared by then.
            ClusterError: the Kubernetes API cannot be used.
        """
        super().__init__("hearth:index:Platform", stack)
        if topology.enabled and kubernetes is not None:
            self._deploy(stack, topology, artefacts, kubernetes, tuple(former), off=off)
        self.register_outputs({})

    def _deploy(
        self,
        stack: str,
        topology: Topology,
        artefacts: Artefacts,
        kubernetes: KubernetesApi,
        former: tuple[str, ...],
        *,
        off: bool,
    ) -> None:
        # What cannot be built is refused here, before anything is declared.
        known = compiled.known_groups(topology, artefacts)
        require_fit(kubernetes, topology, known)
        environment = Environment(
            topology.environment or stack, former, require_owned(kubernetes, topology, known, former), off
        )
        cluster = cluster_provider(self, stack, kubernetes.cluster)
        inside = pulumi.ComponentResource(
            "hearth:index:Cluster", "system-llm", {}, pulumi.ResourceOptions(parent=self, providers=[cluster])
        )
        secrets = SystemSecrets(topology, kubernetes, parent=inside)
        # These two refer to nothing that only the deployment knows; the addresses of the services are then known.
        first = {group.name: group for group in known}
        made: dict[compiled.GroupName, Sequence[pulumi.Resource]] = {}
        made["namespace"] = Group(first["namespace"], parent=inside).objects
        made["secrets"] = [
            deploy(each.of(topology.environment), parent=secrets, depends_on=made["namespace"])
            for each in secrets.objects
        ]
        services = what_stays(first["services"]) if off else first["services"]
        made["services"] = Group(services, parent=inside, depends_on=made["namespace"]).objects
        addresses = cluster_addresses(services, made["services"])
        for found in compiled.groups(topology, artefacts, secrets.names, addresses=addresses):
            group = what_stays(found) if off else found
            if group.name in made:
                continue
            if group.name == "tenants":
                Tenants(environment, topology, artefacts, kubernetes.identity, parent=inside, gateway=made["gateway"])
            else:
                needed = [resource for need in group.needs for resource in made[need]]
                made[group.name] = Group(group, parent=inside, depends_on=needed).objects
