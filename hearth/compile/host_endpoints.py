"""Which endpoints of a claim live on hosts: all of them, and those that share a token or a trust bundle (S4-58)."""

from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from hearth.claim.claim import Claim
from hearth.claim.endpoints import Endpoint
from hearth.compile.host import token_of


def host_endpoints(claim: Claim) -> Mapping[str, tuple[str, ...]]:
    """Return the endpoint ids of each host that Ansible installs, by the host of their base URLs, sorted."""
    found: dict[str, list[str]] = {}
    for name, endpoint in sorted(claim.endpoints.items()):
        if endpoint.runtime is not None and endpoint.runtime.placement == "host":
            found.setdefault(urlsplit(endpoint.base_url).hostname or "", []).append(name)
    return {host: tuple(ids) for host, ids in sorted(found.items())}


def credential_endpoints(claim: Claim) -> Mapping[str, tuple[str, ...]]:
    """Return the endpoint ids on hosts by the `<scope>/<name>` of their token, sorted: who has to accept a new one."""
    return _host_endpoints_by(claim, token_of)


def bundle_endpoints(claim: Claim) -> Mapping[str, tuple[str, ...]]:
    """Return the endpoint ids on hosts by their trust bundle, sorted: whose certificates a new authority issues."""
    return _host_endpoints_by(
        claim, lambda endpoint: tls.trust_bundle if (tls := endpoint.network_profile.tls) is not None else None
    )


def _host_endpoints_by(claim: Claim, key: Callable[[Endpoint], str | None]) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for name, endpoint in sorted(claim.endpoints.items()):
        used = key(endpoint)
        if used is not None and endpoint.runtime is not None and endpoint.runtime.placement == "host":
            found.setdefault(used, []).append(name)
    return {used: tuple(ids) for used, ids in sorted(found.items())}
