"""Network zones, the ranges of the cluster, and the addresses of an external database (S4-21 … S4-28, C-1, C-2)."""

import re
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

from hearth.claim.addresses import (
    SHARED,
    IPNetwork,
    contains,
    inside,
    parse_host,
    parse_network,
    private_range,
    scope_of_all,
)
from hearth.claim.draft import Draft, Finding
from hearth.claim.llm import ExternalDatabase
from hearth.claim.names import IN_CLUSTER, NAMESPACE
from hearth.claim.problems import listed
from hearth.claim.reader import Path as Place

SHORTEST_PREFIX: Final = {4: 8, 6: 19}
"""Widest range of an external database, by IP version."""
POSTGRES_DATABASES: Final = ("postgres", "template0", "template1")
"""Databases that every PostgreSQL has, and that are not for applications."""

_WILDCARD = re.compile(r"\A\*\.")


def built_in_names(draft: Draft) -> Iterator[Finding]:
    """C-2: `in-cluster` is built in, as a zone and as a trust bundle."""
    for key, group in (("networkZones", draft.claim.network_zones), ("trustBundles", draft.claim.trust_bundles)):
        if IN_CLUSTER in group:
            yield Finding((key, IN_CLUSTER), "is built in and cannot be declared", "Choose another name")


def _ranges(place: Place, cidrs: tuple[str, ...]) -> Iterator[tuple[Place, IPNetwork | str]]:
    for index, text in enumerate(cidrs):
        yield (*place, index), parse_network(text)


def zone_ranges(draft: Draft) -> Iterator[Finding]:
    """S4-13, S4-26, U-15: a zone holds private ranges and nothing else."""
    for name, zone in draft.claim.network_zones.items():
        for place, network in _ranges(("networkZones", name, "cidrs"), zone.cidrs):
            if isinstance(network, str):
                yield Finding(place, network, "Write a range such as 192.168.1.0/24")
            elif not private_range(network):
                yield Finding(
                    place,
                    "is not inside a private range",
                    "Use ranges of RFC 1918 or fc00::/7; nothing else may be in a zone",
                )


def zone_names(draft: Draft) -> Iterator[Finding]:
    """S4-21, U-14: names of a zone are DNS names, or `*.` and a name of at least two labels."""
    for name, zone in draft.claim.network_zones.items():
        for index, text in enumerate(zone.dns_names):
            place: Place = ("networkZones", name, "dnsNames", index)
            bare = _WILDCARD.sub("", text)
            try:
                host = parse_host(bare)
            except ValueError as error:
                yield Finding(place, f"is a name that {error}", "Write a DNS name, or *. and a DNS name")
                continue
            if isinstance(host, IPv4Address | IPv6Address):
                yield Finding(place, "is an address", "Write addresses as ranges into cidrs")
            elif "." not in host or host.endswith(".localhost"):
                yield Finding(place, "is a name without a domain", "Write the full name")
            elif f".{host}".endswith(f".{NAMESPACE}.svc.{draft.claim.policy.cluster.domain}"):
                yield Finding(
                    place, "is a name of Hearth's own parts", "Only the built-in zone in-cluster has these names"
                )


def cluster_ranges(draft: Draft) -> Iterator[Finding]:
    """C-2: the ranges of the cluster are private ones, and Services and Pods do not share any."""
    cidrs = draft.claim.policy.cluster_cidrs
    if cidrs is None:
        return
    found: dict[str, list[IPNetwork]] = {"services": [], "pods": []}
    for key, texts in (("services", cidrs.services), ("pods", cidrs.pods)):
        for place, network in _ranges(("policy", "clusterCidrs", key), texts):
            if isinstance(network, str):
                yield Finding(place, network, "Write a range such as 10.96.0.0/16")
            elif not private_range(network) and not (key == "pods" and inside(network, SHARED)):
                yield Finding(
                    place,
                    "is not inside a private range, and nothing that Hearth runs is reached at another address",
                    "Write the range that the cluster really has; where that is public (GKE's 34.118.224.0/20), make "
                    "the cluster with a private one",
                )
            else:
                found[key].append(network)
    for key, networks in found.items():
        if networks and not any(network.version == 4 for network in networks):
            yield Finding(
                ("policy", "clusterCidrs", key),
                "has no IPv4 range, and everything that Hearth runs listens on IPv4",
                "Write the IPv4 range as well, or use a cluster that has one",
            )
    for index, pods in enumerate(found["pods"]):
        if any(inside(pods, services) or inside(services, pods) for services in found["services"]):
            yield Finding(
                ("policy", "clusterCidrs", "pods", index),
                "overlaps a range of the Services",
                "Write the ranges that the cluster really has",
            )


def cluster_dns(draft: Draft) -> Iterator[Finding]:
    """C-1: the addresses of the node-local DNS are addresses."""
    for index, text in enumerate(draft.claim.policy.cluster.node_local_dns):
        try:
            right = str(ip_address(text)) == text and "%" not in text
        except ValueError:
            right = False
        if not right:
            place: Place = ("policy", "cluster", "nodeLocalDns", index)
            yield Finding(place, "is not an address in its usual form", "Write an address such as 169.254.20.10")


def external_database(draft: Draft) -> Iterator[Finding]:
    """C-1: an external database is reached at the stated ranges alone, and verified with a declared bundle."""
    database = draft.claim.llm.database
    if not isinstance(database, ExternalDatabase) or not draft.valid("llm", "database"):
        return
    place: Place = ("llm", "database")
    for where, network in _ranges((*place, "cidrs"), database.cidrs):
        if isinstance(network, str):
            yield Finding(where, network, "Write a range such as 10.42.3.16/28")
        elif not any(scope_of_all(network, scope) for scope in ("private", "public")):
            message = "holds addresses that are never connected to, or private and public ones together"
            yield Finding(where, message, "Write the range of the database")
        elif network.prefixlen < SHORTEST_PREFIX[network.version]:
            yield Finding(
                where, f"is wider than a /{SHORTEST_PREFIX[network.version]}", "Write the range of the database"
            )
    if database.database in POSTGRES_DATABASES:
        yield Finding(
            (*place, "database"), "is a database that PostgreSQL itself has", "Name a database that Hearth uses alone"
        )
    try:
        host = parse_host(database.host)
    except ValueError as error:
        yield Finding((*place, "host"), f"is a host that {error}", "Write its DNS name or IPv4 address")
    else:
        if isinstance(host, IPv4Address) and not contains(database.cidrs, host):
            yield Finding((*place, "host"), "is an address outside cidrs", "Add its range to cidrs")
    if database.trust_bundle == IN_CLUSTER:
        yield Finding(
            (*place, "trustBundle"),
            "is the CA of Hearth's own Pods, which no external database has",
            "Declare the CA of the database",
        )
    elif database.trust_bundle not in draft.declared("trustBundles") and draft.whole("trustBundles"):
        yield Finding(
            (*place, "trustBundle"),
            "names no trust bundle",
            f"Declared: {listed(draft.declared('trustBundles'))}",
        )
    if database.owner_credential == database.gateway_credential:
        yield Finding(
            (*place, "gatewayCredential"),
            "is the reference of the owner's password",
            "Give each role a password of its own",
        )


RULES: Final = (built_in_names, zone_ranges, zone_names, cluster_ranges, cluster_dns, external_database)
