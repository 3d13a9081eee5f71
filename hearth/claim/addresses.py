"""Which addresses and host names may be connected to, as tables (S3-23, S4-13, S4-41, U-6, U-15).

Pure: nothing here looks a name up.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, Literal

IPAddress = IPv4Address | IPv6Address
"""An IPv4 or IPv6 address."""
IPNetwork = IPv4Network | IPv6Network
"""An IPv4 or IPv6 range."""
Scope = Literal["public", "private", "forbidden"]
"""`private` needs a zone that contains the address; `forbidden` is refused whatever a zone says."""

_TABLE: Final[tuple[tuple[str, Scope, str], ...]] = (
    # The first range that contains an address decides.
    ("169.254.169.254/32", "forbidden", "the metadata service"),
    ("168.63.129.16/32", "forbidden", "the metadata service"),
    ("100.100.100.200/32", "forbidden", "the metadata service"),
    ("192.0.0.192/32", "forbidden", "the metadata service"),
    ("fd00:ec2::254/128", "forbidden", "the metadata service"),
    ("fd20:ce::254/128", "forbidden", "the metadata service"),
    ("10.0.0.0/8", "private", "private"),
    ("172.16.0.0/12", "private", "private"),
    ("192.168.0.0/16", "private", "private"),
    ("0.0.0.0/8", "forbidden", "unspecified"),
    ("100.64.0.0/10", "forbidden", "carrier-grade NAT"),
    ("127.0.0.0/8", "forbidden", "loopback"),
    ("169.254.0.0/16", "forbidden", "link-local"),
    ("192.0.0.0/24", "forbidden", "reserved for protocols"),
    ("192.0.2.0/24", "forbidden", "reserved for documentation"),
    ("192.31.196.0/24", "forbidden", "reserved for protocols"),
    ("192.52.193.0/24", "forbidden", "reserved for protocols"),
    ("192.88.99.0/24", "forbidden", "a 6to4 relay"),
    ("192.175.48.0/24", "forbidden", "reserved for protocols"),
    ("198.18.0.0/15", "forbidden", "reserved for benchmarks"),
    ("198.51.100.0/24", "forbidden", "reserved for documentation"),
    ("203.0.113.0/24", "forbidden", "reserved for documentation"),
    ("224.0.0.0/4", "forbidden", "multicast"),
    ("255.255.255.255/32", "forbidden", "broadcast"),
    ("240.0.0.0/4", "forbidden", "reserved"),
    ("::/128", "forbidden", "unspecified"),
    ("::1/128", "forbidden", "loopback"),
    ("64:ff9b::/96", "forbidden", "NAT64"),
    ("64:ff9b:1::/48", "forbidden", "NAT64"),
    ("fe80::/10", "forbidden", "link-local"),
    ("ff00::/8", "forbidden", "multicast"),
    ("fc00::/7", "private", "private"),
    ("2001::/32", "forbidden", "Teredo"),
    ("2001::/23", "forbidden", "reserved for protocols"),
    ("2001:db8::/32", "forbidden", "reserved for documentation"),
    ("2002::/16", "forbidden", "6to4"),
    ("3fff::/20", "forbidden", "reserved for documentation"),
    ("2000::/3", "public", "public"),
    ("::/0", "forbidden", "outside the unicast range"),
    ("0.0.0.0/0", "public", "public"),
)
_NETWORKS: Final = tuple((ip_network(text), scope, reason) for text, scope, reason in _TABLE)
_PRIVATE: Final = tuple(network for network, scope, _ in _NETWORKS if scope == "private")
SHARED: Final = ip_network("100.64.0.0/10")
"""Carrier-grade NAT, which some clusters use for Pods; never an address to connect to."""

INTERNAL_SUFFIXES: Final = (
    "arpa",
    "cluster.local",
    "corp",
    "home",
    "home.arpa",
    "internal",
    "intranet",
    "lan",
    "local",
    "localdomain",
    "localhost",
    "onion",
    "private",
    "svc",
)
"""Name suffixes that never belong to the public DNS (U-6)."""

_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\Z")
_NUMBER_LABEL = re.compile(r"([0-9]+|0[xX][0-9A-Fa-f]*)\Z")


@dataclass(frozen=True)
class Verdict:
    """What an address is."""

    scope: Scope
    """Who may connect to it."""
    reason: str
    """Why, in words that end the sentence "the address is …"."""


def unmapped(address: IPAddress) -> IPAddress:
    """Return the IPv4 address inside an IPv4-mapped IPv6 address, else the address."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def classify(address: IPAddress) -> Verdict:
    """Return what an address is."""
    address = unmapped(address)
    for network, scope, reason in _NETWORKS:
        if address.version == network.version and address in network:
            return Verdict(scope, reason)
    raise AssertionError("the table covers every address")


