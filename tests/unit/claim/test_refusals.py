"""The fourteen compile-time refusals of S4-132, each with the test that covers it.

Two of them are about evidence, which refuses a route and never the claim; their tests are named here so that the list
is whole.
"""

import importlib

import pytest

from tests.support.claims import CONNECTION
from tests.unit.claim.examples import ENDPOINTS, VALID, Change, claim, drop, problems, put

EVIDENCE = "tests.unit.evidence.test_gate:test_bad_evidence_withholds_its_own_route_and_nothing_else"

REFUSALS: dict[str, str] = {
    "unknown mode": "test_unknown_mode",
    "scheme is not the profile's": "test_scheme_is_not_the_profiles",
    "public HTTP": "test_public_http",
    "private without zone": "test_private_without_zone",
    "plaintext with credential": "test_plaintext_with_credential",
    "unverifiable TLS": "test_unverifiable_tls",
    "constraints that do not contain the endpoint": "test_constraints_that_do_not_contain_the_endpoint",
    "bad pool or refresh": "test_bad_pool_or_refresh",
    "concurrency above parallelism": "test_concurrency_above_parallelism",
    "shared lane domain": "test_shared_lane_domain",
    "fallback that violates residency": "test_fallback_that_violates_residency",
    "bad evidence": EVIDENCE,
    "sidecar without identity, isolation and vantage": EVIDENCE,
    "weaker duplicate of a runtime": "test_weaker_duplicate_of_a_runtime",
}


def refused(place: str, *changes: Change) -> None:
    """Assert that the changes are refused, and for what stands at one place alone."""
    found = problems(claim(*changes))
    assert found
    assert {line.split(": ")[0] for line in found} == {f"hearth:{place}"}


def test_the_list_is_whole() -> None:
    assert len(REFUSALS) == 14
    for where in REFUSALS.values():
        module, _, test = where.rpartition(":")
        assert callable(getattr(importlib.import_module(module or __name__), test))
    from tests.unit.evidence.test_gate import BAD

    assert {"unsigned", "expired", "another endpoint", "no identity", "no isolation", "no vantage"} <= BAD.keys()


def test_unknown_mode() -> None:
    refused("endpoints.native.networkProfile.mode", put("endpoints/native/networkProfile/mode", "private"))


@pytest.mark.parametrize(
    ("endpoint", "address"),
    [
        ("native", "http://embed.models.corp.example:8443/v1"),
        ("plain", "https://192.168.1.20:11434/v1"),
        ("host", "http://ollama.home.arpa:8443/v1"),
        ("pod", "http://llm-pod.system-llm.svc.cluster.local:8443/v1"),
    ],
)
def test_scheme_is_not_the_profiles(endpoint: str, address: str) -> None:
    refused(f"endpoints.{endpoint}.baseUrl", put(f"endpoints/{endpoint}/baseUrl", address))


def test_public_http() -> None:
    refused("endpoints.vendor.baseUrl", put("endpoints/vendor/baseUrl", "http://api.vendor.example/v1"))
    refused("llm.providers[0].apiBase", put("llm/providers/0/apiBase", "http://api.vendor.example/v1"))


@pytest.mark.parametrize("endpoint", ["native", "plain", "host", "pod"])
def test_private_without_zone(endpoint: str) -> None:
    refused(
        f"endpoints.{endpoint}.networkProfile.networkZoneId", drop(f"endpoints/{endpoint}/networkProfile/networkZoneId")
    )


@pytest.mark.parametrize("mode", ["bearer", "api_key"])
def test_plaintext_with_credential(mode: str) -> None:
    auth = {"mode": mode, "credentialRef": "credential://plain/workload"}
    refused("endpoints.plain.endpointAuth.mode", put("endpoints/plain/endpointAuth", auth))


def test_unverifiable_tls() -> None:
    refused("endpoints.native.networkProfile.tls", drop("endpoints/native/networkProfile/tls"))
    refused(
        "endpoints.native.networkProfile.tls.trustBundle",
        put("endpoints/native/networkProfile/tls/trustBundle", "nobody"),
    )
    refused("trustBundles.home-ca.sha256", put("trustBundles/home-ca/sha256", "0" * 64))
    refused(
        "endpoints.native.networkProfile.tls.verifyHostname",
        put("endpoints/native/networkProfile/tls/verifyHostname", False),
    )


@pytest.mark.parametrize(
    ("endpoint", "address"),
    [
        ("native", "https://embed.other.example:8443/v1"),
        ("native", "https://embed.models.corp.example:9443/v1"),
        ("plain", "http://192.168.7.20:11434/v1"),
        ("plain", "http://169.254.169.254:11434/v1"),
    ],
)
def test_constraints_that_do_not_contain_the_endpoint(endpoint: str, address: str) -> None:
    refused(f"endpoints.{endpoint}.baseUrl", put(f"endpoints/{endpoint}/baseUrl", address))


@pytest.mark.parametrize(
    ("field", "bounds"),
    [
        ("poolIdleTimeoutMs", {**CONNECTION, "poolIdleTimeoutMs": 0}),
        ("poolIdleTimeoutMs", {**CONNECTION, "poolIdleTimeoutMs": 300_001}),
        ("clientRefreshIntervalMs", {**CONNECTION, "clientRefreshIntervalMs": 0}),
        ("clientRefreshIntervalMs", {**CONNECTION, "clientRefreshIntervalMs": 3_600_001}),
        ("poolIdleTimeoutMs", {"clientRefreshIntervalMs": 300_000}),
        ("clientRefreshIntervalMs", {"poolIdleTimeoutMs": 30_000}),
        ("clientRefreshIntervalMs", {"clientRefreshIntervalMs": 29_999, "poolIdleTimeoutMs": 30_000}),
    ],
)
def test_bad_pool_or_refresh(field: str, bounds: dict[str, int]) -> None:
    refused(
        f"endpoints.native.networkProfile.connection.{field}",
        put("endpoints/native/networkProfile/connection", bounds),
    )


def test_concurrency_above_parallelism() -> None:
    refused("deployments.nomic.concurrency", put("deployments/nomic/concurrency", 5))
    assert problems(claim(put("deployments/nomic/concurrency", 4))) == []


def test_shared_lane_domain() -> None:
    shared = put("endpoints/native/runtimeCapacity/capacityDomainId", "pod/gpu-0")
    refused("deployments.nomic.lane", shared)
    # Two deployments of one lane may share a device.
    assert problems(claim(shared, put("deployments/nomic/lane", "standard"))) == []


def test_fallback_that_violates_residency() -> None:
    spare = put("deployments/spare", dict(VALID["deployments"]["gemma-host"], residency=["elsewhere"]))
    refused("aliases.house.deployments[1]", spare, put("aliases/house/deployments", ["gemma-host", "spare"]))


def test_weaker_duplicate_of_a_runtime() -> None:
    same = ENDPOINTS["host"]["runtimeCapacity"]
    refused(
        "endpoints.plain.runtimeCapacity.physicalRuntimeId",
        put("endpoints/plain/runtimeCapacity", same),
    )
    # The weaker one is named, whichever comes first.
    first = claim(put("endpoints/plain/runtimeCapacity", same))
    first["endpoints"] = dict(reversed(first["endpoints"].items()))
    assert [line.split(": ")[0] for line in problems(first)] == [
        "hearth:endpoints.plain.runtimeCapacity.physicalRuntimeId"
    ]
