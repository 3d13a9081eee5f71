"""A valid claim that uses most of what there is, and small changes to it."""

import copy
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hearth.claim.claim import Claim
from hearth.claim.loader import LoadedClaim, load_claim_values
from hearth.claim.problems import ClaimError
from tests.support import claims

PROJECT = Path(__file__).resolve().parents[3]
DIGEST = claims.DIGEST
COMMIT = "0123456789abcdef0123456789abcdef01234567"

Change = Callable[[dict[str, Any]], None]


def _capacity(name: str) -> dict[str, Any]:
    return claims.capacity(name, 4, 8)


def _price(basis: str = "amortized_internal", inward: int = 100, outward: int = 300) -> dict[str, Any]:
    return claims.price(basis, inward, outward, version="2026-1")


def _deployment(endpoint: str, model: str, *operations: str, **more: Any) -> dict[str, Any]:
    return claims.deployment(endpoint, *operations, model=model, **{"residency": ["corp"], "pricing": _price(), **more})


ENDPOINTS: dict[str, Any] = {
    "pod": claims.pod_endpoint(
        "pod",
        {"image": {"ref": f"registry.example/m@{DIGEST}", "path": "/model/model.gguf"}},
        runtimeCapacity=_capacity("pod"),
    ),
    "host": claims.endpoint(
        "host",
        "https://ollama.home.arpa:8443/v1",
        claims.private_tls("lan", "home-ca", "light_gateway_sidecar"),
        sidecar={"profileVersion": "model-provider-sidecar/v1"},
        runtime=claims.runtime(
            {"ollama": "gemma3:270m"}, engine="ollama", placement="host", loopback="http://127.0.0.1:11434"
        ),
        runtimeCapacity=_capacity("host"),
    ),
    "native": claims.endpoint(
        "native",
        "https://embed.models.corp.example:8443/v1",
        claims.private_tls("models", "home-ca"),
        protocol="openai_embeddings",
        endpointAuth={"mode": "api_key", "credentialRef": "credential://native/workload"},
        headers={"X-Title": "Hearth"},
        runtimeCapacity=_capacity("native"),
    ),
    "plain": claims.endpoint(
        "plain",
        "http://192.168.1.20:11434/v1",
        claims.private_plaintext("lan"),
        endpointAuth={"mode": "none"},
        runtimeCapacity=_capacity("plain"),
    ),
    "vendor": claims.endpoint(
        "vendor", "https://api.vendor.example/v1", {}, protocol="openai_responses", runtimeCapacity=None
    ),
}

PRICES = {"inputMicrosPerMillionTokens": 200_000, "outputMicrosPerMillionTokens": 600_000}
"""What a vendor's model costs."""

