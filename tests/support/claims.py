"""The one claim that tests begin with, its parts, and overlays of them."""

import copy
import hashlib
from collections.abc import Mapping
from typing import Any

DIGEST = "sha256:" + "ab" * 32
"""Digest of a model that no test fetches."""

BASE: dict[str, Any] = {
    "llm": {"enabled": True},
    "policy": {"clusterCidrs": {"services": ["10.96.0.0/16"], "pods": ["10.244.0.0/16"]}},
}
"""A gateway in a cluster, and nothing behind it."""


def overlay(base: Mapping[str, Any], *changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a claim, or of a part of one, with changes: mappings are merged, None removes, else replaced."""
    made = copy.deepcopy(dict(base))
    for change in changes:
        for key, value in change.items():
            if value is None:
                made.pop(key, None)
            elif isinstance(value, Mapping) and isinstance(made.get(key), dict):
                made[key] = overlay(made[key], value)
            else:
                made[key] = copy.deepcopy(value)
    return made


def price(basis: str = "zero_marginal", inward: int = 0, outward: int = 0, version: str = "1") -> dict[str, Any]:
    return {
        "basis": basis,
        "version": version,
        "inputMicrosPerMillionTokens": inward,
        "outputMicrosPerMillionTokens": outward,
    }


def capacity(name: str, parallel: int = 2, queued: int = 4, **more: Any) -> dict[str, Any]:
    return {
        "physicalRuntimeId": f"{name}/server",
        "capacityDomainId": f"{name}/gpu-0",
        "maxParallelRequests": parallel,
        "maxQueuedRequests": queued,
        **more,
    }


def bearer(name: str) -> dict[str, Any]:
    return {"mode": "bearer", "credentialRef": f"credential://{name}/workload"}


CONNECTION: dict[str, int] = {"poolIdleTimeoutMs": 30_000, "clientRefreshIntervalMs": 300_000}


def private_tls(zone: str, bundle: str, termination: str = "native") -> dict[str, Any]:
    made = {"mode": "private_tls", "termination": termination, "networkZoneId": zone, "tls": {"trustBundle": bundle}}
    return {**made, "connection": dict(CONNECTION)}


def private_plaintext(zone: str) -> dict[str, Any]:
    return {
        "mode": "private_plaintext",
        "networkZoneId": zone,
        "acceptPlaintextRisk": True,
        "connection": dict(CONNECTION),
    }


def endpoint(name: str, url: str, profile: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """An endpoint that somebody else runs; `changes` replace its fields, and None removes one."""
    made: dict[str, Any] = {
        "protocol": "openai_chat",
        "baseUrl": url,
        "endpointAuth": bearer(name),
        "networkProfile": dict(profile),
        "runtimeCapacity": capacity(name),
    }
    return {key: value for key, value in {**made, **changes}.items() if value is not None}


def runtime(source: Mapping[str, Any], digest: str = DIGEST, **changes: Any) -> dict[str, Any]:
    """llama.cpp in a Pod with one model; `changes` replace its fields."""
    made = {"engine": "llamaCpp", "placement": "pod", "loopback": "http://127.0.0.1:8081"}
    return {**made, "models": [{"source": dict(source), "digest": digest}], **changes}


def pod_endpoint(name: str, source: Mapping[str, Any], digest: str = DIGEST, **changes: Any) -> dict[str, Any]:
    """An endpoint whose model server and sidecar Hearth runs in a Pod; `changes` replace its fields."""
    return endpoint(
        name,
        f"https://llm-{name}.system-llm.svc.cluster.local:8443/v1",
        private_tls("in-cluster", "in-cluster", "light_gateway_sidecar"),
        **{"sidecar": {}, "runtime": runtime(source, digest), **changes},
    )


def deployment(upstream: str, *operations: str, **changes: Any) -> dict[str, Any]:
    """A deployment of zero price; `changes` replace its fields."""
    made = {"endpoint": upstream, "model": "model", "operations": list(operations or ("chat",)), "pricing": price()}
    return {**made, "residency": ["home"], **changes}


def alias(*deployments: str, residency: str = "home", **more: Any) -> dict[str, Any]:
    return {"deployments": list(deployments), "residency": [residency], **more}


def model_file(content: str = "a", size: int = 1_000) -> dict[str, Any]:
    """One file of an instance's model."""
    return {"sha256": hashlib.sha256(content.encode()).hexdigest(), "bytes": size}


def instance(name: str, **changes: Any) -> dict[str, Any]:
    """A vLLM server that fits: Qwen2.5 with 7 billion parameters on one GPU of 80 GiB."""
    return {
        "name": name,
        "modelId": "Qwen/Qwen2.5-7B-Instruct",
        "revision": "a" * 40,
        "files": {
            "config.json": model_file("config", 663),
            "tokenizer.json": model_file("tokenizer", 7_031_645),
            "model-00001-of-00002.safetensors": model_file("one", 8_000_000_000),
            "model-00002-of-00002.safetensors": model_file("two", 7_231_271_888),
        },
        "gpuMemory": "80Gi",
        "maxModelLen": 8192,
        "modelCacheSize": "60Gi",
        **changes,
    }


def node_pool(**changes: Any) -> dict[str, Any]:
    """Nodes with four GPUs each that Karpenter makes."""
    return {
        "backend": "karpenter",
        "accelerator": {"devicePlugin": {"count": 4, "product": "NVIDIA-H100-80GB-HBM3"}},
        "limits": {"gpus": 8},
        "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gpu"},
        **changes,
    }


def existing_pool(**changes: Any) -> dict[str, Any]:
    """Nodes with four GPUs each that are there, and whose GPUs a DRA driver gives."""
    return {
        "backend": "existing",
        "accelerator": {"dynamicResources": {"deviceClass": "gpu.nvidia.com", "count": 4}, "memory": "80Gi"},
        "limits": {"gpus": 8},
        "labels": {"pool": "h100"},
        **changes,
    }
