"""The topology of one environment: everything that artefacts are compiled from."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from hearth.claim.instances import Instance
from hearth.claim.llm import ExternalDatabase, InClusterDatabase, PersonBudget, Provider
from hearth.claim.names import service_host, tagged_model
from hearth.claim.network import NetworkZone, TrustBundle
from hearth.claim.node_pools import NodePool
from hearth.claim.operations import Operation, only_vectors
from hearth.claim.policy import Policy
from hearth.claim.routing import Alias, Deployment
from hearth.claim.tenants import Limits
from hearth.topology.upstreams import Mode, Upstream, UpstreamId

RouteKind = Literal["alias", "provider", "instance"]
"""What declares a public name."""
Obstacle = Literal["foreign_token", "no_gpu"]
"""Why a declared name is not offered, whatever evidence says: its provider names another one's token (S3-28), or the
cluster has no GPU (S3-78)."""


@dataclass(frozen=True)
class Gateway:
    """The gateway's own settings."""

    replicas: int
    """Its Pods."""
    key_cache_seconds: int
    """How long a replica may go on accepting what it knows of a key, in seconds."""
    database: InClusterDatabase | ExternalDatabase
    """Its PostgreSQL."""
    person_budget: PersonBudget | None
    """The budget of every person that a request names; none where the claim has none (S3-58)."""
    guards: int
    """Pods of the guard."""
    mock: bool
    """Whether a mock model server runs, as it does on a cluster without GPUs; it is never offered (S3-3)."""


@dataclass(frozen=True)
class Target:
    """What may answer a public name."""

    source: str
    """The deployment, or the provider or instance that declares the model."""
    upstream: str
    """Name of what answers: the endpoint, the provider or the instance."""
    reached_by: UpstreamId | None
    """The upstream; none for what is not offered."""
    mode: Mode
    """How it is reached."""
    model: str
    """Name that it knows the model by."""
    operations: tuple[Operation, ...]
    """What it may be asked for, in the order of the declaration."""
    context_tokens: int
    """Advertised context window in tokens."""
    input_micros_per_million_tokens: int
    """Price of a million prompt tokens in micro-units."""
    output_micros_per_million_tokens: int
    """Price of a million completion tokens in micro-units."""
    deployment: Deployment | None = None
    """The deployment as declared; none for a model that a provider or an instance declares."""
    vendor: bool = False
    """Whether prompts reach a vendor with it (S1-5)."""


@dataclass(frozen=True)
class Route:
    """A public model name and what may answer it."""

    name: str
    """The public name."""
    kind: RouteKind
    """What declares it."""
    targets: tuple[Target, ...]
    """What may answer, in order; the next answers only when those before it cannot (S0-7)."""
    obstacle: Obstacle | None = None
    """Why it is not offered; none when it is. Evidence is judged elsewhere."""
    max_cost_micros: int | None = None
    """Highest worst-case price of one request over all attempts, in micro-units; none without a bound (S4-125)."""

    @property
    def reaches_a_vendor(self) -> bool:
        """Return whether prompts may reach a vendor with it, if only when those before cannot answer (S1-5)."""
        return any(target.vendor for target in self.targets)


@dataclass(frozen=True)
class App:
    """An application that declares the gateway (S3-45)."""

    name: str
    """Its name."""
    key_generation: int
    """Generation of its key."""
    key_grace_seconds: int
    """How long the old key stays usable after the Secret has the new one, in seconds."""


@dataclass(frozen=True)
class Tenant:
    """One tenant (S3-49, S3-51)."""

    name: str
    """Its name."""
    namespace: str
    """Its namespace."""
    names_its_namespace: bool
    """Whether the claim names the namespace, which then stays when the tenant goes."""
    adopts_its_namespace: bool
    """Whether the namespace was made by somebody else and is taken over."""
    apps: tuple[App, ...]
    """Its applications that declare the gateway, by name; the others get nothing."""
    models: tuple[str, ...]
    """Public model names that its keys may use: those that the claim names, else all that reach no vendor."""
    limits: Limits
    """Bounds of the whole tenant."""


