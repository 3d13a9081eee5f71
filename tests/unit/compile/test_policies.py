"""NetworkPolicies, judged by what they let through: a small evaluator of the API's own rules over all pairs of Pods."""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Any

import pytest

from hearth.claim.claim import Claim
from hearth.compile.manifests import policies as built
from hearth.topology.resolve import resolve
from tests.support import claims
from tests.support.compiling import tenant_of
from tests.support.proxy_claims import claim, plaintext_endpoint, private_endpoint, provider, sidecar_endpoint

TENANTS = {
    "family": {"apps": {"notes": {"llm": True}, "chat": {"llm": True}, "photos": {"llm": False}}},
    "work": {"namespace": "team-work", "apps": {"notes": {"llm": True}}},
    "silent": {"apps": {"notes": {"llm": False}}},
}


@dataclass(frozen=True)
class Pod:
    """A Pod, or an address outside the cluster when it has no namespace."""

    name: str
    namespace: str | None
    labels: tuple[tuple[str, str], ...] = ()
    namespace_labels: tuple[tuple[str, str], ...] = ()


def system(role: str, **labels: str) -> Pod:
    own = {"hearth.dev/role": role, **{f"hearth.dev/{key}": value for key, value in labels.items()}}
    return Pod(labels.get("endpoint", role), "system-llm", tuple(own.items()))


def tenant_pod(tenant: str, app: str, namespace: str | None = None, label: str | None = None) -> Pod:
    space = namespace or f"tenant-{tenant}"
    return Pod(f"{space}/{app}", space, (("hearth.dev/app", app),), (("hearth.dev/tenant", label or tenant),))


GATEWAY, GUARD, DATABASE, CACHE, MIGRATIONS, MOCK = (
    system(role) for role in ("gateway", "guard", "database", "cache", "migrations", "mock")
)
LLAMA = system("runtime", endpoint="llama")
FETCHING = system("runtime", endpoint="fetching")
OTHER_SYSTEM_POD = Pod("other", "system-llm", (("app", "x"),))
NOTES, CHAT, PHOTOS = (tenant_pod("family", app) for app in ("notes", "chat", "photos"))
WORK = tenant_pod("work", "notes", "team-work")
SILENT = tenant_pod("silent", "notes")
IMPOSTOR = tenant_pod("family", "notes", "somebody", "family")
DNS = Pod("kube-dns", "kube-system", (("k8s-app", "kube-dns"),))
OUTSIDE = {
    address: Pod(address, None)
    for address in (
        "10.77.0.9",
        "10.77.1.9",
        "10.99.0.5",
        "8.8.8.8",
        "169.254.169.254",
        "169.254.20.10",
        "127.0.0.1",
        "100.64.0.1",
    )
}
PODS = (
    GATEWAY,
    GUARD,
    DATABASE,
    CACHE,
    MIGRATIONS,
    MOCK,
    LLAMA,
    FETCHING,
    OTHER_SYSTEM_POD,
    NOTES,
    CHAT,
    PHOTOS,
    WORK,
    SILENT,
    IMPOSTOR,
    DNS,
)


def matches(selector: dict[str, Any], labels: Iterable[tuple[str, str]]) -> bool:
    found = dict(labels)
    assert set(selector) <= {"matchLabels", "matchExpressions"}
    for expression in selector.get("matchExpressions", []):
        assert expression["operator"] == "In"
        if found.get(expression["key"]) not in expression["values"]:
            return False
    return all(found.get(key) == value for key, value in selector.get("matchLabels", {}).items())


def peer_matches(peer: dict[str, Any], pod: Pod, namespace: str) -> bool:
    if "ipBlock" in peer:
        assert set(peer) == {"ipBlock"}
        assert set(peer["ipBlock"]) == {"cidr"}
        return pod.namespace is None and ip_address(pod.name) in ip_network(peer["ipBlock"]["cidr"])
    if pod.namespace is None:
        return False
    if "namespaceSelector" in peer:
        of_namespace = (*pod.namespace_labels, ("kubernetes.io/metadata.name", pod.namespace))
        if not matches(peer["namespaceSelector"], of_namespace):
            return False
    elif pod.namespace != namespace:
        return False
    return matches(peer.get("podSelector", {}), pod.labels)


