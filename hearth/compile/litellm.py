"""LiteLLM's configuration: the one place where models come from (S3-6, S3-7).

LiteLLM calls the guard on loopback and nothing else. It knows no credential of an endpoint or a provider, follows no
order but an alias's own, retries nothing, and cools nothing down: whether an endpoint can answer is the guard's to
say, so that one client's wrong requests cannot take a model away from everybody (C-3, C-9, S4-130).
"""

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import yaml

from hearth.claim.claim import Claim
from hearth.claim.endpoints import RuntimeCapacity
from hearth.claim.llm import Instance, Provider
from hearth.claim.names import GATEWAY_REFERENCE
from hearth.claim.routing import Deployment, Operation
from hearth.compile.names import NAMESPACE, public_instance_name
from hearth.compile.upstreams import PROVIDER_TIMEOUT_MS, Upstream, offered_providers, upstreams

PERSON_BUDGET: Final = "hearth-person"
"""Budget id of everybody whom a request names (S3-55, S3-56)."""
GUARD_API_KEY: Final = "the-guard-adds-the-credential"
"""What LiteLLM sends as credential. The guard removes it; it opens nothing anywhere."""
INSTANCE_PORT: Final = 8000
"""TCP port of a vLLM instance (S3-14)."""
GATEWAY_CONNECTIONS: Final = 145
"""Database connections of all Pods of the gateway together: what PostgreSQL is planned to have for them."""
MOST_POD_CONNECTIONS: Final = 10
"""Most database connections of one Pod."""
SPEND_LOG_RETENTION: Final = "90d"
"""How long a request's own record stays, with the person that it names. Sums by day, team and person stay."""

_MODEL_IDS: Final = uuid.UUID("6f1c7d2e-5f0a-5c1e-9a7b-0d5f3f1e8a44")
_MODES: Final[tuple[tuple[Operation, str], ...]] = (
    ("chat", "chat"),
    ("completion", "completion"),
    ("embedding", "embedding"),
    # The mode "responses" would make LiteLLM answer chat through the responses API, which nobody declared (S4-97).
    ("responses", "chat"),
)


class ReferenceInClaimError(ValueError):
    """A text of the claim would be read by LiteLLM as the name of one of its environment variables."""


