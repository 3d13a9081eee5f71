"""One claim with a sidecar endpoint and a native one, a runner's key of a fixed seed, and evidence that fits them."""

import base64
import datetime
import json
from collections.abc import Callable, Mapping
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from hearth.canonical import canonical
from hearth.claim.claim import Claim
from hearth.evidence.document import Evidence, Statement
from hearth.evidence.signing import evidence_text, sign
from hearth.evidence.trust import TrustStore, public_key_text
from hearth.evidence.verify import Subject
from hearth.topology.expected import Expected, ExpectedDeployment, ExpectedSidecar
from tests.support import claims

KEY_ID = "home-2026-q3"
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
NOW = datetime.datetime(2026, 8, 10, 12, 0, tzinfo=datetime.UTC)

DEPLOYMENT = claims.deployment(
    "ollama-home",
    "chat",
    "completion",
    model="gemma3:270m",
    pricing=claims.price("amortized_internal", 1, 1, version="2026-1"),
)
CLAIM_VALUES = claims.overlay(
    claims.BASE,
    {
        "networkZones": {"home-model-lan": {"cidrs": ["192.168.1.0/24"], "ports": [8443, 8444]}},
        "endpoints": {
            "ollama-home": claims.endpoint(
                "ollama-home",
                "https://ollama.home.arpa:8443/v1",
                claims.private_tls("home-model-lan", "home-ca", "light_gateway_sidecar"),
                endpointAuth={"mode": "none"},
                sidecar={},
                runtimeCapacity=claims.capacity("gpu-box", physicalRuntimeId="gpu-box/ollama"),
            ),
            "vllm-native": claims.endpoint(
                "vllm-native",
                "https://vllm.home.arpa:8444/v1",
                claims.private_tls("home-model-lan", "home-ca"),
                endpointAuth={"mode": "none"},
                runtimeCapacity=claims.capacity("gpu-box", physicalRuntimeId="gpu-box/vllm"),
            ),
            "cloud": claims.endpoint(
                "cloud", "https://llm.example.com/v1", {}, endpointAuth={"mode": "none"}, runtimeCapacity=None
            ),
        },
        "deployments": {
            "gemma-home": DEPLOYMENT,
            "qwen-native": {**DEPLOYMENT, "endpoint": "vllm-native", "model": "qwen", "operations": ["chat"]},
            "cloud-chat": {**DEPLOYMENT, "endpoint": "cloud", "model": "big", "operations": ["chat"]},
        },
    },
)


def claim(**policy: Any) -> Claim:
    return Claim.model_validate_json(json.dumps({**CLAIM_VALUES, "policy": policy}))


def digest_of(text: str) -> str:
    return (text.encode().hex() * 64)[:64]


SIDECAR = ExpectedSidecar(
    profile_version="model-provider-sidecar/v1",
    config_sha256=digest_of("sidecar"),
    isolation_sha256=digest_of("isolation"),
    raw_target_sha256=digest_of("raw target"),
)
EXPECTED = {
    "ollama-home": Expected(
        termination="light_gateway_sidecar",
        engine=None,
        identifies=False,
        endpoint_sha256=digest_of("endpoint"),
        profile_sha256=digest_of("profile"),
        capacity_sha256=digest_of("capacity"),
        physical_runtime_id="gpu-box/ollama",
        deployments={
            "gemma-home": ExpectedDeployment(digest_of("revision"), "gemma3:270m", ("chat", "completion")),
        },
        sidecar=SIDECAR,
        revision=digest_of("all"),
    ),
    "vllm-native": Expected(
        termination="native",
        engine=None,
        identifies=False,
        endpoint_sha256=digest_of("endpoint"),
        profile_sha256=digest_of("profile"),
        capacity_sha256=digest_of("capacity"),
        physical_runtime_id="gpu-box/vllm",
        deployments={"qwen-native": ExpectedDeployment(digest_of("revision"), "qwen", ("chat",))},
        sidecar=None,
        revision=digest_of("all"),
    ),
}
SUBJECT = Subject("home", "ollama-home", EXPECTED["ollama-home"])
NATIVE = Subject("home", "vllm-native", EXPECTED["vllm-native"])
SUBJECTS = {"ollama-home": SUBJECT, "vllm-native": NATIVE}

PASSED: dict[str, Any] = {"outcome": "passed", "reason": None, "facts": {}}
SKIPPED: dict[str, Any] = {"outcome": "skipped", "reason": "refused_by_runtime", "facts": {}}
FAILED: dict[str, Any] = {"outcome": "failed", "reason": "hostname_mismatch", "facts": {}}