def side_allows(policies: list[dict[str, Any]], pod: Pod, other: Pod, port: int, protocol: str, way: str) -> bool:
    """Return what the policies of one side say: everything, unless one selects the Pod in this direction."""
    selecting = [
        policy
        for policy in policies
        if policy["metadata"]["namespace"] == pod.namespace
        and matches(policy["spec"]["podSelector"], pod.labels)
        and way in policy["spec"]["policyTypes"]
    ]
    if not selecting:
        return True
    peers = "from" if way == "Ingress" else "to"
    return any(
        any(entry["port"] == port and entry["protocol"] == protocol for entry in rule["ports"])
        and any(peer_matches(peer, other, policy["metadata"]["namespace"]) for peer in rule[peers])
        for policy in selecting
        for rule in policy["spec"].get(way.lower(), [])
    )


Policies = list[dict[str, Any]]


def connects(policies: Policies, source: Pod, target: Pod, port: int, protocol: str = "TCP") -> bool:
    leaves = source.namespace is None or side_allows(policies, source, target, port, protocol, "Egress")
    enters = target.namespace is None or side_allows(policies, target, source, port, protocol, "Ingress")
    return leaves and enters


def fetching_endpoint() -> dict[str, Any]:
    source = {"url": "https://models.example/model.gguf"}
    runtime = {**sidecar_endpoint()["runtime"], "models": [{"source": source, "digest": f"sha256:{'0' * 64}"}]}
    return sidecar_endpoint(baseUrl="https://llm-fetching.system-llm.svc.cluster.local:8443/v1", runtime=runtime)


def whole(**more: Any) -> Claim:
    endpoints = {
        "llama": sidecar_endpoint(),
        "fetching": fetching_endpoint(),
        "host": private_endpoint("https://gpu.lan.test:8443/v1"),
        "plain": plaintext_endpoint("http://gpu.lan.test:11434/v1"),
    }
    return claim(endpoints, tenants=TENANTS, **{"providers": [provider()], **more})


def system_policies(found: Claim) -> Policies:
    return [each.manifest for each in built.system_policies(resolve(found), name_server=False)]


def tenant_policies(found: Claim, name: str) -> Policies:
    topology = resolve(found)
    return [each.manifest for each in built.tenant_policies(topology, tenant_of(topology, name))]


def declaring_apps(found: Claim, name: str) -> tuple[str, ...]:
    return tuple(app.name for app in tenant_of(resolve(found), name).apps)


def applied(**more: Any) -> Policies:
    """Return every policy of the whole claim, those of its tenants included."""
    found = whole(**more)
    return system_policies(found) + [policy for name in found.tenants for policy in tenant_policies(found, name)]


PORTS = (443, 4000, 4001, 5432, 6379, 8000, 8080, 8405, 8406, 8443, 4002)


def test_exactly_the_declared_paths_between_pods_are_open() -> None:
    policies = applied()
    allowed = {
        (source.name, target.name, port)
        for source in PODS
        for target in PODS
        if source is not target and "system-llm" in (source.namespace, target.namespace)
        for port in PORTS
        if connects(policies, source, target, port)
    }
    assert allowed == {
        ("gateway", "database", 5432),
        ("gateway", "cache", 6379),
        ("gateway", "guard", 8443),
        ("guard", "llama", 8443),
        ("guard", "fetching", 8443),
        ("migrations", "database", 5432),
        ("tenant-family/notes", "gateway", 4000),
        ("tenant-family/chat", "gateway", 4000),
        ("team-work/notes", "gateway", 4000),
    }


def test_a_tenants_namespace_is_closed_between_its_own_pods() -> None:
    policies = applied()
    for port in PORTS:
        assert not connects(policies, NOTES, PHOTOS, port)
        assert not connects(policies, WORK, NOTES, port)
        assert not connects(policies, DNS, NOTES, port)
        assert not connects(policies, OUTSIDE["8.8.8.8"], NOTES, port)