def compile_litellm(claim: Claim, *, withheld: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the content of config.yaml.

    The list of models is empty, and right, on a cluster without GPU and provider (S3-19). The mock is never in it.

    Args:
        claim: a claim that passed the rules.
        withheld: reasons by endpoint id; the deployments of these endpoints are left out (C-18).

    Raises:
        ReferenceInClaimError: a text of the claim begins with `os.environ/`.
    """
    by_name = {upstream.name: upstream for upstream in upstreams(claim)}
    models = [
        *_alias_models(claim, by_name, withheld or {}),
        *(model for provider in offered_providers(claim) for model in _provider_models(provider, by_name)),
        *(_instance_model(instance) for instance in offered_instances(claim)),
    ]
    _refuse_references(models)
    longest_ms = max((upstream.request_timeout_ms for upstream in by_name.values()), default=PROVIDER_TIMEOUT_MS)
    return {
        "model_list": models,
        "general_settings": _general_settings(claim),
        "router_settings": {
            "routing_strategy": "simple-shuffle",
            "num_retries": 0,
            "disable_cooldowns": True,
        },
        "litellm_settings": {
            # A parameter that the model does not know is refused, not dropped in silence (S4-2); and with dropping
            # on, LiteLLM answers 200 with the body `null` when the model server answers 422.
            "drop_params": False,
            "num_retries": 0,
            "request_timeout": longest_ms / 1_000,
            "budget_exceeded_status_code": 429,
            "turn_off_message_logging": True,
            "redact_messages_in_exceptions": True,
            # A caller neither keeps a request out of the records nor switches off what is called about it.
            "global_disable_no_log_param": True,
            "allow_dynamic_callback_disabling": False,
            # For a model whose name it believes to know, LiteLLM would ask a public hub for a tokenizer, and stand
            # still for everybody until the hub answers.
            "disable_hf_tokenizer_download": True,
            "json_logs": True,
            **({"max_end_user_budget_id": PERSON_BUDGET} if claim.llm.person_budget else {}),
        },
    }


def litellm_yaml(config: Mapping[str, Any]) -> str:
    """Return the text of config.yaml: keys sorted, so that one content has one text."""
    return yaml.safe_dump(dict(config), sort_keys=True, allow_unicode=True, default_flow_style=False, width=120)


def offered_instances(claim: Claim) -> tuple[Instance, ...]:
    """Return the instances that are offered, sorted by public name: none without GPUs (S3-19, S3-78)."""
    if not claim.llm.gpu_acceleration:
        return ()
    return tuple(sorted(claim.llm.instances, key=lambda instance: public_instance_name(instance.model_id)))


def instance_base_url(instance: Instance) -> str:
    """Return where an instance is called (S3-14)."""
    return f"http://vllm-{instance.name}-inference.{NAMESPACE}.svc.cluster.local:{INSTANCE_PORT}/v1"


def connection_pool_limit(replicas: int) -> int:
    """Return how many database connections one Pod of the gateway may hold.

    A rolling update has one Pod more than `replicas`. Many replicas get small pools, and never "too many clients",
    which LiteLLM would tell every tenant as 401.

    Args:
        replicas: Pods of the gateway, 1 to 20.
    """
    return min(MOST_POD_CONNECTIONS, GATEWAY_CONNECTIONS // (replicas + 1))


def _general_settings(claim: Claim) -> dict[str, Any]:
    return {
        "master_key": f"{GATEWAY_REFERENCE}LITELLM_MASTER_KEY",
        "database_url": f"{GATEWAY_REFERENCE}DATABASE_URL",
        "store_model_in_db": False,
        "database_connection_pool_limit": connection_pool_limit(claim.llm.gateway.replicas),
        "allow_requests_on_db_unavailable": False,
        "user_api_key_cache_ttl": claim.llm.gateway.key_cache_seconds,
        # Not the response cache: Valkey counts requests, tokens and spend for all replicas, and keeps no answer.
        "coordination_redis": {
            field: f"{GATEWAY_REFERENCE}REDIS_{field.upper()}" for field in ("host", "port", "password")
        },
        # Without these two, budgets and limits do not hold while Valkey is away.
        "fail_closed_budget_enforcement": True,
        "fail_closed_rate_limit_enforcement": True,
        "disable_spend_logs": False,
        "store_prompts_in_spend_logs": False,
        "maximum_spend_logs_retention_period": SPEND_LOG_RETENTION,
        "background_health_checks": False,
        "cancel_on_disconnect": True,
    }


def _alias_models(
    claim: Claim, by_name: Mapping[str, Upstream], withheld: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    for name, alias in sorted(claim.aliases.items()):
        for order, deployment_id in enumerate(alias.deployments, start=1):
            deployment = claim.deployments[deployment_id]
            if deployment.endpoint in withheld:
                continue
            capacity = claim.endpoints[deployment.endpoint].runtime_capacity
            upstream = by_name[f"endpoint-{deployment.endpoint}"]
            model = _deployment_model(name, deployment_id, deployment, upstream, capacity)
            if len(alias.deployments) > 1:
                model["litellm_params"]["order"] = order
            yield model


def _deployment_model(
    public_name: str,
    deployment_id: str,
    deployment: Deployment,
    upstream: Upstream,
    capacity: RuntimeCapacity | None,
) -> dict[str, Any]:
    pricing = deployment.pricing
    setup_ms = upstream.stream_setup_timeout_ms
    if capacity is not None and capacity.readiness_policy == "on_demand":
        # A cold model loads before its stream begins, and that is no reason to go on to another one (S4-119).
        setup_ms = min(max(setup_ms, capacity.cold_start_timeout_ms), upstream.request_timeout_ms)
    model = _Model(
        public_name=public_name,
        source=deployment_id,
        upstream_model=deployment.model,
        base_url=upstream.base_url,
        request_ms=upstream.request_timeout_ms,
        setup_ms=setup_ms,
        input_micros=pricing.input_micros_per_million_tokens,
        output_micros=pricing.output_micros_per_million_tokens,
        mode=next(mode for operation, mode in _MODES if operation in deployment.operations),
        context_tokens=deployment.context_tokens,
    )
    space = {"embedding_space": deployment.embedding_space} if deployment.embedding_space else {}
    return model.entry(
        deployment=deployment_id,
        endpoint=deployment.endpoint,
        operations=list(deployment.operations),
        lane=deployment.lane,
        residency=list(deployment.residency),
        price_basis=pricing.basis,
        price_version=pricing.version,
        **space,
    )


def _provider_models(provider: Provider, by_name: Mapping[str, Upstream]) -> Iterator[dict[str, Any]]:
    upstream = by_name[f"provider-{provider.name}"]
    for declared in sorted(provider.models, key=lambda model: model.name):
        model = _Model(
            public_name=f"{provider.name}/{declared.name}",
            source=provider.name,
            upstream_model=declared.model,
            base_url=upstream.base_url,
            request_ms=upstream.request_timeout_ms,
            setup_ms=upstream.stream_setup_timeout_ms,
            input_micros=declared.input_micros_per_million_tokens,
            output_micros=declared.output_micros_per_million_tokens,
            mode=declared.mode,
            context_tokens=declared.max_tokens,
        )
        yield model.entry(provider=provider.name)


def _instance_model(instance: Instance) -> dict[str, Any]:
    name = public_instance_name(instance.model_id)
    model = _Model(
        public_name=name,
        source=instance.name,
        upstream_model=name,
        base_url=instance_base_url(instance),
        request_ms=PROVIDER_TIMEOUT_MS,
        setup_ms=PROVIDER_TIMEOUT_MS,
        # An instance has no price in the claim; without any, LiteLLM would look one up by the model's name.
        input_micros=0,
        output_micros=0,
        mode="chat",
        context_tokens=instance.max_model_len,
    )
    return model.entry(instance=instance.name)


@dataclass(frozen=True)
class _Model:
    """What every entry of the list says."""

    public_name: str
    source: str
    upstream_model: str
    base_url: str
    request_ms: int
    setup_ms: int
    input_micros: int
    output_micros: int
    mode: str
    context_tokens: int

    def entry(self, **information: object) -> dict[str, Any]:
        """Return the entry; `information` is added to what LiteLLM shows of the model."""
        return {
            "model_name": self.public_name,
            "litellm_params": {
                # This prefix passes chat, completions, embeddings and responses on to the path of the same name.
                "model": f"openai/{self.upstream_model}",
                "api_base": self.base_url,
                "api_key": GUARD_API_KEY,
                "timeout": self.request_ms / 1_000,
                "stream_timeout": self.setup_ms / 1_000,
                "max_retries": 0,
                "input_cost_per_token": per_token(self.input_micros),
                "output_cost_per_token": per_token(self.output_micros),
                # Parameters that LiteLLM believes only some models of one vendor have; the model server decides.
                "allowed_openai_params": ["dimensions", "verbosity"],
                # A person's name is for the gateway's budgets, and stays in it.
                "additional_drop_params": ["user"],
            },
            "model_info": {
                "id": str(uuid.uuid5(_MODEL_IDS, f"{self.public_name}\n{self.source}")),
                "mode": self.mode,
                # LiteLLM reserves this much of a budget for a request that does not bound its answer.
                "max_tokens": self.context_tokens,
                "max_input_tokens": self.context_tokens,
                # Passes `reasoning` of the responses API on, which LiteLLM refuses for models that it does not know.
                "supports_reasoning": True,
                **information,
            },
        }


def per_token(micros_per_million_tokens: int) -> float:
    """Return a price in units of the accounting currency for one token.

    The claim counts micro-units (10⁻⁶) for a million (10⁶) tokens, so one unit of the claim is 10⁻¹² here (S4-122).
    """
    return micros_per_million_tokens / 10**12


def _refuse_references(value: object) -> None:
    """Refuse what LiteLLM would replace by a variable of its environment, in which its own secrets are.

    Raises:
        ReferenceInClaimError: a text begins with `os.environ/`.
    """
    if isinstance(value, str) and value.startswith(GATEWAY_REFERENCE):
        raise ReferenceInClaimError(
            f"a name or text of the claim begins with {GATEWAY_REFERENCE}; LiteLLM would read it"
        )
    if isinstance(value, Mapping):
        for item in value.values():
            _refuse_references(item)
    elif isinstance(value, list):
        for item in value:
            _refuse_references(item)
