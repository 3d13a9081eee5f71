"""What LiteLLM is told, and what it is never told."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from hearth.compile.litellm import (
    PLACEHOLDER_KEY,
    ReferenceInClaimError,
    compile_litellm,
    connection_pool_limit,
    litellm_yaml,
    per_token,
)
from hearth.compile.manifests.connection import max_connections
from hearth.topology.resolve import resolve
from tests.support.compiling import compiled_litellm as compiled
from tests.unit.claim import examples


def by_name(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {model["model_name"]: model for model in config["model_list"]}


def test_models_are_the_aliases_then_the_providers() -> None:
    listed = [
        (model["model_name"], model["litellm_params"]["model"], model["litellm_params"]["api_base"])
        for model in compiled()["model_list"]
    ]
    assert listed == [
        ("embed", "openai/nomic", "http://127.0.0.1:4002/u/endpoint-native"),
        ("gemma", "openai/gemma", "http://127.0.0.1:4002/u/endpoint-pod"),
        ("house", "openai/gemma3:270m", "http://127.0.0.1:4002/u/endpoint-host"),
        ("plain", "openai/llama", "http://127.0.0.1:4002/u/endpoint-plain"),
        ("vendor-gpt", "openai/gpt", "http://127.0.0.1:4002/u/endpoint-vendor"),
        (
            "info-maniak/gemma-4-31b",
            "openai/google/gemma-4-31B-it",
            "http://127.0.0.1:4002/u/provider-info-maniak",
        ),
        ("mistral/large", "openai/mistral-large", "http://127.0.0.1:4002/u/provider-mistral"),
        ("mistral/small", "openai/mistral-small", "http://127.0.0.1:4002/u/provider-mistral"),
    ]


def test_settings() -> None:
    config = compiled(examples.put("llm/gateway", {"replicas": 2, "keyCacheSeconds": 7}))
    assert config["general_settings"] == {
        "master_key": "os.environ/LITELLM_MASTER_KEY",
        "database_url": "os.environ/DATABASE_URL",
        "store_model_in_db": False,
        "database_connection_pool_limit": 10,
        "allow_requests_on_db_unavailable": False,
        "user_api_key_cache_ttl": 7,
        "coordination_redis": {
            "host": "os.environ/REDIS_HOST",
            "port": "os.environ/REDIS_PORT",
            "password": "os.environ/REDIS_PASSWORD",
        },
        "fail_closed_budget_enforcement": True,
        "fail_closed_rate_limit_enforcement": True,
        "disable_spend_logs": False,
        "store_prompts_in_spend_logs": False,
        "maximum_spend_logs_retention_period": "90d",
        "background_health_checks": False,
        "cancel_on_disconnect": True,
    }
    assert config["router_settings"] == {
        "routing_strategy": "simple-shuffle",
        "num_retries": 0,
        "disable_cooldowns": True,
    }
    assert config["litellm_settings"] == {
        "drop_params": False,
        "num_retries": 0,
        "request_timeout": 120.0,
        "budget_exceeded_status_code": 429,
        "turn_off_message_logging": True,
        "redact_messages_in_exceptions": True,
        "global_disable_no_log_param": True,
        "allow_dynamic_callback_disabling": False,
        "disable_hf_tokenizer_download": True,
        "json_logs": True,
        "callbacks": "hearth.intake.hook.HOOK",
        "expose_router_debug_in_errors": False,
        "max_end_user_budget_id": "hearth-person",
    }
    assert set(config) == {"model_list", "general_settings", "router_settings", "litellm_settings"}


def test_a_claim_without_a_person_budget_names_none() -> None:
    assert "max_end_user_budget_id" not in compiled(examples.drop("llm/personBudget"))["litellm_settings"]


def test_the_longest_request_timeout_bounds_them_all() -> None:
    slow = examples.put("endpoints/host/runtimeCapacity/requestTimeoutMs", 300_500)
    config = compiled(slow, examples.put("endpoints/host/runtimeCapacity/streamSetupTimeoutMs", 45_000))
    assert config["litellm_settings"]["request_timeout"] == 300.5
    parameters = by_name(config)["house"]["litellm_params"]
    assert (parameters["timeout"], parameters["stream_timeout"]) == (300.5, 45.0)


@pytest.mark.parametrize(
    ("cold_start_ms", "seconds"),
    [(90_000, 90.0), (1_000, 30.0), (500_000, 120.0)],
    ids=["as long as the model loads", "never shorter", "never above the whole request"],
)
def test_a_cold_model_may_load_before_its_stream_begins(cold_start_ms: int, seconds: float) -> None:
    capacity = "endpoints/host/runtimeCapacity"
    cold = examples.put(f"{capacity}/coldStartTimeoutMs", cold_start_ms)
    on_demand = examples.unchecked(cold, examples.put(f"{capacity}/readinessPolicy", "on_demand"))
    assert by_name(compile_litellm(resolve(on_demand)))["house"]["litellm_params"]["stream_timeout"] == seconds
    assert (
        by_name(compile_litellm(resolve(examples.unchecked(cold))))["house"]["litellm_params"]["stream_timeout"] == 30.0
    )


def test_an_alias_keeps_its_order_and_states_no_fallback() -> None:
    config = compiled(examples.two_deployments)
    house = [model for model in config["model_list"] if model["model_name"] == "house"]
    assert [(m["model_info"]["deployment"], m["litellm_params"]["order"]) for m in house] == [
        ("gemma-host", 1),
        ("gemma-pod", 2),
    ]
    assert "order" not in by_name(config)["gemma"]["litellm_params"]
    assert "fallbacks" not in json.dumps(config)


def test_a_withheld_endpoint_has_no_route() -> None:
    config = compiled(examples.two_deployments, withheld={"host": "evidence_missing"})
    house = [model for model in config["model_list"] if model["model_name"] == "house"]
    assert [(m["model_info"]["deployment"], m["litellm_params"]["order"]) for m in house] == [("gemma-pod", 2)]
    assert "house" not in by_name(compiled(withheld={"host": "evidence_missing"}))


def test_every_model_has_prices_and_goes_to_the_guard_without_a_credential() -> None:
    for model in compiled()["model_list"]:
        parameters = model["litellm_params"]
        assert parameters["api_base"].startswith("http://127.0.0.1:4002/u/")
        assert parameters["api_key"] == PLACEHOLDER_KEY
        for price in ("input_cost_per_token", "output_cost_per_token"):
            assert isinstance(model["model_info"][price], float)
            assert price not in parameters, "requests of several operations would overwrite each other's"
        assert parameters["max_retries"] == 0
        assert parameters["additional_drop_params"] == ["user"]
        # A bound here would be the default of every request, not the context window.
        assert "max_tokens" not in parameters


def test_prices_are_per_token() -> None:
    information = by_name(compiled())["gemma"]["model_info"]
    assert information["input_cost_per_token"] == pytest.approx(100e-12, rel=1e-15)
    assert information["output_cost_per_token"] == pytest.approx(300e-12, rel=1e-15)


@given(st.integers(min_value=0, max_value=10**12))
def test_a_price_survives_yaml(micros: int) -> None:
    text = yaml.safe_dump({"price": per_token(micros)})
    assert round(yaml.safe_load(text)["price"] * 10**12) == micros


def test_what_a_model_says_of_itself() -> None:
    change = examples.put("deployments/nomic/contextTokens", 2048)
    info = by_name(compiled(change))["embed"]["model_info"]
    assert info == {
        "id": "63f66c6d-b6d8-5e4d-ba5f-0ca677a5778d",
        "mode": "embedding",
        "max_tokens": 2048,
        "max_input_tokens": 2048,
        "input_cost_per_token": 1e-10,
        "output_cost_per_token": 3e-10,
        "supports_reasoning": True,
        "deployment": "nomic",
        "endpoint": "native",
        "operations": ["embedding"],
        "lane": "indexing",
        "residency": ["corp"],
        "price_basis": "amortized_internal",
        "price_version": "2026-1",
        "embedding_space": "nomic/1",
    }


@pytest.mark.parametrize(
    ("operations", "mode"),
    [
        (["chat"], "chat"),
        (["completion", "chat"], "chat"),
        (["completion"], "completion"),
        # LiteLLM would answer chat through the responses API if the mode were `responses`.
        (["responses"], "chat"),
    ],
)
def test_mode(operations: list[str], mode: str) -> None:
    claim = examples.unchecked(examples.put("deployments/gpt/operations", operations))
    assert by_name(compile_litellm(resolve(claim)))["vendor-gpt"]["model_info"]["mode"] == mode


def test_model_ids_are_unique() -> None:
    ids = [model["model_info"]["id"] for model in compiled(examples.two_deployments)["model_list"]]
    assert len(set(ids)) == len(ids)


def test_a_provider_that_names_another_ones_token_is_left_out() -> None:
    claim = examples.unchecked(examples.put("llm/providers/0/apiKeyProperty", "mistral_api_key"))
    names = by_name(compile_litellm(resolve(claim)))
    assert "info-maniak/gemma-4-31b" not in names
    assert "mistral/small" in names


def test_an_instance_is_offered_behind_the_guard_alone_and_the_mock_never_at_all() -> None:
    assert "qwen-qwen2.5-7b" not in by_name(compiled())
    with_gpu = compile_litellm(resolve(examples.unchecked(examples.put("llm/gpuAcceleration", True))))
    assert by_name(with_gpu)["qwen-qwen2.5-7b"]["litellm_params"]["api_base"].startswith("http://127.0.0.1:")
    assert by_name(with_gpu)["qwen-qwen2.5-7b"]["model_info"]["endpoint"] == "vllm-qwen"
    assert "svc.cluster.local" not in json.dumps(with_gpu)
    assert "127.0.0.1:4002" in json.dumps(with_gpu)
    assert "mock" not in json.dumps(compiled()).lower()


def test_nothing_to_offer_is_an_empty_list() -> None:
    empty = [examples.put(f"llm/{name}", []) for name in ("instances", "providers")]
    config = compiled(
        *empty,
        *(examples.put(name, {}) for name in ("aliases", "deployments", "endpoints", "tenants")),
        examples.put("policy/vendor", {}),
    )
    assert config["model_list"] == []
    assert yaml.safe_load(litellm_yaml(config))["model_list"] == []


def test_only_these_variables_are_referred_to() -> None:
    text = litellm_yaml(compiled())
    references = {word for word in text.split() if word.startswith("os.environ/")}
    assert references == {
        f"os.environ/{name}"
        for name in ("LITELLM_MASTER_KEY", "DATABASE_URL", "REDIS_HOST", "REDIS_PORT", "REDIS_PASSWORD")
    }
    assert "credential://" not in text
    assert "api_key_property" not in text


@pytest.mark.parametrize(
    "change",
    [
        examples.put("deployments/nomic/pricing/version", "os.environ/LITELLM_MASTER_KEY"),
        examples.put("deployments/nomic/embeddingSpace", "os.environ/DATABASE_URL"),
        examples.put("aliases/os.environ~LITELLM_MASTER_KEY", {"deployments": ["nomic"], "residency": ["corp"]}),
    ],
)
def test_a_text_that_litellm_would_replace_by_a_secret_is_refused(change: examples.Change) -> None:
    claim = examples.unchecked(change)
    with pytest.raises(ReferenceInClaimError) as error:
        compile_litellm(resolve(claim))
    assert "LITELLM_MASTER_KEY" not in str(error.value)
    assert "DATABASE_URL" not in str(error.value)


@pytest.mark.parametrize("replicas", range(1, 21))
def test_the_pools_of_all_replicas_fit_the_database(replicas: int) -> None:
    pool = connection_pool_limit(replicas)
    assert 1 <= pool <= 10
    # Raises when PostgreSQL may not be given that many.
    assert max_connections(replicas, pool) >= pool * (replicas + 1)


def test_the_text_has_no_anchors() -> None:
    config = compiled(examples.two_deployments)
    text = litellm_yaml(config)
    assert yaml.safe_load(text) == config
    assert not [line for line in text.splitlines() if line.lstrip("- ").startswith(("&", "*"))]
