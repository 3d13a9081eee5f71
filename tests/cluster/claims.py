"""The claim of the cluster tests: the real small model in a Pod, and a scripted upstream for what it cannot answer."""

import copy
from typing import Any

from hearth.versions import versions

SCRIPTED_NAMESPACE = "scripted"
SCRIPTED_HOST = f"upstream.{SCRIPTED_NAMESPACE}.svc.cluster.local"
SCRIPTED_SECRET_KEY = "scripted.gateway"
"""Key in the Secret of operator-supplied endpoint credentials, for `credential://scripted/gateway`."""

PRICE = {
    "basis": "amortized_internal",
    "version": "test-1",
    # 0.01 and 0.02 per token: the scripted usage of 10 + 5 tokens costs 0.20.
    "inputMicrosPerMillionTokens": 10_000_000_000,
    "outputMicrosPerMillionTokens": 20_000_000_000,
}
REQUEST_COST = 0.20


def scripted_endpoint(protocol: str) -> dict[str, Any]:
    return {
        "protocol": protocol,
        "baseUrl": f"https://{SCRIPTED_HOST}:8443/v1",
        "endpointAuth": {"mode": "bearer", "credentialRef": "credential://scripted/gateway"},
        "networkProfile": {
            "mode": "private_tls",
            "termination": "native",
            "networkZoneId": "scripted",
            "tls": {"trustBundle": "scripted-ca"},
        },
        "runtimeCapacity": {
            "physicalRuntimeId": "scripted/upstream",
            "capacityDomainId": "scripted/cpu",
            "maxParallelRequests": 64,
            "maxQueuedRequests": 64,
            "requestTimeoutMs": 60_000,
            "streamSetupTimeoutMs": 30_000,
        },
    }


def deployment(endpoint: str, operations: list[str], **more: Any) -> dict[str, Any]:
    return {
        "endpoint": endpoint,
        "model": "scripted-model",
        "operations": operations,
        "concurrency": 8,
        "pricing": PRICE,
        "residency": ["here"],
        **more,
    }


def claim(bundle_file: str, bundle_sha256: str, bundle_version: int) -> dict[str, Any]:
    """Return the claim's values by key.

    Args:
        bundle_file: path of the scripted upstream's CA, relative to the project.
        bundle_sha256: its digest.
        bundle_version: its version.
    """
    pins = versions()
    return {
        "llm": {
            "enabled": True,
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
            "gemma": {
                "protocol": "openai_chat",
                "baseUrl": "https://llm-gemma.system-llm.svc.cluster.local:8443/v1",
                "endpointAuth": {"mode": "bearer", "credentialRef": "credential://gemma/workload"},
                "networkProfile": {
                    "mode": "private_tls",
                    "termination": "light_gateway_sidecar",
                    "networkZoneId": "in-cluster",
                    "tls": {"trustBundle": "in-cluster"},
                },
                "sidecar": {"profileVersion": "model-provider-sidecar/v1"},
                "runtime": {
                    "engine": "llamaCpp",
                    "placement": "pod",
                    "loopback": "http://127.0.0.1:8081",
                    "threads": 1,
                    "chatTemplate": "gemma",
                    "models": [
                        {
                            "source": {"image": {"ref": pins["IMAGE_MODEL_GEMMA3_270M"], "path": "/model/model.gguf"}},
                            "digest": f"sha256:{pins['MODEL_GEMMA3_270M_SHA256']}",
                        }
                    ],
                },
                "runtimeCapacity": {
                    "physicalRuntimeId": "gemma/llama-server",
                    "capacityDomainId": "gemma/cpu",
                    "maxParallelRequests": 2,
                    "maxQueuedRequests": 4,
                    "coldStartTimeoutMs": 300_000,
                    "streamSetupTimeoutMs": 300_000,
                    "requestTimeoutMs": 300_000,
                },
            },
            "scripted": scripted_endpoint("openai_chat"),
            "scripted-vectors": scripted_endpoint("openai_embeddings"),
            "scripted-responses": scripted_endpoint("openai_responses"),
        },
        "deployments": {
            "gemma-local": {
                **deployment("gemma", ["chat", "completion"]),
                "model": "gemma3-270m",
                "concurrency": 2,
                # Cheap, so that no test of the real model meets the person budget.
                "pricing": {**PRICE, "inputMicrosPerMillionTokens": 1, "outputMicrosPerMillionTokens": 1},
            },
            "scripted-chat": deployment("scripted", ["chat", "completion"]),
            "scripted-vectors": deployment("scripted-vectors", ["embedding"], embeddingSpace="scripted-space-1"),
            "scripted-responses": deployment("scripted-responses", ["responses"]),
        },
        "aliases": {
            "gemma": {"deployments": ["gemma-local"], "residency": ["here"]},
            "scripted": {"deployments": ["scripted-chat"], "residency": ["here"]},
            "vectors": {"deployments": ["scripted-vectors"], "residency": ["here"]},
            "answers": {"deployments": ["scripted-responses"], "residency": ["here"]},
        },
        "tenants": {
            "family": {"apps": {"notes": {"llm": True}, "photos": {"llm": False}}},
            "guests": {"apps": {"kiosk": {"llm": True}}, "models": ["scripted"]},
        },
        "policy": {
            "images": "localBuild",
            "evidence": "off",
            "clusterCidrs": {"services": ["10.96.0.0/16"], "pods": ["10.244.0.0/16"]},
        },
    }


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
