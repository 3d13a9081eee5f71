"""What must stay accepted: the other side of the rules."""

from typing import Any

import pytest

from tests.unit.claim.examples import ENDPOINTS, VALID, Change, claim, drop, load, problems, put

DATABASE: dict[str, Any] = {
    "mode": "external",
    "host": "db.corp.example",
    "cidrs": ["10.42.3.16/28"],
    "ownerCredential": "credential://db/owner",
    "gatewayCredential": "credential://db/gateway",
    "trustBundle": "home-ca",
}
PAID = {
    "deployments": ["gemma-host", "gemma-pod"],
    "residency": ["corp"],
    "paidFallback": True,
    "maxCostMicros": 2,
}

CASES: list[tuple[str, list[Change]]] = [
    ("U-5 a provider without models yet", [put("llm/providers/1/models", []), drop("tenants/team/models")]),
    ("an alias with a slash of its own", [put("aliases/corp~gemma", VALID["aliases"]["gemma"])]),
    (
        "S4-44 an address in IPv6 inside the zone",
        [put("endpoints/plain/baseUrl", "http://[fd00:1::20]:11434/v1")],
    ),
    (
        "S4-12 plaintext in an overlay",
        [put("policy/plaintext", "overlay"), put("networkZones/lan/encryptedOverlay", True)],
    ),
    (
        "S4-150 approved plaintext to a runtime that Hearth installs",
        [
            put("endpoints/plain/runtime", ENDPOINTS["host"]["runtime"]),
            put("deployments/llama-plain/model", "gemma3:270m"),
        ],
    ),
    ("U-14 a wildcard fills one label", [put("endpoints/native/baseUrl", "https://x.models.corp.example:8443/v1")]),
    (
        "S4-87 chat and embeddings of one runtime behind one boundary",
        [put("endpoints/second", dict(ENDPOINTS["native"], protocol="openai_chat"))],
    ),
    (
        "S4-125 a paid fallback inside its envelope",
        [put("deployments/gemma-pod/operations", ["chat"]), put("aliases/house", PAID)],
    ),
    ("S4-126 a residency inside the alias's", [put("aliases/house/residency", ["corp", "home", "elsewhere"])]),
    ("an external database by name", [put("llm/database", DATABASE)]),
    ("an external database by address", [put("llm/database", dict(DATABASE, host="10.42.3.20"))]),
    ("a managed database at public addresses", [put("llm/database", dict(DATABASE, cidrs=["52.1.2.0/24"]))]),
    ("Pods in carrier-grade NAT", [put("policy/clusterCidrs/pods", ["100.64.0.0/16"])]),
    (
        "a tag of the local build",
        [
            put("policy/images", "localBuild"),
            put("endpoints/pod/runtime/models/0/source/image/ref", "localhost/hearth/model:1.0"),
        ],
    ),
    ("a chat template for llama.cpp in a Pod", [put("endpoints/pod/runtime/chatTemplate", "gemma")]),
    (
        "a chat template for llama.cpp on a host",
        [
            put(
                "endpoints/host/runtime",
                {
                    "engine": "llamaCpp",
                    "placement": "host",
                    "loopback": "http://127.0.0.1:8081",
                    "chatTemplate": "gemma",
                    "models": [{"source": {"file": "/models/m.gguf"}, "digest": "sha256:" + "0" * 64}],
                },
            )
        ],
    ),
    ("S3-2 no gateway", [put("llm/enabled", False)]),
    (
        "S4-98 a waiver with a reason and an end",
        [put("policy/evidenceWaiver", {"mode": "off", "reason": "the runner is being moved", "until": "2026-12-31"})],
    ),
    (
        "S4-86 a sidecar of somebody else",
        [
            drop("endpoints/host/runtime"),
            put("endpoints/host/sidecar", {"configSha256": "a" * 64, "runtimePort": 11434}),
        ],
    ),
    ("GPUs without instances", [put("llm/gpuAcceleration", True), put("llm/instances", [])]),
    ("a mesh that is off", [put("mesh", {"enabled": False})]),
    ("a permitted header", [put("endpoints/native/headers", {"User-Agent": "Hearth/1.0 (models.corp.example)"})]),
]


@pytest.mark.parametrize(("name", "changes"), CASES, ids=[case[0] for case in CASES])
def test_accepted(name: str, changes: list[Change]) -> None:
    assert problems(claim(*changes)) == []


def test_two_spellings_of_the_sidecar_are_one() -> None:
    alias = load(claim(put("endpoints/host/networkProfile/termination", "tls_sidecar"))).claim
    assert alias == load(claim()).claim
    assert alias.endpoints["host"].network_profile.termination == "light_gateway_sidecar"


def test_a_claim_cannot_be_changed() -> None:
    found = load(claim()).claim
    with pytest.raises(ValueError, match="frozen"):
        found.llm.enabled = False  # type: ignore[misc]
