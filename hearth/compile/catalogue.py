"""The catalogue: every public name, what answers it, and what the claim says about it (S3-77 … S3-82, S0-9)."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from pydantic.alias_generators import to_camel

from hearth.claim.claim import Claim
from hearth.claim.llm import Instance, ModelMode, Provider, ProviderModel
from hearth.claim.routing import Alias, Operation
from hearth.compile.names import public_instance_name
from hearth.compile.operations import OPERATION_PATHS
from hearth.compile.upstreams import offered_providers

Status = Literal["Served", "Not offered"]
"""What the claim says of a name. `Served` is a declaration; whether it works is measured elsewhere (S3-77, S3-82)."""

NOT_ENABLED: Final = "hearth:llm.enabled is false"
"""Reason of every name of an environment without a gateway (S3-78)."""
NO_GPU: Final = "hearth:llm.gpuAcceleration is false"
"""Reason of an instance without GPUs (S3-78)."""
FOREIGN_TOKEN: Final = "its provider names the token property of another one"  # noqa: S105
"""Reason of the models of a provider that must not be offered (S3-28, S3-79)."""

_HIDDEN: Final = "share/"


@dataclass(frozen=True)
class CatalogueRow:
    """One public model name. Tuples about its backends are all in the order in which they answer."""

    name: str
    """The public name."""
    kind: Literal["alias", "provider", "instance"]
    """What declares it."""
    status: Status
    """What the claim says; never whether it works."""
    reason: str | None
    """Why it is not offered, or which deployments are left out and why."""
    operations: tuple[Operation, ...]
    """What it may be asked for, whichever of its deployments answers; in the order of OPERATION_PATHS."""
    deployments: tuple[str, ...]
    """Deployments that may answer, withheld ones included; empty for providers and instances."""
    endpoints: tuple[str, ...]
    """Endpoint of each of them, else the provider's or the instance's name."""
    postures: tuple[str, ...]
    """Network profile of each of those (S4-134)."""
    context_tokens: int
    """Advertised context window in tokens: that of the deployment with the smallest."""
    input_micros_per_million_tokens: int
    """Price of a million prompt tokens in micro-units: that of the dearest deployment."""
    output_micros_per_million_tokens: int
    """Price of a million completion tokens in micro-units: that of the dearest deployment."""

    def document(self) -> dict[str, Any]:
        """Return the row as JSON has it: names in camelCase, as in the claim."""
        return {to_camel(name): value for name, value in asdict(self).items()}


def catalogue(claim: Claim, withheld: Mapping[str, str] | None = None) -> tuple[CatalogueRow, ...]:
    """Return the catalogue, sorted by name, without what is shared with other sites alone.

    Args:
        claim: a claim that passed the rules.
        withheld: reasons by endpoint id; without an endpoint's evidence its deployments do not answer (C-18).
    """
    rows = (
        *(_alias(claim, name, alias, withheld or {}) for name, alias in claim.aliases.items()),
        *_providers(claim),
        *(_instance(claim, instance) for instance in claim.llm.instances),
    )
    return tuple(sorted((row for row in rows if not row.name.startswith(_HIDDEN)), key=lambda row: row.name))


def offered_names(rows: tuple[CatalogueRow, ...]) -> tuple[str, ...]:
    """Return the public names that clients may use, sorted: what a key without a list of its own is given."""
    return tuple(row.name for row in rows if row.status == "Served")


def mode_operations(mode: ModelMode) -> tuple[Operation, ...]:
    """Return what a provider's model may be asked for: providers answer responses for their chat models too."""
    return ("chat", "responses") if mode == "chat" else (mode,)


def _alias(claim: Claim, name: str, alias: Alias, withheld: Mapping[str, str]) -> CatalogueRow:
    deployments = [(deployment_id, claim.deployments[deployment_id]) for deployment_id in alias.deployments]
    left_out = [
        f"{deployment_id}: endpoint {deployment.endpoint} is withheld, {withheld[deployment.endpoint]}"
        for deployment_id, deployment in deployments
        if deployment.endpoint in withheld
    ]
    served = claim.llm.enabled and len(left_out) < len(deployments)
    return CatalogueRow(
        name=name,
        kind="alias",
        status="Served" if served else "Not offered",
        reason=NOT_ENABLED if not claim.llm.enabled else "; ".join(left_out) or None,
        operations=tuple(
            operation
            for operation in OPERATION_PATHS
            if all(operation in deployment.operations for _, deployment in deployments)
        ),
        deployments=alias.deployments,
        endpoints=tuple(deployment.endpoint for _, deployment in deployments),
        postures=tuple(claim.endpoints[deployment.endpoint].network_profile.mode for _, deployment in deployments),
        context_tokens=min(deployment.context_tokens for _, deployment in deployments),
        input_micros_per_million_tokens=max(
            deployment.pricing.input_micros_per_million_tokens for _, deployment in deployments
        ),
        output_micros_per_million_tokens=max(
            deployment.pricing.output_micros_per_million_tokens for _, deployment in deployments
        ),
    )


def _providers(claim: Claim) -> Iterator[CatalogueRow]:
    offered = {provider.name for provider in offered_providers(claim)}
    for provider in claim.llm.providers:
        reason = NOT_ENABLED if not claim.llm.enabled else None if provider.name in offered else FOREIGN_TOKEN
        for model in provider.models:
            yield _provider_model(provider, model, reason)


def _provider_model(provider: Provider, model: ProviderModel, reason: str | None) -> CatalogueRow:
    return CatalogueRow(
        name=f"{provider.name}/{model.name}",
        kind="provider",
        status="Not offered" if reason else "Served",
        reason=reason,
        operations=mode_operations(model.mode),
        deployments=(),
        endpoints=(provider.name,),
        postures=("public_tls",),
        context_tokens=model.max_tokens,
        input_micros_per_million_tokens=model.input_micros_per_million_tokens,
        output_micros_per_million_tokens=model.output_micros_per_million_tokens,
    )


def _instance(claim: Claim, instance: Instance) -> CatalogueRow:
    reason = NOT_ENABLED if not claim.llm.enabled else None if claim.llm.gpu_acceleration else NO_GPU
    return CatalogueRow(
        name=public_instance_name(instance.model_id),
        kind="instance",
        status="Not offered" if reason else "Served",
        reason=reason,
        operations=("chat", "completion"),
        deployments=(),
        endpoints=(instance.name,),
        # Its address is plain HTTP inside the namespace (S3-14).
        postures=("private_plaintext",),
        context_tokens=instance.max_model_len,
        input_micros_per_million_tokens=0,
        output_micros_per_million_tokens=0,
    )