@dataclass(frozen=True)
class Topology:
    """Everything of one environment, resolved. Equal claims give equal topologies."""

    environment: str | None
    """What everything that is made is marked with; none for a claim that no stack file is behind."""
    enabled: bool
    """Whether there is a gateway at all (S3-2)."""
    namespace: str
    """Namespace of the gateway and of everything behind it (S3-1)."""
    adopts_its_namespace: bool
    """Whether that namespace was made by somebody else and is taken over."""
    gateway: Gateway
    """The gateway's own settings."""
    upstreams: tuple[Upstream, ...]
    """What the guard may connect to: kind by kind, each sorted by name."""
    routes: tuple[Route, ...]
    """Public names: aliases, then the models of providers, then instances, each sorted by name."""
    tenants: tuple[Tenant, ...]
    """Tenants by name."""
    policy: Policy
    """What the environment permits."""
    zones: Mapping[str, NetworkZone]
    """Declared network zones by id; the ranges of `in-cluster` are the policy's."""
    trust_bundles: Mapping[str, TrustBundle]
    """Declared trust bundles by id."""
    deployments: Mapping[str, Deployment]
    """Deployments by id, those without a public name and those that instances are included."""
    aliases: Mapping[str, Alias]
    """Aliases as declared, by public name."""
    providers: tuple[Provider, ...]
    """Providers that may be offered, by name."""
    node_pools: Mapping[str, NodePool]
    """GPU node pools by name."""
    instances: tuple[Instance, ...]
    """Declared instances."""

    def service_host(self, service: str) -> str:
        """Return the DNS name of a Service of the gateway's namespace."""
        return service_host(service, self.policy.cluster.domain)

    def upstream(self, upstream_id: UpstreamId) -> Upstream:
        """Return an upstream.

        Raises:
            KeyError: there is none of that id.
        """
        if upstream_id not in self._by_id:
            raise KeyError(str(upstream_id))
        return self._by_id[upstream_id]

    @cached_property
    def _by_id(self) -> dict[UpstreamId, Upstream]:
        return {upstream.id: upstream for upstream in self.upstreams}

    def endpoint(self, name: str) -> Upstream:
        """Return the upstream of an endpoint.

        Raises:
            KeyError: there is no such endpoint.
        """
        return self.upstream(UpstreamId("endpoint", name))

    @property
    def longest_request_ms(self) -> int:
        """Return the longest time that an answer may take to begin, in ms: trying several deployments extends nothing.

        0 without an upstream.
        """
        return max((upstream.bounds.request_timeout_ms for upstream in self.upstreams), default=0)

    @property
    def endpoints(self) -> tuple[Upstream, ...]:
        """Return the upstreams that are endpoints, those that instances are among them, by name."""
        found = (upstream for upstream in self.upstreams if upstream.id.kind == "endpoint")
        return tuple(sorted(found, key=lambda upstream: upstream.id))

    @property
    def pods(self) -> tuple[Upstream, ...]:
        """Return the upstreams that Hearth runs in Pods of the cluster, by name."""
        return tuple(upstream for upstream in self.endpoints if upstream.in_a_pod)

    @property
    def hosts(self) -> tuple[Upstream, ...]:
        """Return the upstreams that Hearth runs on hosts, by name."""
        return tuple(upstream for upstream in self.upstreams if upstream.on_a_host)

    def model_embeds(self, upstream: Upstream, model: str) -> bool:
        """Return whether the deployments of one model behind an upstream ask for vectors alone."""
        asked = [
            found
            for found in self.deployments_on(upstream).values()
            if tagged_model(found.model) == tagged_model(model)
        ]
        return only_vectors({operation for found in asked for operation in found.operations})

    def deployments_on(self, upstream: Upstream) -> Mapping[str, Deployment]:
        """Return the deployments behind an upstream by id, sorted."""
        if upstream.id.kind != "endpoint":
            return {}
        return {
            name: deployment
            for name, deployment in sorted(self.deployments.items())
            if deployment.endpoint == upstream.id.name
        }