@pytest.mark.parametrize("protocol", ["UDP", "TCP"])
def test_name_servers_are_reached_by_those_who_connect_by_name(protocol: str) -> None:
    policies = applied()
    asking = {pod.name for pod in PODS if pod is not DNS and connects(policies, pod, DNS, 53, protocol)}
    assert asking == {
        "guard", "migrations", "fetching", "tenant-family/notes", "tenant-family/chat", "team-work/notes",
        "somebody/notes",
    }  # fmt: skip
    node_local = {pod.name for pod in PODS if connects(policies, pod, OUTSIDE["169.254.20.10"], 53, protocol)}
    assert node_local == asking - {"somebody/notes"} | {"somebody/notes", "kube-dns"}


def left_to(policies: Policies, pod: Pod) -> set[tuple[str, int]]:
    """Addresses outside the cluster that a Pod reaches."""
    return {
        (address, port)
        for address in OUTSIDE
        for port in (53, 80, 443, 5432, 8443, 11434)
        if connects(policies, pod, OUTSIDE[address], port)
    }


def test_the_gateway_leaves_the_cluster_for_nothing() -> None:
    assert left_to(applied(), GATEWAY) == set()


def test_where_the_gateway_has_to_ask_a_name_server_it_may_do_that_and_nothing_more() -> None:
    opened = [each.manifest for each in built.system_policies(resolve(whole()), name_server=True)]
    assert connects(opened, GATEWAY, DNS, 53, "UDP")
    assert left_to(opened, GATEWAY) == {("169.254.20.10", 53)}


def test_the_guard_leaves_the_cluster_for_zones_and_public_addresses_alone() -> None:
    assert left_to(applied(), GUARD) == {
        ("10.77.0.9", 8443),
        ("10.77.0.9", 11434),
        ("8.8.8.8", 443),
        ("169.254.20.10", 53),
    }


def test_a_declared_address_is_the_one_of_its_zone_that_is_open() -> None:
    profile = {**claims.private_tls("lan", "lan-ca"), "address": "10.77.0.8"}
    policies = system_policies(claim({"a": private_endpoint("https://gpu.lan.test:8443/v1", networkProfile=profile)}))
    assert connects(policies, GUARD, Pod("10.77.0.8", None), 8443)
    assert not connects(policies, GUARD, OUTSIDE["10.77.0.9"], 8443)


def test_without_a_public_upstream_no_public_address_is_open() -> None:
    policies = applied(providers=[])
    assert not connects(policies, GUARD, OUTSIDE["8.8.8.8"], 443)
    assert connects(policies, GUARD, OUTSIDE["10.77.0.9"], 8443)


def test_a_pod_that_is_called_like_a_providers_upstream_takes_nothing_from_it() -> None:
    """The name of an upstream is its kind and its id; an id may begin like a kind."""
    pod = sidecar_endpoint(baseUrl="https://llm-provider-vendor.system-llm.svc.cluster.local:8443/v1")
    policies = system_policies(claim({"provider-vendor": pod}, providers=[provider()]))
    assert connects(policies, GUARD, OUTSIDE["8.8.8.8"], 443)
    assert connects(policies, GUARD, system("runtime", endpoint="provider-vendor"), 8443)


def test_a_runtime_reaches_the_network_only_to_fetch_its_model() -> None:
    policies = applied()
    reach = {
        (pod.name, address, port)
        for pod in (LLAMA, FETCHING)
        for address in OUTSIDE
        for port in (53, 80, 443, 8443)
        if connects(policies, pod, OUTSIDE[address], port)
    }
    assert reach == {("fetching", "8.8.8.8", 443), ("fetching", "169.254.20.10", 53)}


