"""Which addresses the guard may connect to, by address family (S4-37, S4-41, U-6, U-15)."""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_network
from typing import Final

PRIVATE_IPV4: Final = tuple(IPv4Network(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"))
"""What a zone may open; anything else in a zone stays closed (U-15)."""
PRIVATE_IPV6: Final = (IPv6Network("fc00::/7"),)
"""What a zone may open; anything else in a zone stays closed (U-15)."""

NEVER_IPV4: Final = (
    "0.0.0.0/8",
    "100.100.100.200/32",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "192.0.0.192/32",
    "224.0.0.0/4",
    "240.0.0.0/4",
)
"""Unspecified, loopback, link-local, multicast, broadcast and metadata addresses: refused whatever a zone says."""
NEVER_IPV6: Final = (
    "::/8",
    "64:ff9b::/96",
    "64:ff9b:1::/48",
    "2002::/16",
    "fd00:ec2::/32",
    "fd20:ce::254/128",
    "fe80::/10",
    "ff00::/8",
)
"""The same for IPv6, and every range that carries an IPv4 address inside."""

NOT_PUBLIC_IPV4: Final = (
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.31.196.0/24",
    "192.52.193.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "192.175.48.0/24",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
)
"""What a public upstream may not resolve to: the special-purpose registry of IANA."""
NOT_PUBLIC_IPV6: Final = (
    "::/3",
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "2620:4f:8000::/48",
    "3fff::/20",
    "4000::/2",
    "8000::/1",
)
"""The same for IPv6: everything outside 2000::/3, and the special ranges inside it."""


@dataclass(frozen=True)
class Ranges:
    """Ranges of one address family; an address must be in `allowed` and must not be in `denied`."""

    allowed: tuple[str, ...]
    """Ranges that may be connected to."""
    denied: tuple[str, ...]
    """Ranges that may not, whatever is allowed."""


def _lines[Network: (IPv4Network, IPv6Network)](networks: Iterable[Network]) -> tuple[str, ...]:
    return tuple(str(network) for network in collapse_addresses(networks))


def public_ranges() -> tuple[Ranges, Ranges]:
    """Return the IPv4 and the IPv6 ranges of a public upstream."""
    return Ranges(("0.0.0.0/0",), NOT_PUBLIC_IPV4), Ranges(("2000::/3",), NOT_PUBLIC_IPV6)


def zone_ranges(cidrs: Iterable[str]) -> tuple[Ranges, Ranges]:
    """Return the IPv4 and the IPv6 ranges of a zone: what it lists, as far as that is private."""
    ipv4: list[IPv4Network] = []
    ipv6: list[IPv6Network] = []
    for cidr in cidrs:
        network = ip_network(cidr, strict=False)
        if isinstance(network, IPv4Network):
            ipv4 += [_narrower(network, private) for private in PRIVATE_IPV4 if network.overlaps(private)]
        else:
            ipv6 += [_narrower(network, private) for private in PRIVATE_IPV6 if network.overlaps(private)]
    return Ranges(_lines(ipv4), NEVER_IPV4), Ranges(_lines(ipv6), NEVER_IPV6)


def _narrower[Network: (IPv4Network, IPv6Network)](one: Network, other: Network) -> Network:
    return one if one.prefixlen >= other.prefixlen else other
