"""Claims for the tests of the proxies: small, complete, and changed by a few words."""

import json
from typing import Any

from hearth.claim.claim import Claim

NO_DIGEST = "0" * 64
PRICE = {
    "basis": "zero_marginal",
    "version": "1",
    "inputMicrosPerMillionTokens": 0,
    "outputMicrosPerMillionTokens": 0,
}


def capacity(parallel: int = 2, queued: int = 2, request_ms: int = 20_000, setup_ms: int = 10_000) -> dict[str, Any]:
    return {
        "physicalRuntimeId": "gpu-box/runtime",
        "capacityDomainId": "gpu-box/gpu-0",
        "maxParallelRequests": parallel,
        "maxQueuedRequests": queued,
        "requestTimeoutMs": request_ms,
        "streamSetupTimeoutMs": setup_ms,
    }


def sidecar_endpoint(**changes: Any) -> dict[str, Any]:
    """An endpoint with a sidecar and llama.cpp in a Pod; `changes` replace its fields."""
    endpoint: dict[str, Any] = {
        "protocol": "openai_chat",
        "baseUrl": "https://llm-llama.system-llm.svc.cluster.local:8443/v1",
        "endpointAuth": {"mode": "bearer", "credentialRef": "credential://llama/workload"},
        "networkProfile": {
            "mode": "private_tls",
            "termination": "light_gateway_sidecar",
            "networkZoneId": "in-cluster",
            "tls": {"trustBundle": "in-cluster"},
        },
        "sidecar": {"maxRequestBytes": 262_144, "maxResponseBytes": 1_048_576},
        "runtime": {
            "engine": "llamaCpp",
            "placement": "pod",
            "loopback": "http://127.0.0.1:8081",
            "models": [
                {
                    "source": {"image": {"ref": "localhost/model:1", "path": "/model.gguf"}},
                    "digest": f"sha256:{NO_DIGEST}",
                }
            ],
        },
        "runtimeCapacity": capacity(),
    }
    return {**endpoint, **changes}


def private_endpoint(url: str, **changes: Any) -> dict[str, Any]:
    """An endpoint in the zone `lan` that ends TLS itself; `changes` replace its fields."""
    endpoint: dict[str, Any] = {
        "protocol": "openai_chat",
        "baseUrl": url,
        "endpointAuth": {"mode": "bearer", "credentialRef": "credential://lan/workload"},
        "networkProfile": {"mode": "private_tls", "networkZoneId": "lan", "tls": {"trustBundle": "lan-ca"}},
        "runtimeCapacity": capacity(),
    }
    return {**endpoint, **changes}


def plaintext_endpoint(url: str, **changes: Any) -> dict[str, Any]:
    """An endpoint in the zone `lan` without TLS and without a credential."""
    profile = {"mode": "private_plaintext", "networkZoneId": "lan", "acceptPlaintextRisk": True}
    return private_endpoint(url, **{"endpointAuth": {"mode": "none"}, "networkProfile": profile, **changes})


def provider(name: str = "vendor", base: str = "https://api.vendor.example/v1", mode: str = "chat") -> dict[str, Any]:
    return {
        "name": name,
        "displayName": "A vendor",
        "apiBase": base,
        "apiKeyProperty": f"{name.replace('-', '_')}_api_key",
        "models": [{"name": "large", "model": "vendor/large", "mode": mode}],
    }


def deployment(endpoint: str, *operations: str) -> dict[str, Any]:
    return {
        "endpoint": endpoint,
        "model": "model",
        "operations": list(operations or ("chat",)),
        "pricing": PRICE,
        "residency": ["home"],
    }


def claim(
    endpoints: dict[str, Any] | None = None,
    *,
    operations: tuple[str, ...] = ("chat",),
    providers: list[dict[str, Any]] | None = None,
    cidrs: tuple[str, ...] = ("10.77.0.0/24",),
    tenants: dict[str, Any] | None = None,
    llm: dict[str, Any] | None = None,
    policy: dict[str, Any] | None = None,
) -> Claim:
    """Return a claim with one deployment of the given operations on every endpoint, and one alias over all of them."""
    found = endpoints or {}
    values: dict[str, Any] = {
        "llm": {"enabled": True, "providers": providers or [], **(llm or {})},
        "networkZones": {"lan": {"cidrs": list(cidrs), "ports": [8443, 11434], "allowPrivatePlaintext": True}},
        "trustBundles": {"lan-ca": {"file": "trust/lan.pem", "version": 1, "sha256": NO_DIGEST}},
        "endpoints": found,
        "deployments": {name: deployment(name, *operations) for name in found},
        "aliases": {"public": {"deployments": list(found), "residency": ["home"]}} if found else {},
        "tenants": tenants or {},
        "policy": {
            "clusterCidrs": {"services": ["10.96.0.0/16"], "pods": ["10.244.0.0/16"]},
            "vendor": {"optIn": True, "acknowledgement": "a test"},
            **(policy or {}),
        },
    }
    return Claim.model_validate_json(json.dumps(values))
