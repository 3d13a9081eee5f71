"""NetworkPolicies: one complete set for `system-llm`, and one for every tenant (C-1, C-23, S3-51, S3-90).

Every namespace denies both ways by default, and one policy for each role opens exactly its paths. A first policy that
opened one of them alone would cut off DNS, the database and the cache, so the set is whole or, for egress, absent.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from ipaddress import IPv4Network, ip_network
from typing import Any, Final

from hearth.claim.addresses import without
from hearth.claim.llm import ExternalDatabase
from hearth.compile.guard_ranges import zone_addresses
from hearth.compile.manifests.cache import CACHE_PORT
from hearth.compile.manifests.common import Object, labels
from hearth.compile.manifests.connection import POSTGRES_PORT
from hearth.compile.manifests.model import fetches_from_network, pod_models
from hearth.compile.names import (
    APP_LABEL,
    ENDPOINT_LABEL,
    GATEWAY_PORT,
    GUARD_PORT,
    ROLE_LABEL,
    RUNNER_NAMESPACE,
    SIDECAR_PORT,
    TENANT_LABEL,
)
from hearth.topology.topology import Tenant, Topology

NAMESPACE_LABEL: Final = "kubernetes.io/metadata.name"
"""Label that the API server itself puts on every namespace; nobody can give it another value."""
INTERNAL_IPV4: Final = (
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "224.0.0.0/3",
)
"""What a policy for public addresses leaves out: private, link-local, metadata, shared and multicast ranges."""
PUBLIC_IPV6: Final = "2000::/3"
"""The public addresses of IPv6."""

Rule = dict[str, Any]


def _tcp(*ports: int) -> list[dict[str, Any]]:
    return [{"protocol": "TCP", "port": port} for port in ports]


def _dns(topology: Topology) -> Rule:
    cluster = topology.policy.cluster
    server = {
        "namespaceSelector": {"matchLabels": {NAMESPACE_LABEL: cluster.dns_namespace}},
        "podSelector": {"matchLabels": dict(sorted(cluster.dns_labels.items()))},
    }
    ports = [{"protocol": protocol, "port": 53} for protocol in ("UDP", "TCP")]
    # No Pod selector reaches the node-local cache.
    node_local = [_block(str(ip_network(address))) for address in cluster.node_local_dns]
    return {"to": [server, *node_local], "ports": ports}


def _role(*roles: str) -> dict[str, Any]:
    if len(roles) == 1:
        return {"podSelector": {"matchLabels": {ROLE_LABEL: roles[0]}}}
    return {"podSelector": {"matchExpressions": [{"key": ROLE_LABEL, "operator": "In", "values": list(roles)}]}}


def _block(cidr: str) -> dict[str, Any]:
    return {"ipBlock": {"cidr": cidr}}


def _blocks(cidrs: Iterable[str], port: int) -> Rule:
    return {"to": [_block(cidr) for cidr in cidrs], "ports": _tcp(port)}


def _public(topology: Topology, port: int) -> Rule:
    """Return the rule for public upstreams; the guard refuses the remaining special ranges.

    The ranges are listed instead of excepted from 0.0.0.0/0, because a network plugin has been seen to ignore `except`.
    """
    left = without(IPv4Network("0.0.0.0/0"), [IPv4Network(cidr) for cidr in INTERNAL_IPV4])
    cidrs = [str(network) for network in left]
    if _has_ipv6(topology):
        cidrs.append(PUBLIC_IPV6)
    return _blocks(cidrs, port)


def _has_ipv6(topology: Topology) -> bool:
    """Return whether the cluster has IPv6; a network plugin without it may refuse a policy that speaks of it."""
    ranges = topology.policy.cluster_cidrs
    return ranges is not None and any(":" in cidr for cidr in ranges.pods)


def _policy(
    namespace: str,
    name: str,
    component: str,
    selector: dict[str, Any],
    *,
    ingress: Sequence[Rule] | None = None,
    egress: Sequence[Rule] | None = None,
    more_labels: dict[str, str] | None = None,
) -> Object:
    """Return a NetworkPolicy; `None` leaves a direction alone, an empty list closes it."""
    spec: dict[str, Any] = {"podSelector": selector, "policyTypes": []}
    for direction, rules in (("Ingress", ingress), ("Egress", egress)):
        if rules is not None:
            spec["policyTypes"].append(direction)
            if rules:
                spec[direction.lower()] = list(rules)
    return Object.named(
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": {
                "name": name,
                "namespace": namespace,
                "labels": {**labels(name, component), **(more_labels or {})},
            },
            "spec": spec,
        }
    )


def _for_role(role: str) -> dict[str, Any]:
    return {"matchLabels": {ROLE_LABEL: role}}


def _clients(topology: Topology) -> list[dict[str, Any]]:
    """Return who may call the gateway: declaring apps in their tenant's namespace, each listed by name (C-23).

    The namespace is named as well as labelled: a label that somebody else puts on a namespace opens nothing.
    """
    return [
        {
            "namespaceSelector": {"matchLabels": {NAMESPACE_LABEL: tenant.namespace, TENANT_LABEL: tenant.name}},
            "podSelector": {
                "matchExpressions": [{"key": APP_LABEL, "operator": "In", "values": [app.name for app in tenant.apps]}]
            },
        }
        for tenant in topology.tenants
        if tenant.apps
    ]


def _database_egress(topology: Topology) -> Rule:
    database = topology.gateway.database
    if isinstance(database, ExternalDatabase):
        return _blocks(database.cidrs, database.port)
    return {"to": [_role("database")], "ports": _tcp(POSTGRES_PORT)}


def _gateway_egress(topology: Topology, *, name_server: bool) -> list[Rule]:
    """Return the ways out of the gateway's Pods: what is inside, and no name server unless one has to be asked."""
    return [
        *([_dns(topology)] if name_server else []),
        _database_egress(topology),
        {"to": [_role("cache")], "ports": _tcp(CACHE_PORT)},
        {"to": [_role("guard")], "ports": _tcp(GUARD_PORT)},
    ]