def passed(*names: str) -> dict[str, Any]:
    return {name: dict(PASSED) for name in names}


GENERATING = passed("answer", "disconnect", "stream", "usage")
TLS = passed("transport.dates", "transport.tls_floor", "transport.wrong_ca_refused", "transport.wrong_name_refused") | {
    "transport.chain_and_name": {**PASSED, "facts": {"days_left": 80}}
}

STATEMENT: dict[str, Any] = {
    "version": "hearth.evidence/v1",
    "kind": "live_endpoint",
    "environment": "home",
    "endpoint": "ollama-home",
    "endpointSha256": digest_of("endpoint"),
    "profileSha256": digest_of("profile"),
    "capacitySha256": digest_of("capacity"),
    "physicalRuntimeId": "gpu-box/ollama",
    "runtimeVersion": "0.17.4",
    "certificateSha256": digest_of("certificate"),
    "publicKeySha256": digest_of("public key"),
    "state": "passed",
    "deployments": {
        "gemma-home": {
            "revision": digest_of("revision"),
            "model": "gemma3:270m",
            "operations": {"chat": {**GENERATING, "tools": SKIPPED}, "completion": GENERATING},
        }
    },
    "sidecar": {
        "profileVersion": "model-provider-sidecar/v1",
        "configSha256": digest_of("sidecar"),
        "certificateIdentitySha256": digest_of("certificate"),
        "isolationEvidenceSha256": digest_of("isolation"),
        "rawPortReachable": False,
    },
    "runnerVantage": {
        "kind": "external_host",
        "environmentId": "home",
        "sourceWorkloadId": "control-host/hearth-qualify",
        "sourceNetworkZoneId": "home-lan",
        "sourceNetworkNamespace": {"machineSha256": digest_of("control-host"), "inode": 4026531840, "podUid": None},
        "targetNetworkNamespace": {"machineSha256": digest_of("gpu-box"), "inode": 4026531840, "podUid": None},
        "rawProbeTargetSha256": digest_of("raw target"),
    },
    "probes": {
        **TLS,
        **passed(
            "capacity.parallel",
            "sidecar.exact_paths",
            "sidecar.http1_only",
            "sidecar.identity",
            "sidecar.isolation",
            "sidecar.queue_bounded",
            "sidecar.raw_port_closed",
            "sidecar.request_bound",
        ),
    },
    "catalogueVersion": 1,
    "previousSha256": None,
    "testedAt": "2026-08-08T16:00:00Z",
    "validUntil": "2026-08-15T16:00:00Z",
    "signerKeyId": KEY_ID,
}


def native(values: dict[str, Any]) -> None:
    """Turn the statement into one of the endpoint without a sidecar."""
    values.update(endpoint="vllm-native", physicalRuntimeId="gpu-box/vllm", sidecar=None, runnerVantage=None)
    values["probes"] = {**TLS, **passed("capacity.parallel")}
    values["deployments"] = {
        "qwen-native": {"revision": digest_of("revision"), "model": "qwen", "operations": {"chat": GENERATING}}
    }


def trust_store(**overrides: Any) -> TrustStore:
    key = {
        "publicKey": public_key_text(KEY.public_key()),
        "notBefore": "2026-07-01T00:00:00Z",
        "notAfter": "2026-10-01T00:00:00Z",
        **overrides,
    }
    return TrustStore.model_validate_json(json.dumps({"version": "hearth.trust-store/v1", "keys": {KEY_ID: key}}))


def altered(change: Callable[[dict[str, Any]], None] | None = None) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(json.dumps(STATEMENT))
    if change is not None:
        change(values)
    return values


def signed(change: Callable[[dict[str, Any]], None] | None = None, key: Ed25519PrivateKey = KEY) -> bytes:
    """Return evidence with a change that the runner itself signed."""
    statement = Statement.model_validate_json(json.dumps(altered(change)))
    return evidence_text(sign(statement, key)).encode()


def signed_mapping(values: Mapping[str, Any], key: Ed25519PrivateKey = KEY) -> bytes:
    """Return any object at all with a signature that holds, whether or not it is evidence."""
    signature = "base64:" + base64.b64encode(key.sign(canonical(values))).decode()
    return json.dumps({**values, "signature": signature}).encode()


def evidence() -> Evidence:
    return Evidence.model_validate_json(signed())
