"""The claim of the cluster tests: the real small model in a Pod, and a scripted upstream for what it cannot answer."""

import copy
from typing import Any

from hearth.versions import versions
from tests.support import claims

SCRIPTED_NAMESPACE = "scripted"
SCRIPTED_HOST = f"upstream.{SCRIPTED_NAMESPACE}.svc.cluster.local"
SCRIPTED_SECRET_KEY = "scripted.gateway"
"""Key in the Secret of operator-supplied endpoint credentials, for `credential://scripted/gateway`."""
STEADY_SECRET_KEY = "scripted.steady"
"""The same for `credential://scripted/steady`, which no test takes away."""

# 0.01 and 0.02 per token: the scripted usage of 10 + 5 tokens costs 0.20.
PRICE = claims.price("amortized_internal", 10_000_000_000, 20_000_000_000, version="test-1")
REQUEST_COST = 0.20


def scripted_endpoint(protocol: str, credential: str = "credential://scripted/gateway") -> dict[str, Any]:
    return claims.endpoint(
        "scripted",
        f"https://{SCRIPTED_HOST}:8443/v1",
        claims.private_tls("scripted", "scripted-ca"),
        protocol=protocol,
        endpointAuth={"mode": "bearer", "credentialRef": credential},
        runtimeCapacity=claims.capacity(
            "scripted",
            64,
            64,
            physicalRuntimeId="scripted/upstream",
            capacityDomainId="scripted/cpu",
            requestTimeoutMs=60_000,
            streamSetupTimeoutMs=30_000,
        ),
    )


def deployment(endpoint: str, operations: list[str], **more: Any) -> dict[str, Any]:
    plain = {"model": "scripted-model", "concurrency": 8, "pricing": PRICE, "residency": ["here"]}
    return claims.deployment(endpoint, *operations, **{**plain, **more})


def real_model(endpoint: str) -> dict[str, Any]:
    """The small real model at an endpoint: so cheap that no test of it meets the person budget."""
    cheap = {**PRICE, "inputMicrosPerMillionTokens": 1, "outputMicrosPerMillionTokens": 1}
    return deployment(endpoint, ["chat", "completion"], model="gemma3-270m", concurrency=2, pricing=cheap)


def claim(bundle_file: str, bundle_sha256: str, bundle_version: int) -> dict[str, Any]:
    """Return the claim's values by key.

    Args:
        bundle_file: path of the scripted upstream's CA, relative to the project.
        bundle_sha256: its digest.
        bundle_version: its version.
    """
    pins = versions()
    values: dict[str, Any] = {
        "llm": {
            "gpuAcceleration": False,
            "personBudget": {
                "maxSpend": "1.00",
                "period": "1d",
                "requestsPerMinute": 1000,
                "tokensPerMinute": 1_000_000,
            },
        },
        "networkZones": {
            "scripted": {"dnsNames": [SCRIPTED_HOST], "cidrs": ["10.244.0.0/16"], "ports": [8443]},
        },
        "trustBundles": {"scripted-ca": {"file": bundle_file, "version": bundle_version, "sha256": bundle_sha256}},
        "endpoints": {
            "gemma": claims.pod_endpoint(
                "gemma",
                {},
                sidecar={"profileVersion": "model-provider-sidecar/v1"},
                runtime=claims.runtime(
                    {"image": {"ref": pins["IMAGE_MODEL_GEMMA3_270M"], "path": "/model/model.gguf"}},
                    f"sha256:{pins['MODEL_GEMMA3_270M_SHA256']}",
                    threads=1,
                    chatTemplate="gemma",
                ),
                runtimeCapacity=claims.capacity(
                    "gemma",
                    physicalRuntimeId="gemma/llama-server",
                    capacityDomainId="gemma/cpu",
                    coldStartTimeoutMs=300_000,
                    streamSetupTimeoutMs=300_000,
                    requestTimeoutMs=300_000,
                ),
            ),
            "scripted": scripted_endpoint("openai_chat"),
            "steady": scripted_endpoint("openai_chat", "credential://scripted/steady"),
            "scripted-vectors": scripted_endpoint("openai_embeddings"),
            "scripted-responses": scripted_endpoint("openai_responses"),
        },
        "deployments": {
            "gemma-local": real_model("gemma"),
            "scripted-chat": deployment("scripted", ["chat", "completion"]),
            "scripted-steady": deployment("steady", ["chat"]),
            "scripted-vectors": deployment("scripted-vectors", ["embedding"], embeddingSpace="scripted-space-1"),
            "scripted-responses": deployment("scripted-responses", ["responses"]),
        },
        "aliases": {
            name: claims.alias(target, residency="here")
            for name, target in (
                ("gemma", "gemma-local"),
                ("scripted", "scripted-chat"),
                ("steady", "scripted-steady"),
                ("vectors", "scripted-vectors"),
                ("answers", "scripted-responses"),
            )
        },
        "tenants": {
            "family": {"apps": {"notes": {"llm": True}, "photos": {"llm": False}}},
            "guests": {"apps": {"kiosk": {"llm": True}}, "models": ["scripted"]},
        },
        "policy": {
            "images": "localBuild",
            "evidenceWaiver": {"mode": "off", "reason": "scripted model servers", "until": "2099-12-31"},
        },
    }
    return claims.overlay(claims.BASE, values)


def changed(base: dict[str, Any], **sections: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of a claim with entries of some sections set, or removed where the new value is None."""
    made = copy.deepcopy(base)
    for section, entries in sections.items():
        for key, value in entries.items():
            if value is None:
                made[section].pop(key)
            else:
                made[section][key] = value
    return made


def visitors(base: dict[str, Any], **desk: int) -> dict[str, Any]:
    """Return a copy of a claim with a tenant more, whose one application has these settings."""
    return changed(base, tenants={"visitors": {"apps": {"desk": {"llm": True, **desk}}}})
