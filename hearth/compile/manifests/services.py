"""Services that the gateway's Pods call, and how these find them without a name server.

A gateway Pod asks no name server: with one it could reach the whole world by names. The names of what it calls are in
its `/etc/hosts`, with the cluster addresses of the Services. `pulumi up` learns these from the cluster as soon as the
Services are there; whoever renders manifests can fix them in the claim. TLS verifies the names either way.
"""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any, Final

from hearth.claim.llm import ExternalDatabase
from hearth.claim.problems import Notice
from hearth.compile.manifests.cache import CACHE_PORT
from hearth.compile.manifests.common import Object, service
from hearth.compile.manifests.connection import POSTGRES_PORT
from hearth.compile.names import CACHE, DATABASE, DATABASE_ADDRESS, GUARD_PORT, GUARDS
from hearth.topology.topology import Topology

NO_NAME_SERVER: Final = "127.0.0.1"
"""What stands in the place of a name server: nothing listens there."""


def services(topology: Topology) -> list[Object]:
    """Return the Services that the gateway calls. Each is there before the Pods whose `/etc/hosts` has its address."""
    fixed, namespace = _declared(topology), topology.namespace
    made = [service(namespace, CACHE, "cache", {"valkey": CACHE_PORT}, address=fixed.get(CACHE))]
    if not isinstance(topology.gateway.database, ExternalDatabase):
        ports, address = {"postgres": POSTGRES_PORT}, fixed.get(DATABASE_ADDRESS)
        made.append(service(namespace, DATABASE_ADDRESS, "database", ports, pods=DATABASE, address=address))
    for name in GUARDS[: topology.gateway.guards]:
        made.append(service(namespace, name, "guard", {"https": GUARD_PORT}, address=fixed.get(name)))
    return made


def fixed_addresses(topology: Topology) -> dict[str, str] | None:
    """Return the addresses that the claim gives to the Services, by name; none unless it gives all of them."""
    fixed = _declared(topology)
    wanted = [each.stable_name for each in services(topology)]
    return {name: fixed[name] for name in wanted} if all(name in fixed for name in wanted) else None


def asks_a_name_server(topology: Topology, addresses: Mapping[str, Any] | None) -> bool:
    """Return whether the gateway's Pods have to ask the cluster's name server.

    Args:
        topology: the topology.
        addresses: cluster addresses of the Services by name; none where they are not known.
    """
    database = topology.gateway.database
    return addresses is None or (isinstance(database, ExternalDatabase) and not _is_address(database.host))


def name_resolution(topology: Topology, addresses: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the fields of a gateway Pod that say how it finds what it calls.

    Args:
        topology: the topology.
        addresses: cluster addresses of the Services by name; none where they are not known.
    """
    if addresses is None:
        return {}
    hosts = {DATABASE_ADDRESS: DATABASE}
    aliases = [
        {"ip": address, "hostnames": [topology.service_host(hosts.get(name, name))]}
        for name, address in addresses.items()
    ]
    closed = {"dnsPolicy": "None", "dnsConfig": {"nameservers": [NO_NAME_SERVER]}}
    return {"hostAliases": aliases, **({} if asks_a_name_server(topology, addresses) else closed)}


def rendering_notices(topology: Topology) -> tuple[Notice, ...]:
    """Return what rendered manifests open that a deployment would not."""
    if not topology.enabled or fixed_addresses(topology) is not None:
        return ()
    wanted = ", ".join(each.stable_name for each in services(topology))
    message = (
        "is incomplete, so that the rendered manifests let the gateway's Pods ask the cluster's name server: whoever "
        f"runs code there can send data out by names. `pulumi up` does not need it. Fix addresses for {wanted}"
    )
    return (Notice("hearth:policy.cluster.serviceAddresses", message),)


def _declared(topology: Topology) -> dict[str, str]:
    return {str(name): address for name, address in topology.policy.cluster.service_addresses.items()}


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
