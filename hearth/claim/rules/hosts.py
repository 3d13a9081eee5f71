"""Hosts that Ansible installs: what a playbook would refuse is refused here (S4-87, S4-147)."""

from collections.abc import Iterator
from ipaddress import IPv6Address
from typing import Final

from hearth.claim.draft import Draft, Finding
from hearth.claim.endpoints import Endpoint, Runtime
from hearth.claim.hosts import Installed, on_one_host, one_kind_of_answer, unnamed_models
from hearth.claim.operations import Operation
from hearth.claim.rules.public import base_url


def _installed(draft: Draft, name: str, endpoint: Endpoint, runtime: Runtime, port: int) -> Installed:
    deployments = draft.claim.deployments_on(name)
    profile = endpoint.network_profile
    return Installed(
        name=name,
        engine=runtime.engine,
        loopback_port=runtime.loopback_port,
        runtime=(runtime, endpoint.runtime_capacity, profile.mode),
        models=runtime.models,
        wanted=frozenset(found.model for found in deployments),
        operations=frozenset[Operation]().union(*(found.operations for found in deployments)),
        port=port,
        plaintext=profile.mode == "private_plaintext",
    )


def one_host(draft: Draft) -> Iterator[Finding]:
    """The endpoints with one host in their addresses are on one machine, and can run there together."""
    if any(path[0] == "deployments" for path in draft.invalid):
        return  # what a runtime is asked for is not known
    hosts: dict[str, list[Installed]] = {}
    for name, endpoint in draft.claim.endpoints.items():
        runtime, url = endpoint.runtime, base_url(endpoint.base_url)
        if runtime is not None and url is not None and runtime.placement == "host" and runtime.engine != "vllm":
            hosts.setdefault(str(url.host), []).append(_installed(draft, name, endpoint, runtime, url.port))
    for _, endpoints in sorted(hosts.items()):
        yield from on_one_host(endpoints)


def pods(draft: Draft) -> Iterator[Finding]:
    """A Pod's one runtime answers what is asked of it, and its models have the names that they are asked for by."""
    if any(path[0] == "deployments" for path in draft.invalid):
        return
    for name, endpoint in draft.claim.endpoints.items():
        runtime = endpoint.runtime
        if runtime is not None and runtime.placement == "pod" and runtime.engine != "vllm":
            asked = draft.claim.deployments_on(name)
            wanted = {item.model for item in asked}
            operations = {operation for item in asked for operation in item.operations}
            yield from one_kind_of_answer(("endpoints", name, "runtime"), runtime.engine, operations)
            yield from unnamed_models(("endpoints", name, "runtime", "models"), runtime.engine, runtime.models, wanted)


def sidecar_address(draft: Draft) -> Iterator[Finding]:
    """The sidecar of a host listens on IPv4 alone."""
    for name, endpoint in draft.claim.endpoints.items():
        url, runtime = base_url(endpoint.base_url), endpoint.runtime
        if runtime is None or runtime.placement != "host":
            continue
        found = "has an IPv6 address, and what Hearth installs on a host listens on IPv4 alone"
        if url is not None and isinstance(url.host, IPv6Address):
            yield Finding(("endpoints", name, "baseUrl"), found, "Use a DNS name or an IPv4 address")
        if ":" in (endpoint.network_profile.address or ""):
            yield Finding(("endpoints", name, "networkProfile", "address"), found, "Use an IPv4 address")


RULES: Final = (one_host, pods, sidecar_address)