@cache
def ranges(scope: Scope, version: Literal[4, 6]) -> tuple[IPNetwork, ...]:
    """Return exactly the addresses of one scope and one IP version, as ranges in ascending order."""
    decided: list[IPNetwork] = []
    found: list[IPNetwork] = []
    for network, of_scope, _ in _NETWORKS:
        if network.version == version:
            if of_scope == scope:
                found += without(network, decided)
            decided.append(network)
    return tuple(sorted(found, key=lambda left: int(left.network_address)))


def scope_of_all(network: IPNetwork, scope: Scope) -> bool:
    """Return whether every address of a range is of one scope."""
    version: Literal[4, 6] = 4 if network.version == 4 else 6
    return not without(network, ranges(scope, version))


def without(network: IPNetwork, others: Sequence[IPNetwork]) -> list[IPNetwork]:
    """Return what is left of a range without others, in ascending order."""
    overlapping = [other for other in others if inside(other, network) or inside(network, other)]
    if not overlapping:
        return [network]
    if any(inside(network, other) for other in overlapping):
        return []
    return [left for half in network.subnets() for left in without(half, overlapping)]


def contains(cidrs: tuple[str, ...], address: IPAddress) -> bool:
    """Return whether one of the ranges contains an address; ranges that are not well-formed contain nothing."""
    address = unmapped(address)
    networks = (parse_network(text) for text in cidrs)
    return any(
        isinstance(network, IPv4Network | IPv6Network) and network.version == address.version and address in network
        for network in networks
    )


def admits(cidrs: tuple[str, ...], address: IPAddress) -> bool:
    """Return whether a zone with these ranges lets an address be connected to.

    An address has to be in a range and private: a zone never opens the way to public, metadata, loopback, link-local,
    multicast or unspecified addresses (S4-13, U-15).
    """
    return contains(cidrs, address) and classify(address).scope == "private"


def parse_network(text: str) -> IPNetwork | str:
    """Return a range, or why the text is none."""
    if "/" not in text:
        return "has no prefix length"
    if "%" in text:
        return "is not an address range"
    try:
        network = ip_network(text, strict=True)
    except ValueError:
        try:
            ip_network(text, strict=False)
        except ValueError:
            return "is not an address range"
        return "has bits set beyond its prefix length"
    if str(network) != text:
        return "is not spelled in its shortest form"
    return network


def private_range(network: IPNetwork) -> bool:
    """Return whether a range lies inside RFC 1918 or the unique local IPv6 addresses."""
    return any(_inside(network, private) for private in _PRIVATE)


def _inside(network: IPNetwork, other: IPNetwork) -> bool:
    if isinstance(network, IPv4Network) and isinstance(other, IPv4Network):
        return network.subnet_of(other)
    if isinstance(network, IPv6Network) and isinstance(other, IPv6Network):
        return network.subnet_of(other)
    return False


def inside(network: IPNetwork, other: IPNetwork) -> bool:
    """Return whether a range lies inside another one; ranges of different versions never do."""
    return _inside(network, other)


def parse_host(host: str) -> IPAddress | str:
    """Return the address or the DNS name that a host of a URL is.

    One host has one spelling here: addresses in their usual form, names in lower case. Spellings that some programs
    take for addresses (`2130706433`, `0x7f.1`, `0177.0.0.1`, `127.1`) and names that other programs rewrite
    (trailing dots, capital letters, characters outside ASCII) are refused, so that what was checked is what is used.

    Raises:
        ValueError: the host is neither; its text says why, as the end of the sentence "the host …".
    """
    if host.startswith("[") and host.endswith("]"):
        try:
            address = ip_address(host[1:-1])
        except ValueError:
            raise ValueError("is not an IPv6 address") from None
        if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
            raise ValueError("is an IPv4 address in an IPv6 spelling")
        if not isinstance(address, IPv6Address) or address.scope_id is not None or str(address) != host[1:-1]:
            raise ValueError("is not an IPv6 address in its usual form")
        return address
    if not host.isascii():
        raise ValueError("has characters outside ASCII; write an internationalised name in its xn-- form")
    if host.endswith("."):
        raise ValueError("ends with a dot")
    if host != host.lower():
        raise ValueError("has capital letters")
    labels = host.split(".")
    if _NUMBER_LABEL.match(labels[-1]):
        try:
            return IPv4Address(host)
        except ValueError:
            raise ValueError("is a number but not an IPv4 address in its usual form") from None
    if len(host) > 253 or not all(_LABEL.match(label) for label in labels):
        raise ValueError("is not a DNS name")
    return host


def internal_name(name: str) -> str | None:
    """Return why a DNS name is not a public one, or `None` (S3-23, U-6)."""
    labels = name.split(".")
    if len(labels) == 1:
        return "is a single label"
    for suffix in INTERNAL_SUFFIXES:
        if name == suffix or name.endswith("." + suffix):
            return f"ends with .{suffix}"
    return None


def name_matches(name: str, pattern: str) -> bool:
    """Return whether a DNS name is the pattern, or fills its leading `*` with exactly one label (U-14)."""
    if not pattern.startswith("*."):
        return name == pattern
    first, _, rest = name.partition(".")
    return bool(first) and rest == pattern[2:]