def _guard_egress(topology: Topology) -> list[Rule]:
    rules = [_dns(topology)]
    in_pods = [pod.id.name for pod in topology.pods]
    if in_pods:
        runtimes = {
            "matchLabels": {ROLE_LABEL: "runtime"},
            "matchExpressions": [{"key": ENDPOINT_LABEL, "operator": "In", "values": in_pods}],
        }
        rules.append({"to": [{"podSelector": runtimes}], "ports": _tcp(SIDECAR_PORT)})
    hosts: dict[int, set[str]] = {}
    public: set[int] = set()
    for upstream in topology.upstreams:
        if upstream.in_a_pod:
            continue
        port = upstream.address.port
        if upstream.mode == "public_tls":
            public.add(port)
        else:
            allowed = zone_addresses(upstream.destinations)
            cidrs = (*allowed.ipv4, *(allowed.ipv6 if _has_ipv6(topology) else ()))
            hosts.setdefault(port, set()).update(cidrs)
    rules += [_blocks(sorted(cidrs), port) for port, cidrs in sorted(hosts.items()) if cidrs]
    rules += [_public(topology, port) for port in sorted(public)]
    return rules


def _runtimes(topology: Topology, closed: bool) -> list[Object]:
    """Return one policy for all runtimes, and one for each that fetches its model from the network."""
    policy = partial(_policy, topology.namespace)
    runner = {"namespaceSelector": {"matchLabels": {NAMESPACE_LABEL: RUNNER_NAMESPACE}}, **_role("runner")}
    callers = {"from": [_role("guard"), runner], "ports": _tcp(SIDECAR_PORT)}
    made = [
        policy(
            "llm-runtime-guarded",
            "runtime",
            _for_role("runtime"),
            ingress=[callers],
            egress=[] if closed else None,
        )
    ]
    for pod in topology.pods:
        if closed and fetches_from_network(pod_models(pod)):
            endpoint_id = pod.id.name
            selector = {"matchLabels": {ROLE_LABEL: "runtime", ENDPOINT_LABEL: endpoint_id}}
            name = f"llm-runtime-{endpoint_id}-model"
            made.append(policy(name, "runtime", selector, egress=[_dns(topology), _public(topology, 443)]))
    return made


