"""Which endpoints of a claim live on hosts: all of them, and those that share a token or a trust bundle (S4-58)."""

from collections.abc import Callable, Mapping

from hearth.compile.host import token_of
from hearth.topology.topology import Topology
from hearth.topology.upstreams import Upstream


def host_endpoints(topology: Topology) -> Mapping[str, tuple[str, ...]]:
    """Return the endpoint ids of each host that Ansible installs, by the host of their base URLs, sorted."""
    return _hosts_by(topology, lambda upstream: upstream.address.host)


def host_addresses(topology: Topology) -> Mapping[str, str]:
    """Return the address of each such host whose name the claim does not leave to a look-up, by that name, sorted."""
    found = {upstream.address.host: upstream.profile.address for upstream in topology.hosts}
    return {host: address for host, address in sorted(found.items()) if address is not None}


def credential_endpoints(topology: Topology) -> Mapping[str, tuple[str, ...]]:
    """Return the endpoint ids on hosts by the `<scope>/<name>` of their token, sorted: who has to accept a new one."""
    return _hosts_by(topology, token_of)


def bundle_endpoints(topology: Topology) -> Mapping[str, tuple[str, ...]]:
    """Return the endpoint ids on hosts by their trust bundle, sorted: whose certificates a new authority issues."""
    return _hosts_by(topology, lambda upstream: upstream.trust_bundle)


def _hosts_by(topology: Topology, key: Callable[[Upstream], str | None]) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for upstream in topology.hosts:
        used = key(upstream)
        if used is not None:
            found.setdefault(used, []).append(upstream.id.name)
    return {used: tuple(ids) for used, ids in sorted(found.items())}
