"""Which addresses the guard may connect to, by address family (S4-37, S4-41, U-6, U-15).

Only what is allowed is listed: an address that no range contains is refused, whatever it is.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_network

from hearth.claim.addresses import IPNetwork, inside, ranges


@dataclass(frozen=True)
class Allowed:
    """The addresses that may be connected to."""

    ipv4: tuple[str, ...]
    """Ranges of IPv4 in ascending order."""
    ipv6: tuple[str, ...]
    """Ranges of IPv6 in ascending order."""


@cache
def public_addresses() -> Allowed:
    """Return what a public upstream may resolve to: every public address and no other."""
    return _allowed((*ranges("public", 4), *ranges("public", 6)))


def zone_addresses(cidrs: Iterable[str]) -> Allowed:
    """Return what an upstream in a zone may resolve to: what the zone lists, as far as that is private (U-15)."""
    private = (*ranges("private", 4), *ranges("private", 6))
    found: list[IPNetwork] = []
    for cidr in cidrs:
        network = ip_network(cidr)
        # Of two ranges that overlap, one contains the other.
        found += [network for other in private if inside(network, other)]
        found += [other for other in private if other != network and inside(other, network)]
    return _allowed(found)


def _allowed(networks: Iterable[IPNetwork]) -> Allowed:
    found = tuple(networks)
    ipv4 = collapse_addresses(network for network in found if isinstance(network, IPv4Network))
    ipv6 = collapse_addresses(network for network in found if isinstance(network, IPv6Network))
    return Allowed(tuple(map(str, ipv4)), tuple(map(str, ipv6)))
