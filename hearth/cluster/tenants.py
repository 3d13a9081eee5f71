"""Tenants: a closed namespace each, one team at the gateway, one key and one Secret for each declaring application.

A Secret is written after its key is registered and removed before the key is, because it depends on it (U-1).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi

from hearth.cluster.manifest import deploy_all
from hearth.cluster.owned import Application
from hearth.cluster.secrets import RandomSecret
from hearth.compile.artefacts import Artefacts
from hearth.compile.litellm import PERSON_BUDGET
from hearth.compile.manifests.groups import tenant_group
from hearth.compile.manifests.tenants import credentials_secret_manifest
from hearth.compile.names import credentials_secret
from hearth.gatewayapi.app_key import AppKey
from hearth.gatewayapi.credentials_secret import CredentialsSecret
from hearth.gatewayapi.person_budget import PersonBudget
from hearth.gatewayapi.team import Team
from hearth.topology import topology as resolved
from hearth.topology.topology import Topology


@dataclass(frozen=True)
class Environment:
    """What an environment is, beyond what its claim says."""

    id: str
    """What everything of it is marked with."""
    former: tuple[str, ...] = ()
    """What it was called before."""
    without_secret: frozenset[Application] = frozenset()
    """Applications whose Secret's name is taken by somebody else's."""
    off: bool = False
    """Whether the gateway is switched off, so that nothing in its database can be changed."""

    @property
    def frozen(self) -> list[str] | None:
        """Return what of a resource at the gateway Pulumi leaves as it is: everything where there is no gateway."""
        return ["*"] if self.off else None


def without_secret(tenant: resolved.Tenant, app: resolved.App) -> str:
    """Return what the operator is told of an application whose Secret's name is taken."""
    name, namespace = credentials_secret(app.name), tenant.namespace
    return (
        f"hearth:tenants.{tenant.name}.apps.{app.name}: the namespace {namespace} has a Secret {name} that Hearth did "
        f"not write, so that the application gets no key. Rename that Secret or delete it (`kubectl -n {namespace} "
        f"delete secret {name}`), or rename the application, and run the same command again. Nobody else is concerned."
    )


class PersonLimit(pulumi.ComponentResource):
    """The budget that every person is held to, where the claim has one (S3-54)."""

    budget_id: pulumi.Output[str] | None
    """Its id, which every key names; none where the claim has no budget."""

    def __init__(
        self,
        environment: Environment,
        topology: Topology,
        cluster: str,
        *,
        parent: pulumi.Resource,
        gateway: Sequence[pulumi.Resource],
    ) -> None:
        super().__init__("hearth:index:PersonLimit", "person-limit", {}, pulumi.ResourceOptions(parent=parent))
        budget = topology.gateway.person_budget
        self.budget_id = None
        if budget is not None:
            self.budget_id = PersonBudget(
                PERSON_BUDGET,
                cluster=cluster,
                budget_id=PERSON_BUDGET,
                max_budget=float(budget.max_spend),
                budget_duration=budget.period,
                rpm_limit=budget.requests_per_minute,
                tpm_limit=budget.tokens_per_minute,
                opts=pulumi.ResourceOptions(parent=self, depends_on=list(gateway), ignore_changes=environment.frozen),
            ).budget_id
        self.register_outputs({})


def offered_models(artefacts: Artefacts, tenant: resolved.Tenant) -> list[str]:
    """Return the public names that a tenant's keys may use: those it declares, of those that are offered now.

    A name whose route is withheld stays away from the keys too, and comes back with the route.
    """
    offered = {str(model["model_name"]) for model in artefacts.litellm["model_list"]}
    return sorted(offered & set(tenant.models))


class Tenant(pulumi.ComponentResource):
    """One tenant (S3-45 … S3-51)."""

    def __init__(
        self,
        environment: Environment,
        topology: Topology,
        artefacts: Artefacts,
        cluster: str,
        tenant: resolved.Tenant,
        *,
        parent: pulumi.Resource,
        gateway: Sequence[pulumi.Resource],
        person_budget: pulumi.Output[str] | None,
    ) -> None:
        super().__init__("hearth:index:Tenant", tenant.name, {}, pulumi.ResourceOptions(parent=parent))
        # A namespace that the claim names may have been there before, with what others put into it: it stays.
        group = tenant_group(topology, tenant)
        objects = deploy_all(group, parent=self, retain_namespaces=tenant.names_its_namespace)
        models = offered_models(artefacts, tenant)
        limits = tenant.limits
        team = Team(
            tenant.name,
            cluster=cluster,
            environment=environment.id,
            former=environment.former,
            tenant=tenant.name,
            models=models,
            max_budget=float(limits.max_spend) if limits.max_spend else None,
            budget_duration=limits.period,
            rpm_limit=limits.requests_per_minute,
            tpm_limit=limits.tokens_per_minute,
            opts=pulumi.ResourceOptions(parent=self, depends_on=list(gateway), ignore_changes=environment.frozen),
        )
        for app in tenant.apps:
            self._application(environment, topology, cluster, tenant, app, team, models, objects, person_budget)
        self.register_outputs({})

    def _application(
        self,
        environment: Environment,
        topology: Topology,
        cluster: str,
        tenant: resolved.Tenant,
        app: resolved.App,
        team: Team,
        models: Sequence[str],
        objects: Sequence[pulumi.Resource],
        person_budget: pulumi.Output[str] | None,
    ) -> None:
        name = f"{tenant.name}--{app.name}"
        made = RandomSecret(
            name,
            prefix="sk-",
            generation=app.key_generation,
            opts=pulumi.ResourceOptions(parent=self),
        )
        key = AppKey(
            name,
            cluster=cluster,
            environment=environment.id,
            former=environment.former,
            tenant=tenant.name,
            app=app.name,
            team_id=team.team_id,
            value=made.value,
            models=models,
            generation=app.key_generation,
            grace_seconds=app.key_grace_seconds,
            parallel_requests=tenant.limits.parallel_requests,
            person_budget=person_budget,
            opts=pulumi.ResourceOptions(parent=self, ignore_changes=environment.frozen),
        )
        if Application(tenant.name, app.name) in environment.without_secret:
            pulumi.log.warn(without_secret(tenant, app), self)
            return
        CredentialsSecret(
            name,
            credentials_secret_manifest(topology, tenant, app.name, made.value),
            cluster,
            pulumi.ResourceOptions(parent=self, depends_on=[key, *objects]),
        )


class Tenants(pulumi.ComponentResource):
    """Every tenant of the claim, and what holds for every person."""

    def __init__(
        self,
        environment: Environment,
        topology: Topology,
        artefacts: Artefacts,
        cluster: str,
        *,
        parent: pulumi.Resource,
        gateway: Sequence[pulumi.Resource],
    ) -> None:
        super().__init__("hearth:index:Tenants", "tenants", {}, pulumi.ResourceOptions(parent=parent))
        persons = PersonLimit(environment, topology, cluster, parent=self, gateway=gateway)
        for tenant in topology.tenants:
            Tenant(
                environment,
                topology,
                artefacts,
                cluster,
                tenant,
                parent=self,
                gateway=gateway,
                person_budget=persons.budget_id,
            )
        self.register_outputs({})