@pytest.mark.parametrize("pod", [DATABASE, CACHE, MOCK, OTHER_SYSTEM_POD, PHOTOS, SILENT], ids=lambda pod: pod.name)
def test_what_needs_no_network_has_none(pod: Pod) -> None:
    policies = applied()
    for target in (*OUTSIDE.values(), DNS):
        for port in (53, 80, 443, 8443):
            assert not connects(policies, pod, target, port)
            assert not connects(policies, pod, target, port, "UDP")


def test_nobody_outside_reaches_in() -> None:
    policies = applied()
    for target in PODS[:9]:
        for source in OUTSIDE.values():
            assert not any(connects(policies, source, target, port) for port in PORTS)


def test_an_external_database_is_reached_at_its_ranges() -> None:
    database = {
        "mode": "external",
        "host": "db.corp.example",
        "port": 6432,
        "cidrs": ["10.99.0.0/28"],
        "ownerCredential": "credential://db/owner",
        "gatewayCredential": "credential://db/gateway",
        "trustBundle": "lan-ca",
    }
    policies = applied(llm={"database": database})
    for pod in (GATEWAY, MIGRATIONS):
        assert connects(policies, pod, OUTSIDE["10.99.0.5"], 6432)
        assert not connects(policies, pod, OUTSIDE["10.99.0.5"], 5432)
        assert not connects(policies, pod, DATABASE, 5432)
    assert "llm-database" not in [policy["metadata"]["name"] for policy in policies]


def test_egress_may_be_left_to_somebody_else_and_ingress_not() -> None:
    policies = applied(policy={"egress": "none"})
    assert all(
        policy["spec"]["policyTypes"] == ["Ingress"] for policy in system_policies(whole(policy={"egress": "none"}))
    )
    assert connects(policies, GATEWAY, OUTSIDE["10.99.0.5"], 1234)
    assert not connects(policies, GATEWAY, DATABASE, 1234)
    assert not connects(policies, NOTES, OUTSIDE["8.8.8.8"], 443), "a tenant's namespace stays closed"
    assert connects(policies, NOTES, GATEWAY, 4000)


def test_every_namespace_begins_with_a_denial_both_ways() -> None:
    found = whole()
    for policies in (system_policies(found), *(tenant_policies(found, name) for name in found.tenants)):
        first = policies[0]
        assert first["metadata"]["name"] == "default-deny"
        assert first["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


def test_names_are_unique_and_labels_complete() -> None:
    found = whole()
    made = [*system_policies(found), *(policy for name in found.tenants for policy in tenant_policies(found, name))]
    names = [(policy["metadata"]["namespace"], policy["metadata"]["name"]) for policy in made]
    assert len(set(names)) == len(names)
    for policy in made:
        assert policy["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "hearth"
        assert policy["metadata"]["labels"]["app.kubernetes.io/part-of"] == "hearth"


def test_only_declaring_apps_are_listed() -> None:
    assert declaring_apps(whole(), "family") == ("chat", "notes")
    assert declaring_apps(whole(), "silent") == ()
    assert [policy["metadata"]["name"] for policy in tenant_policies(whole(), "silent")] == ["default-deny"]


def test_a_claim_without_tenants_opens_the_gateway_to_nobody() -> None:
    gateway = next(policy for policy in system_policies(claim()) if policy["metadata"]["name"] == "llm-gateway-inside")
    assert "Ingress" in gateway["spec"]["policyTypes"]
    assert "ingress" not in gateway["spec"]


def test_ipv6_appears_only_in_a_cluster_that_has_it() -> None:
    def cidrs(found: Claim) -> set[str]:
        return {
            peer["ipBlock"]["cidr"]
            for policy in system_policies(found)
            for rule in policy["spec"].get("egress", [])
            for peer in rule["to"]
            if "ipBlock" in peer
        }

    assert not any(":" in cidr for cidr in cidrs(whole(cidrs=("10.77.0.0/24", "fd12::/64"))))
    dual = {"clusterCidrs": {"services": ["10.96.0.0/16"], "pods": ["10.244.0.0/16", "fd44::/56"]}}
    assert {"2000::/3", "fd12::/64"} <= cidrs(whole(cidrs=("10.77.0.0/24", "fd12::/64"), policy=dual))