def runner_policies(topology: Topology) -> list[Object]:
    """Return the NetworkPolicies of the runner's namespace: to the Pods of runtimes and the name server, no further.

    Args:
        topology: the topology.
    """
    if not topology.pods:
        return []
    closed = topology.policy.egress == "enforce"
    policy = partial(_policy, RUNNER_NAMESPACE)
    inside = {"namespaceSelector": {"matchLabels": {NAMESPACE_LABEL: topology.namespace}}, **_role("runtime")}
    # Every port: that the runtime's own is closed has to be the Pod's doing, and the one policy there lets in one port.
    ways = [_dns(topology), {"to": [inside]}]
    return [
        policy("default-deny", "isolation", {}, ingress=[], egress=[] if closed else None),
        policy("hearth-runner", "runner", _for_role("runner"), ingress=[], egress=ways if closed else None),
    ]


def system_policies(topology: Topology, *, name_server: bool) -> list[Object]:
    """Return the NetworkPolicies of `system-llm`, the default denial first.

    With `policy.egress: none` they close and open ingress alone (C-1). Nothing opens the metadata addresses of clouds.

    `llm-gateway-inside` and `llm-runtime-guarded` were `llm-gateway` and `llm-runtime` when the gateway's Pods
    connected by themselves. Under new names, the old ones stay until those Pods are gone, and no request is cut off.

    Args:
        topology: the topology.
        name_server: whether the gateway's Pods have to ask the cluster's name server.
    """
    policy = partial(_policy, topology.namespace)
    closed = topology.policy.egress == "enforce"

    def egress(*rules: Rule) -> list[Rule] | None:
        return list(rules) if closed else None

    clients = _clients(topology)
    made = [
        policy("default-deny", "isolation", {}, ingress=[], egress=egress()),
        policy(
            "llm-gateway-inside",
            "gateway",
            _for_role("gateway"),
            ingress=[{"from": clients, "ports": _tcp(GATEWAY_PORT)}] if clients else [],
            egress=egress(*_gateway_egress(topology, name_server=name_server)),
        ),
        policy(
            "llm-guard",
            "guard",
            _for_role("guard"),
            ingress=[{"from": [_role("gateway")], "ports": _tcp(GUARD_PORT)}],
            egress=egress(*_guard_egress(topology)),
        ),
        policy(
            "llm-migrations",
            "migrations",
            _for_role("migrations"),
            ingress=[],
            egress=egress(_dns(topology), _database_egress(topology)),
        ),
        policy(
            "llm-cache",
            "cache",
            _for_role("cache"),
            ingress=[{"from": [_role("gateway")], "ports": _tcp(CACHE_PORT)}],
            egress=egress(),
        ),
    ]
    if not isinstance(topology.gateway.database, ExternalDatabase):
        users = {"from": [_role("gateway", "migrations")], "ports": _tcp(POSTGRES_PORT)}
        made.append(policy("llm-database", "database", _for_role("database"), ingress=[users], egress=egress()))
    if topology.pods:
        made += _runtimes(topology, closed)
    if topology.gateway.mock:
        # It is never offered, so that nobody calls it.
        made.append(policy("llm-mock", "mock", _for_role("mock"), ingress=[], egress=egress()))
    return made


def tenant_policies(topology: Topology, tenant: Tenant) -> list[Object]:
    """Return the NetworkPolicies of a tenant's namespace: closed both ways, and one way out for each declaring app.

    `policy.egress` does not concern them: a tenant's namespace is always closed (S3-51).

    Args:
        topology: the topology.
        tenant: the tenant.
    """
    namespace, owner = tenant.namespace, {TENANT_LABEL: tenant.name}
    gateway = {"namespaceSelector": {"matchLabels": {NAMESPACE_LABEL: topology.namespace}}, **_role("gateway")}
    made = [_policy(namespace, "default-deny", "isolation", {}, ingress=[], egress=[], more_labels=owner)]
    for app in tenant.apps:
        made.append(
            _policy(
                namespace,
                f"llm-{app.name}",
                "tenant",
                {"matchLabels": {APP_LABEL: app.name}},
                egress=[_dns(topology), {"to": [gateway], "ports": _tcp(GATEWAY_PORT)}],
                more_labels={**owner, APP_LABEL: app.name},
            )
        )
    return made