VALID: dict[str, Any] = {
    "llm": {
        "enabled": True,
        "personBudget": {"maxSpend": "20.00", "period": "30d", "requestsPerMinute": 30, "tokensPerMinute": 100000},
        "instances": [
            {
                "name": "qwen",
                "modelId": "Qwen/Qwen2.5-7B",
                "revision": COMMIT,
                "maxModelLen": 8192,
                "modelCacheSize": "60Gi",
            }
        ],
        "providers": [
            {
                "name": "info-maniak",
                "displayName": "Infomaniak AI Services",
                "apiBase": "https://api.infomaniak.example/2/ai/1/openai/v1",
                "apiKeyProperty": "info_maniak_api_key",
                "models": [{"name": "gemma-4-31b", "model": "google/gemma-4-31B-it", **PRICES}],
            },
            {
                "name": "mistral",
                "displayName": "Mistral",
                "apiBase": "https://api.mistral.example/v1",
                "apiKeyProperty": "mistral_api_key",
                "models": [
                    {"name": "small", "model": "mistral-small", **PRICES},
                    {"name": "large", "model": "mistral-large", **PRICES},
                ],
            },
        ],
    },
    "networkZones": {
        "lan": {
            "dnsNames": ["ollama.home.arpa", "llama.home.arpa"],
            "cidrs": ["192.168.1.0/24", "fd00:1::/64"],
            "ports": [8443, 11434],
            "allowPrivatePlaintext": True,
        },
        "models": {"dnsNames": ["*.models.corp.example"], "cidrs": ["10.42.7.0/24"], "ports": [8443]},
    },
    "trustBundles": {
        "home-ca": {
            "version": 3,
            "file": "trust/home-ca.v3.pem",
            "sha256": hashlib.sha256((PROJECT / "trust/home-ca.v3.pem").read_bytes()).hexdigest(),
        }
    },
    "endpoints": ENDPOINTS,
    "deployments": {
        "gemma-pod": _deployment("pod", "gemma", "chat", "completion"),
        "gemma-host": _deployment("host", "gemma3:270m", "chat", concurrency=4, pricing=_price("zero_marginal", 0, 0)),
        "nomic": _deployment("native", "nomic", "embedding", lane="indexing", embeddingSpace="nomic/1"),
        "llama-plain": _deployment("plain", "llama", "chat", pricing=_price("zero_marginal", 0, 0)),
        "gpt": _deployment("vendor", "gpt", "responses", pricing=_price("provider"), residency=["us"]),
    },
    "aliases": {
        "gemma": claims.alias("gemma-pod", residency="corp", maxCostMicros=100),
        "house": {"deployments": ["gemma-host"], "lanes": ["standard"], "residency": ["corp", "home"]},
        "plain": claims.alias("llama-plain", residency="corp"),
        "embed": claims.alias("nomic", residency="corp"),
        "vendor-gpt": claims.alias("gpt", residency="us"),
    },
    "tenants": {
        "family": {"apps": {"notes": {"llm": True}, "photos": {"llm": False}}},
        "team": {
            "namespace": "team-apps",
            "apps": {"wiki": {"llm": True}},
            "models": ["gemma", "mistral/small"],
            "limits": {"maxSpend": "5", "period": "1d"},
        },
    },
    "policy": {
        "plaintext": "zone",
        "vendor": {
            "optIn": True,
            "allow": ["info-maniak", "mistral", "vendor"],
            "acknowledgement": "prompts reach the vendor",
        },
        **claims.BASE["policy"],
    },
}


def claim(*changes: Change) -> dict[str, Any]:
    """Return the valid claim with changes, by key without its prefix."""
    values = copy.deepcopy(VALID)
    for change in changes:
        change(values)
    return values


def _parent(values: Any, path: tuple[str | int, ...]) -> Any:
    for part in path[:-1]:
        values = values.setdefault(part, {}) if isinstance(values, dict) else values[part]
    return values


def _path(text: str) -> tuple[str | int, ...]:
    return tuple(int(part) if part.isdigit() else part.replace("~", "/") for part in text.split("/"))


def put(path: str, value: Any) -> Change:
    """Set the value at a path such as `llm/providers/0/apiBase`; `~` is a slash inside a name."""

    def change(values: dict[str, Any]) -> None:
        parent, last = _parent(values, _path(path)), _path(path)[-1]
        if isinstance(parent, list) and last == len(parent):
            parent.append(None)
        parent[last] = copy.deepcopy(value)

    return change


def drop(path: str) -> Change:
    """Remove the value at a path."""

    def change(values: dict[str, Any]) -> None:
        del _parent(values, _path(path))[_path(path)[-1]]

    return change


def two_deployments(values: dict[str, Any]) -> None:
    """Let `house` be answered by the host, and by the Pod when the host cannot."""
    deployments = values["deployments"]
    for name in ("gemma-pod", "gemma-host"):
        deployments[name] |= {"operations": ["chat"], "pricing": dict(deployments["nomic"]["pricing"])}
    values["aliases"]["house"] = {"deployments": ["gemma-host", "gemma-pod"], "residency": ["corp"]}


def load(values: dict[str, Any], **more: Any) -> LoadedClaim:
    """Check values by key without their prefix."""
    config = {f"hearth:{key}": value for key, value in values.items()}
    return load_claim_values(config, base=PROJECT, **{"stack": "test", **more})


def unchecked(*changes: Change) -> Claim:
    """A claim that no rule has seen, as if somebody had written it by hand into the program's configuration."""
    return Claim.model_validate_json(json.dumps(claim(*changes)))


def problems(values: dict[str, Any], **more: Any) -> list[str]:
    """Return what is wrong, one line each; nothing for an accepted claim."""
    try:
        load(values, **more)
    except ClaimError as error:
        return [str(problem) for problem in error.problems]
    return []
