"""A valid claim that uses most of what there is, and small changes to it."""

import copy
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hearth.claim.loader import LoadedClaim, load_claim_values
from hearth.claim.problems import ClaimError

PROJECT = Path(__file__).resolve().parents[3]
DIGEST = "sha256:" + "ab" * 32
COMMIT = "0123456789abcdef0123456789abcdef01234567"

Change = Callable[[dict[str, Any]], None]


def _capacity(name: str, **more: Any) -> dict[str, Any]:
    return {
        "physicalRuntimeId": f"{name}/server",
        "capacityDomainId": f"{name}/gpu-0",
        "maxParallelRequests": 4,
        "maxQueuedRequests": 8,
        **more,
    }


def _price(basis: str = "amortized_internal", price_in: int = 100, price_out: int = 300) -> dict[str, Any]:
    return {
        "basis": basis,
        "version": "2026-1",
        "inputMicrosPerMillionTokens": price_in,
        "outputMicrosPerMillionTokens": price_out,
    }


def _private(zone: str, bundle: str, termination: str = "native") -> dict[str, Any]:
    return {
        "mode": "private_tls",
        "termination": termination,
        "networkZoneId": zone,
        "tls": {"trustBundle": bundle},
    }


def _bearer(name: str) -> dict[str, Any]:
    return {"mode": "bearer", "credentialRef": f"credential://{name}/workload"}


ENDPOINTS: dict[str, Any] = {
    "pod": {
        "protocol": "openai_chat",
        "baseUrl": "https://llm-pod.system-llm.svc.cluster.local:8443/v1",
        "endpointAuth": _bearer("pod"),
        "networkProfile": _private("in-cluster", "in-cluster", "light_gateway_sidecar"),
        "sidecar": {},
        "runtime": {
            "engine": "llamaCpp",
            "placement": "pod",
            "loopback": "http://127.0.0.1:8081",
            "models": [
                {
                    "source": {"image": {"ref": f"registry.example/m@{DIGEST}", "path": "/model/model.gguf"}},
                    "digest": DIGEST,
                }
            ],
        },
        "runtimeCapacity": _capacity("pod"),
    },
    "host": {
        "protocol": "openai_chat",
        "baseUrl": "https://ollama.home.arpa:8443/v1",
        "endpointAuth": _bearer("host"),
        "networkProfile": _private("lan", "home-ca", "light_gateway_sidecar"),
        "sidecar": {"profileVersion": "model-provider-sidecar/v1"},
        "runtime": {
            "engine": "ollama",
            "placement": "host",
            "loopback": "http://127.0.0.1:11434",
            "models": [{"source": {"ollama": "gemma3:270m"}, "digest": DIGEST}],
        },
        "runtimeCapacity": _capacity("host"),
    },
    "native": {
        "protocol": "openai_embeddings",
        "baseUrl": "https://embed.models.corp.example:8443/v1",
        "endpointAuth": {"mode": "api_key", "credentialRef": "credential://native/workload"},
        "headers": {"X-Title": "Hearth"},
        "networkProfile": _private("models", "home-ca"),
        "runtimeCapacity": _capacity("native"),
    },
    "plain": {
        "protocol": "openai_chat",
        "baseUrl": "http://192.168.1.20:11434/v1",
        "endpointAuth": {"mode": "none"},
        "networkProfile": {"mode": "private_plaintext", "networkZoneId": "lan", "acceptPlaintextRisk": True},
        "runtimeCapacity": _capacity("plain"),
    },
    "vendor": {
        "protocol": "openai_responses",
        "baseUrl": "https://api.vendor.example/v1",
        "endpointAuth": _bearer("vendor"),
        "networkProfile": {},
    },
}

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
                "models": [{"name": "gemma-4-31b", "model": "google/gemma-4-31B-it"}],
            },
            {
                "name": "mistral",
                "displayName": "Mistral",
                "apiBase": "https://api.mistral.example/v1",
                "apiKeyProperty": "mistral_api_key",
                "models": [{"name": "small", "model": "mistral-small"}, {"name": "large", "model": "mistral-large"}],
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
        "gemma-pod": {
            "endpoint": "pod",
            "model": "gemma",
            "operations": ["chat", "completion"],
            "pricing": _price(),
            "residency": ["corp"],
        },
        "gemma-host": {
            "endpoint": "host",
            "model": "gemma3:270m",
            "operations": ["chat"],
            "concurrency": 4,
            "pricing": _price("zero_marginal", 0, 0),
            "residency": ["corp"],
        },
        "nomic": {
            "endpoint": "native",
            "model": "nomic",
            "operations": ["embedding"],
            "lane": "indexing",
            "pricing": _price(),
            "embeddingSpace": "nomic/1",
            "residency": ["corp"],
        },
        "llama-plain": {
            "endpoint": "plain",
            "model": "llama",
            "operations": ["chat"],
            "pricing": _price("zero_marginal", 0, 0),
            "residency": ["corp"],
        },
        "gpt": {
            "endpoint": "vendor",
            "model": "gpt",
            "operations": ["responses"],
            "pricing": _price("provider"),
            "residency": ["us"],
        },
    },
    "aliases": {
        "gemma": {"deployments": ["gemma-pod"], "residency": ["corp"], "maxCostMicros": 100},
        "house": {"deployments": ["gemma-host"], "lanes": ["standard"], "residency": ["corp", "home"]},
        "plain": {"deployments": ["llama-plain"], "residency": ["corp"]},
        "embed": {"deployments": ["nomic"], "residency": ["corp"]},
        "vendor-gpt": {"deployments": ["gpt"], "residency": ["us"]},
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
        "vendor": {"optIn": True, "acknowledgement": "prompts reach the vendor"},
        "trustStore": "trust/runners.yaml",
        "clusterCidrs": {"services": ["10.96.0.0/16"], "pods": ["10.244.0.0/16"]},
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


def load(values: dict[str, Any], **more: Any) -> LoadedClaim:
    """Check values by key without their prefix."""
    return load_claim_values(
        {f"hearth:{key}": value for key, value in values.items()}, base=PROJECT, stack="test", **more
    )


def problems(values: dict[str, Any], **more: Any) -> list[str]:
    """Return what is wrong, one line each; nothing for an accepted claim."""
    try:
        load(values, **more)
    except ClaimError as error:
        return [str(problem) for problem in error.problems]
    return []
