"""Claims for the tests of the proxies: small, complete, and changed by a few words."""

import json
from typing import Any

from hearth.claim.claim import Claim
from tests.support import claims

NO_DIGEST = "0" * 64
deployment = claims.deployment


def capacity(parallel: int = 2, queued: int = 2, request_ms: int = 20_000, setup_ms: int = 10_000) -> dict[str, Any]:
    more = {"requestTimeoutMs": request_ms, "streamSetupTimeoutMs": setup_ms}
    return claims.capacity("gpu-box", parallel, queued, physicalRuntimeId="gpu-box/runtime", **more)


def sidecar_endpoint(**changes: Any) -> dict[str, Any]:
    """An endpoint with a sidecar and llama.cpp in a Pod; `changes` replace its fields."""
    source = {"image": {"ref": "localhost/model:1", "path": "/model.gguf"}}
    bounds = {"sidecar": {"maxRequestBytes": 262_144, "maxResponseBytes": 1_048_576}, "runtimeCapacity": capacity()}
    return claims.pod_endpoint("llama", source, f"sha256:{NO_DIGEST}", **{**bounds, **changes})


def private_endpoint(url: str, **changes: Any) -> dict[str, Any]:
    """An endpoint in the zone `lan` that ends TLS itself; `changes` replace its fields."""
    return claims.endpoint(
        "lan", url, claims.private_tls("lan", "lan-ca"), **{"runtimeCapacity": capacity(), **changes}
    )


def plaintext_endpoint(url: str, **changes: Any) -> dict[str, Any]:
    """An endpoint in the zone `lan` without TLS and without a credential."""
    plain = {"endpointAuth": {"mode": "none"}, "networkProfile": claims.private_plaintext("lan")}
    return private_endpoint(url, **{**plain, **changes})


def provider(name: str = "vendor", base: str = "https://api.vendor.example/v1", mode: str = "chat") -> dict[str, Any]:
    return {
        "name": name,
        "displayName": "A vendor",
        "apiBase": base,
        "apiKeyProperty": f"{name.replace('-', '_')}_api_key",
        "models": [{"name": "large", "model": "vendor/large", "mode": mode, "pricing": "zero_marginal"}],
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
    values = claims.overlay(
        claims.BASE,
        {
            "llm": {"providers": providers or [], **(llm or {})},
            "networkZones": {"lan": {"cidrs": list(cidrs), "ports": [8443, 11434], "allowPrivatePlaintext": True}},
            "trustBundles": {"lan-ca": {"file": "trust/lan.pem", "version": 1, "sha256": NO_DIGEST}},
            "endpoints": found,
            "deployments": {name: deployment(name, *operations) for name in found},
            "aliases": {"public": claims.alias(*found)} if found else {},
            "tenants": tenants or {},
            "policy": {"vendor": {"optIn": True, "acknowledgement": "a test"}, **(policy or {})},
        },
    )
    return Claim.model_validate_json(json.dumps(values))
