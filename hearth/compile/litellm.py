"""LiteLLM's configuration: the one place where models come from (S3-6, S3-7).

LiteLLM calls the way to the guard on loopback and nothing else. It knows no credential of an endpoint or a provider,
follows no order but an alias's own, retries nothing, and cools nothing down: whether an endpoint can answer is the
guard's to say, so that one client's wrong requests cannot take a model away from everybody (C-3, C-9, S4-130).
"""

import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Final

from hearth.claim.names import GATEWAY_REFERENCE
from hearth.claim.operations import OPERATIONS, in_order
from hearth.compile.guard import guard_path
from hearth.compile.names import GUARD_DOOR_PORT
from hearth.topology.topology import Route, Target, Topology
from hearth.topology.upstreams import DEFAULT_BOUNDS, Upstream
from hearth.yaml_text import yaml_text

PERSON_BUDGET: Final = "hearth-person"
"""Budget id of everybody whom a request names (S3-55, S3-56)."""
HOOK: Final = "hearth.intake.hook.HOOK"
"""What LiteLLM calls before and after each attempt; it lies beside its program in the container."""
PLACEHOLDER_KEY: Final = "the-front-adds-the-credential"
"""What LiteLLM sends as credential. The front replaces it; it opens nothing anywhere."""
GATEWAY_CONNECTIONS: Final = 145
"""Database connections of all Pods of the gateway together: what PostgreSQL is planned to have for them."""
MOST_POD_CONNECTIONS: Final = 10
"""Most database connections of one Pod."""
SPEND_LOG_RETENTION: Final = "90d"
"""How long a request's own record stays, with the person that it names. Sums by day, team and person stay."""

_MODEL_IDS: Final = uuid.UUID("6f1c7d2e-5f0a-5c1e-9a7b-0d5f3f1e8a44")


class ReferenceInClaimError(ValueError):
    """A text of the claim would be read by LiteLLM as the name of one of its environment variables."""


def compile_litellm(topology: Topology, *, withheld: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the content of config.yaml.

    The list of models is empty, and right, on a cluster without GPU and provider (S3-19). The mock is never in it.

    Args:
        topology: the topology.
        withheld: reasons by endpoint id; the deployments of these endpoints are left out (C-18).

    Raises:
        ReferenceInClaimError: a text of the claim begins with `os.environ/`.
    """
    models = [
        model
        for route in topology.routes
        if route.obstacle is None
        for model in _models(topology, route, withheld or {})
    ]
    _refuse_references(models)
    longest_ms = topology.longest_request_ms or DEFAULT_BOUNDS.request_timeout_ms
    return {
        "model_list": models,
        "general_settings": _general_settings(topology),
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
            # Offers the deployments of an alias one at a time.
            "callbacks": HOOK,
            # Else an error names every deployment and its fallbacks.
            "expose_router_debug_in_errors": False,
            **({"max_end_user_budget_id": PERSON_BUDGET} if topology.gateway.person_budget else {}),
        },
    }


def litellm_yaml(config: Mapping[str, Any]) -> str:
    """Return the text of config.yaml: keys sorted, so that one content has one text."""
    return yaml_text(dict(config), sort_keys=True)


def connection_pool_limit(replicas: int) -> int:
    """Return how many database connections one Pod of the gateway may hold.

    A rolling update has one Pod more than `replicas`. Many replicas get small pools, and never "too many clients",
    which LiteLLM would tell every tenant as 401.

    Args:
        replicas: Pods of the gateway, 1 to 20.
    """
    return min(MOST_POD_CONNECTIONS, GATEWAY_CONNECTIONS // (replicas + 1))


def _general_settings(topology: Topology) -> dict[str, Any]:
    return {
        "master_key": f"{GATEWAY_REFERENCE}LITELLM_MASTER_KEY",
        "database_url": f"{GATEWAY_REFERENCE}DATABASE_URL",
        "store_model_in_db": False,
        "database_connection_pool_limit": connection_pool_limit(topology.gateway.replicas),
        "allow_requests_on_db_unavailable": False,
        "user_api_key_cache_ttl": topology.gateway.key_cache_seconds,
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


def _models(topology: Topology, route: Route, withheld: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield an entry for each target of a route, in order."""
    for order, target in enumerate(route.targets, start=1):
        reached = target.reached_by
        if reached is None or (reached.kind == "endpoint" and reached.name in withheld):
            continue
        entry = _entry(route, target, topology.upstream(reached))
        if len(route.targets) > 1:
            entry["litellm_params"]["order"] = order
        yield entry


def _entry(route: Route, target: Target, upstream: Upstream) -> dict[str, Any]:
    return {
        "model_name": route.name,
        "litellm_params": {
            # This prefix passes chat, completions, embeddings and responses on to the path of the same name.
            "model": f"openai/{target.model}",
            # Nothing of the upstream's address: where it is may change without LiteLLM.
            "api_base": f"http://127.0.0.1:{GUARD_DOOR_PORT}{guard_path(upstream)}",
            "api_key": PLACEHOLDER_KEY,
            "timeout": upstream.bounds.request_timeout_ms / 1_000,
            "stream_timeout": upstream.bounds.cold_start_timeout_ms / 1_000,
            "max_retries": 0,
            # Parameters that LiteLLM believes only some models of one vendor have; the model server decides.
            "allowed_openai_params": ["dimensions", "verbosity"],
            # A person's name is for the gateway's budgets, and stays in it.
            "additional_drop_params": ["user"],
        },
        "model_info": {
            "id": str(uuid.uuid5(_MODEL_IDS, f"{route.name}\n{target.source}")),
            "mode": OPERATIONS[in_order(target.operations)[0]].litellm_mode,
            # LiteLLM reserves this much of a budget for a request that does not bound its answer.
            "max_tokens": target.context_tokens,
            "max_input_tokens": target.context_tokens,
            # Not among the parameters: there, each request would write them anew into LiteLLM's price table, under the
            # provider of its operation, and an answer of another operation that ends meanwhile would cost nothing.
            "input_cost_per_token": per_token(target.input_micros_per_million_tokens),
            "output_cost_per_token": per_token(target.output_micros_per_million_tokens),
            # Passes `reasoning` of the responses API on, which LiteLLM refuses for models that it does not know.
            "supports_reasoning": True,
            **_declared(target, upstream),
        },
    }


def _declared(target: Target, upstream: Upstream) -> dict[str, Any]:
    """Return what the claim says of a target beside what LiteLLM itself reads."""
    deployment = target.deployment
    if deployment is None:
        return {upstream.id.kind: target.source}
    space = {"embedding_space": deployment.embedding_space} if deployment.embedding_space else {}
    return {
        "deployment": target.source,
        "endpoint": target.upstream,
        "operations": list(target.operations),
        "lane": deployment.lane,
        "residency": list(deployment.residency),
        "price_basis": deployment.pricing.basis,
        "price_version": deployment.pricing.version,
        **space,
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
