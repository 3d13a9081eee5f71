"""Compiling one part of a claim, as tests do it: resolved first."""

from typing import Any

from hearth.claim.claim import Claim
from hearth.compile import sidecar
from hearth.compile.artefacts import Artefacts, compile_topology
from hearth.compile.litellm import compile_litellm
from hearth.compile.manifests.common import Manifest
from hearth.compile.manifests.credentials import SecretNames
from hearth.compile.manifests.groups import groups
from hearth.compile.sidecar import SidecarConfig, SidecarLayout
from hearth.topology.resolve import resolve
from hearth.topology.topology import Tenant, Topology
from tests.unit.claim import examples


def compile_sidecar(claim: Claim, endpoint_id: str, layout: SidecarLayout) -> SidecarConfig:
    topology = resolve(claim)
    return sidecar.compile_sidecar(topology.endpoint(endpoint_id), layout, gateway_replicas=topology.gateway.replicas)


def host_layout(claim: Claim, endpoint_id: str) -> SidecarLayout:
    return sidecar.host_layout(resolve(claim).endpoint(endpoint_id))


def tenant_of(topology: Topology, name: str) -> Tenant:
    (found,) = [tenant for tenant in topology.tenants if tenant.name == name]
    return found


def compile_claim(claim: Claim, **options: object) -> Artefacts:
    return compile_topology(resolve(claim), **options)  # type: ignore[arg-type]


def compiled(*changes: examples.Change, **options: object) -> Artefacts:
    """Everything that the valid claim compiles to, with changes."""
    loaded = examples.load(examples.claim(*changes))
    return compile_claim(loaded.claim, bundles=loaded.bundles, **options)


def compiled_litellm(*changes: examples.Change, **options: Any) -> dict[str, Any]:
    """LiteLLM's configuration of the valid claim, with changes."""
    return compile_litellm(resolve(examples.load(examples.claim(*changes)).claim), **options)


def all_manifests(claim: Claim, artefacts: Artefacts) -> list[Manifest]:
    """Every rendered manifest, in the order of deployment."""
    topology = resolve(claim)
    found = groups(topology, artefacts, SecretNames.by_reference(topology), addresses=None)
    return [each.manifest for group in found for each in group.objects]
