"""Public names and what may answer them."""

from collections.abc import Iterator

from hearth.claim.claim import Claim
from hearth.claim.instances import Instance
from hearth.claim.llm import Provider, ProviderModel
from hearth.claim.names import instance_endpoint, public_instance_name
from hearth.claim.operations import mode_operations
from hearth.claim.routing import Alias
from hearth.topology.instances import instance_deployment
from hearth.topology.providers import owns_its_token
from hearth.topology.topology import Obstacle, Route, Target
from hearth.topology.upstreams import UpstreamId


def routes(claim: Claim) -> Iterator[Route]:
    """Yield every public name of a claim: aliases, then the models of providers, then instances."""
    for name, alias in sorted(claim.aliases.items()):
        yield Route(name, "alias", tuple(_deployments(claim, alias)), max_cost_micros=alias.max_cost_micros)
    for provider in sorted(claim.llm.providers, key=lambda found: found.name):
        obstacle: Obstacle | None = None if owns_its_token(provider) else "foreign_token"
        for model in sorted(provider.models, key=lambda found: found.name):
            yield Route(f"{provider.name}/{model.name}", "provider", (_model(provider, model, obstacle),), obstacle)
    missing: Obstacle | None = None if claim.llm.gpu_acceleration else "no_gpu"
    for instance in sorted(claim.llm.instances, key=lambda found: public_instance_name(found.model_id)):
        yield Route(public_instance_name(instance.model_id), "instance", (_instance(instance, missing),), missing)


def _deployments(claim: Claim, alias: Alias) -> Iterator[Target]:
    for name in alias.deployments:
        deployment = claim.deployments[name]
        yield Target(
            source=name,
            upstream=deployment.endpoint,
            reached_by=UpstreamId("endpoint", deployment.endpoint),
            mode=claim.endpoints[deployment.endpoint].network_profile.mode,
            model=deployment.model,
            operations=deployment.operations,
            context_tokens=deployment.context_tokens,
            input_micros_per_million_tokens=deployment.pricing.input_micros_per_million_tokens,
            output_micros_per_million_tokens=deployment.pricing.output_micros_per_million_tokens,
            deployment=deployment,
            vendor=claim.endpoints[deployment.endpoint].is_vendor,
        )


def _model(provider: Provider, model: ProviderModel, obstacle: Obstacle | None) -> Target:
    return Target(
        source=provider.name,
        upstream=provider.name,
        reached_by=None if obstacle else UpstreamId("provider", provider.name),
        mode="public_tls",
        model=model.model,
        operations=mode_operations(model.mode),
        context_tokens=model.max_tokens,
        # The rules accept no price for a model that costs nothing, and no price of completions for embeddings.
        input_micros_per_million_tokens=model.input_micros_per_million_tokens or 0,
        output_micros_per_million_tokens=model.output_micros_per_million_tokens or 0,
        vendor=True,
    )


def _instance(instance: Instance, obstacle: Obstacle | None) -> Target:
    own = instance_endpoint(instance.name)
    return Target(
        source=own,
        upstream=own,
        reached_by=None if obstacle else UpstreamId("endpoint", own),
        mode="private_tls",
        model=public_instance_name(instance.model_id),
        operations=instance.operations,
        context_tokens=instance.max_model_len,
        input_micros_per_million_tokens=instance.pricing.input_micros_per_million_tokens,
        output_micros_per_million_tokens=instance.pricing.output_micros_per_million_tokens,
        deployment=None if obstacle else instance_deployment(instance),
    )
