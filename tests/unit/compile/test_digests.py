"""Digests name a content for ever: the strings here must never change."""

import hashlib
import json
import re
from typing import Any

import pytest

from hearth.canonical import canonical, digest
from hearth.claim.claim import Claim
from hearth.compile import digests
from hearth.compile.artefacts import compile_topology
from hearth.compile.digests import expected_evidence
from hearth.compile.sidecar_document import sidecar_digest, sidecar_document
from hearth.topology.resolve import resolve
from hearth.versions import versions
from tests.unit.claim import examples


def claim(*changes: examples.Change) -> Claim:
    """A claim that no rule has seen: a digest does not depend on whether the claim around it is right."""
    return Claim.model_validate_json(json.dumps(examples.claim(*changes)))


def revision(*changes: examples.Change, deployment: str = "gemma-host") -> str:
    return digests.deployment_revision(resolve(claim(*changes)), deployment)


def profile(endpoint: str) -> dict[str, Any]:
    topology = resolve(claim())
    return digests.profile_document(topology, topology.endpoint(endpoint))


def test_endpoint_documents() -> None:
    endpoints = {upstream.id.name: upstream for upstream in resolve(claim()).endpoints}
    assert digests.endpoint_document(endpoints["native"]) == {
        "version": "hearth.endpoint/v1",
        "scheme": "https",
        "host": "embed.models.corp.example",
        "port": 8443,
        "pathPrefix": "/v1",
        "protocol": "openai_embeddings",
        "authMode": "api_key",
        "authHeader": "x-api-key",
        "headerNames": ["x-title"],
    }
    assert digests.endpoint_document(endpoints["plain"])["authHeader"] is None
    assert digests.endpoint_document(endpoints["vendor"])["port"] == 443
    assert digests.endpoint_document(endpoints["host"])["authHeader"] == "authorization"


def test_profile_documents() -> None:
    assert profile("host") == {
        "version": "hearth.profile/v1",
        "mode": "private_tls",
        "termination": "light_gateway_sidecar",
        "zone": {"id": "lan", "sha256": digest(digests.zone_document(resolve(claim()), "lan"))},
        "trustBundle": {"id": "home-ca", "version": 3, "sha256": examples.VALID["trustBundles"]["home-ca"]["sha256"]},
        "acceptPlaintextRisk": False,
        "poolIdleTimeoutMs": 30000,
        "clientRefreshIntervalMs": 300000,
    }
    assert profile("pod")["trustBundle"] == {
        "id": "in-cluster",
        "version": None,
        "sha256": None,
    }
    assert profile("vendor")["zone"] is None


def test_deployment_document() -> None:
    document = digests.deployment_document(resolve(claim()), "gemma-host")
    assert document["credentialRef"] == "credential://host/workload"
    assert document["sidecar"] == {
        "profileVersion": "model-provider-sidecar/v1",
        "configSha256": sidecar_digest(resolve(claim()).endpoint("host")),
    }
    assert document["runtime"] == {"engine": "ollama", "chatTemplate": None, "modelDigests": [examples.DIGEST]}
    native = digests.deployment_document(resolve(claim()), "nomic")
    assert (native["sidecar"], native["runtime"], native["embeddingSpace"]) == (None, None, "nomic/1")
    assert digests.deployment_document(resolve(claim()), "llama-plain")["credentialRef"] is None


GOLDEN_CLAIM: dict[str, Any] = {
    "llm": {"enabled": True},
    "networkZones": {"lan": {"dnsNames": ["box.home.arpa"], "cidrs": ["192.168.1.0/24"], "ports": [8443]}},
    "trustBundles": {"home-ca": {"version": 3, "file": "trust/home-ca.v3.pem", "sha256": "c" * 64}},
    "endpoints": {
        "box": {
            "protocol": "openai_chat",
            "baseUrl": "https://box.home.arpa:8443/v1",
            "endpointAuth": {"mode": "bearer", "credentialRef": "credential://box/workload"},
            "headers": {"X-Title": "Hearth"},
            "networkProfile": {
                "mode": "private_tls",
                "termination": "light_gateway_sidecar",
                "networkZoneId": "lan",
                "tls": {"trustBundle": "home-ca"},
            },
            "sidecar": {},
            "runtime": {
                "engine": "ollama",
                "placement": "host",
                "loopback": "http://127.0.0.1:11434",
                "models": [{"source": {"ollama": "gemma3:270m"}, "digest": "sha256:" + "ab" * 32}],
            },
            "runtimeCapacity": {
                "physicalRuntimeId": "box/ollama",
                "capacityDomainId": "box/gpu-0",
                "maxParallelRequests": 2,
                "maxQueuedRequests": 4,
            },
        }
    },
    "deployments": {
        "gemma": {
            "endpoint": "box",
            "model": "gemma3:270m",
            "operations": ["chat"],
            "pricing": {
                "basis": "zero_marginal",
                "version": "1",
                "inputMicrosPerMillionTokens": 0,
                "outputMicrosPerMillionTokens": 0,
            },
            "residency": ["home"],
        }
    },
}

GOLDEN = {
    "endpoint": (
        '{"authHeader":"authorization","authMode":"bearer","headerNames":["x-title"],'
        '"host":"box.home.arpa","pathPrefix":"/v1","port":8443,"protocol":"openai_chat",'
        '"scheme":"https","version":"hearth.endpoint/v1"}',
        "a88e263a409b494c81d8bea6edc076d9d8ef2d0a03bfd11aac5b5b024fc88de6",
    ),
    "zone": (
        '{"allowPrivatePlaintext":false,"allowPrivateTls":true,"cidrs":["192.168.1.0/24"],'
        '"dnsNames":["box.home.arpa"],"encryptedOverlay":false,"id":"lan","ports":[8443],'
        '"version":"hearth.zone/v1"}',
        "60fa6237fe3c3b33fab84043fd928cca6391e49bdca47526a5ccb3a6b6e39397",
    ),
    "profile": (
        '{"acceptPlaintextRisk":false,"clientRefreshIntervalMs":300000,"mode":"private_tls",'
        '"poolIdleTimeoutMs":30000,"termination":"light_gateway_sidecar","trustBundle":{"id":"home-ca",'
        '"sha256":"cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc","version":3},'
        '"version":"hearth.profile/v1","zone":{"id":"lan",'
        '"sha256":"60fa6237fe3c3b33fab84043fd928cca6391e49bdca47526a5ccb3a6b6e39397"}}',
        "542fc1d4133db68465404282eb0d178c4b047721ed3376d003324dea43867aa1",
    ),
    "capacity": (
        '{"capacity":{"capacityDomainId":"box/gpu-0","coldStartTimeoutMs":180000,'
        '"maxParallelRequests":2,"maxQueuedRequests":4,"physicalRuntimeId":"box/ollama",'
        '"readinessPolicy":"warm_before_eligible","requestTimeoutMs":120000,'
        '"streamSetupTimeoutMs":30000},"version":"hearth.capacity/v1"}',
        "9dd772fdbf2d0a19aabcb2b20e91c0c230217aeed802ec6182166dcd2f773078",
    ),
    "capacity of none": (
        '{"capacity":null,"version":"hearth.capacity/v1"}',
        "70ef80a25a9fb1d4e91b8923045b68e68c75f0eae35cc5ce7b8037c6e258e70e",
    ),
    "deployment": (
        '{"capacitySha256":"9dd772fdbf2d0a19aabcb2b20e91c0c230217aeed802ec6182166dcd2f773078",'
        '"credentialRef":"credential://box/workload","embeddingSpace":null,'
        '"endpointSha256":"a88e263a409b494c81d8bea6edc076d9d8ef2d0a03bfd11aac5b5b024fc88de6",'
        '"model":"gemma3:270m",'
        '"profileSha256":"542fc1d4133db68465404282eb0d178c4b047721ed3376d003324dea43867aa1",'
        '"runtime":{"chatTemplate":null,"engine":"ollama",'
        '"modelDigests":["sha256:abababababababababababababababababababababababababababababababab"]},'
        '"sidecar":{"configSha256":"ac08d000feb281fc4622ef152b2c89b85589ca2e25d3c99f42a193ba9d75e957",'
        '"profileVersion":"model-provider-sidecar/v1"},"version":"hearth.deployment/v1"}',
        "cbc62003cdb3ea3f0ccdb3a1751ccb57c3d74252d755f8060a1c5eb7747bdc78",
    ),
    "sidecar": (
        '{"credential":{"bearer":true,"header":"authorization"},"limits":{"parallelRequests":2,'
        '"queuedRequests":4,"requestBytes":4194304,"requestHeadBytes":16384,"requestHeaders":64,'
        '"requestTimeoutMs":120000,"responseBytes":16777216,"streamSetupTimeoutMs":30000},'
        '"operations":[{"method":"POST","operation":"chat","path":"/v1/chat/completions"}],'
        '"physicalRuntimeId":"box/ollama","port":8443,"profile":"model-provider-sidecar/v1",'
        '"runtime":{"host":"127.0.0.1","port":11434},"runtimeCredential":false,'
        '"tls":{"alpn":["http/1.1"],"minimum":"TLSv1.2"},"version":"hearth.sidecar/v1"}',
        "ac08d000feb281fc4622ef152b2c89b85589ca2e25d3c99f42a193ba9d75e957",
    ),
    "isolation": (
        '{"exposedPorts":[8443],"hostNetwork":null,"placement":"host","rawPort":11434,'
        '"rawPortOnLoopbackOnly":true,"serviceOnRawPort":null,"unrelatedContainers":null,'
        '"version":"hearth.isolation/v1"}',
        "d83fa6ab95a3d4c24605a61a22e2860cb8c7d73ad043bb5e81e8bf31e91af58c",
    ),
    "raw target": (
        '{"host":"box.home.arpa","port":11434,"version":"hearth.raw-target/v1"}',
        "54d10649f0c37578f3ac1a23ceb1baf82589f4a1725947fa395ca7f0691e94ec",
    ),
}


def _golden_documents() -> dict[str, dict[str, Any]]:
    made = resolve(Claim.model_validate_json(json.dumps(GOLDEN_CLAIM)))
    box = made.endpoint("box")
    return {
        "endpoint": digests.endpoint_document(box),
        "zone": digests.zone_document(made, "lan"),
        "profile": digests.profile_document(made, box),
        "capacity": digests.capacity_document(box.capacity),
        "capacity of none": digests.capacity_document(None),
        "sidecar": sidecar_document(box),
        "isolation": digests.isolation_document(box, 11434),
        "raw target": digests.raw_target_document(box, 11434),
        "deployment": digests.deployment_document(made, "gemma"),
    }


@pytest.mark.parametrize("name", GOLDEN)
def test_a_document_never_changes_its_meaning(name: str) -> None:
    """When this fails, existing evidence no longer fits: give the document a new version instead."""
    document = _golden_documents()[name]
    text, sha256 = GOLDEN[name]
    assert canonical(document).decode() == text
    assert hashlib.sha256(text.encode()).hexdigest() == sha256
    assert digest(document) == sha256


@pytest.mark.parametrize(
    "change",
    [
        examples.put("endpoints/host/networkProfile/mode", "public_tls"),
        examples.put("endpoints/host/networkProfile/networkZoneId", "models"),
        examples.put("networkZones/lan/cidrs", ["192.168.1.0/25"]),
        examples.put("networkZones/lan/dnsNames", ["ollama.home.arpa"]),
        examples.put("networkZones/lan/ports", [8443]),
        examples.put("networkZones/lan/allowPrivatePlaintext", False),
        examples.put("endpoints/host/networkProfile/tls/trustBundle", "in-cluster"),
        examples.put("trustBundles/home-ca/version", 4),
        examples.put("trustBundles/home-ca/sha256", "d" * 64),
        examples.put("endpoints/host/networkProfile/connection/poolIdleTimeoutMs", 20000),
        examples.put("endpoints/host/networkProfile/address", "192.168.1.9"),
        examples.put("endpoints/host/endpointAuth", {"mode": "api_key", "credentialRef": "credential://host/workload"}),
        examples.put("endpoints/host/endpointAuth/credentialRef", "credential://host/other"),
        examples.put("endpoints/host/protocol", "openai_responses"),
        examples.put("endpoints/host/baseUrl", "https://ollama.home.arpa:8444/v1"),
        examples.put("endpoints/host/baseUrl", "https://llama.home.arpa:8443/v1"),
        examples.put("endpoints/host/baseUrl", "https://ollama.home.arpa:8443/v2"),
        examples.put("endpoints/host/headers", {"X-Title": "Hearth"}),
        examples.put("endpoints/host/runtimeCapacity/physicalRuntimeId", "host/other"),
        examples.put("endpoints/host/runtimeCapacity/capacityDomainId", "host/gpu-1"),
        examples.put("endpoints/host/runtimeCapacity/maxParallelRequests", 5),
        examples.put("endpoints/host/runtimeCapacity/requestTimeoutMs", 90000),
        examples.put("endpoints/host/runtime/models/0/digest", "sha256:" + "cd" * 32),
        examples.put("endpoints/host/runtime/engine", "llamaCpp"),
        examples.put("endpoints/host/runtime/chatTemplate", "gemma"),
        examples.put("endpoints/host/sidecar/maxRequestBytes", 65536),
        examples.put("endpoints/host/runtime/loopback", "http://127.0.0.1:11435"),
        examples.put("endpoints/host/runtime/credentialRef", "credential://host/runtime"),
        # The sidecar passes another operation from then on.
        examples.put("deployments/gemma-host/operations", ["completion"]),
        examples.put("deployments/gemma-host/model", "gemma3:1b"),
        examples.put("deployments/gemma-host/embeddingSpace", "space/1"),
    ],
)
def test_what_makes_a_new_revision(change: examples.Change) -> None:
    assert revision(change) != revision()


@pytest.mark.parametrize(
    "change",
    [
        examples.put("deployments/gemma-host/pricing/version", "2027-1"),
        examples.put("deployments/gemma-host/concurrency", 1),
        examples.put("deployments/gemma-host/contextTokens", 1024),
        examples.put("deployments/gemma-host/lane", "query"),
        examples.put("llm/gateway", {"replicas": 5}),
        examples.put("endpoints/host/runtime/memory", "4Gi"),
        examples.put("aliases/house/lanes", []),
        examples.put("llm/enabled", False),
        # Other spellings of the same.
        examples.put("endpoints/host/networkProfile/termination", "tls_sidecar"),
        examples.put("networkZones/lan/cidrs", ["fd00:1::/64", "192.168.1.0/24"]),
        examples.put("networkZones/lan/dnsNames", ["llama.home.arpa", "ollama.home.arpa"]),
        examples.put("networkZones/lan/ports", [11434, 8443]),
        examples.put("endpoints/host/baseUrl", "https://OLLAMA.home.arpa:8443/v1/"),
        examples.put("networkZones/models/ports", [8443, 9443]),
    ],
)
def test_what_makes_none(change: examples.Change) -> None:
    assert revision(change) == revision()


def test_a_declared_address_is_where_the_runtimes_own_port_is_tried() -> None:
    other = resolve(claim(examples.put("endpoints/host/networkProfile/address", "192.168.1.9")))
    assert digests.raw_target_document(other.endpoint("host"), 11434)["host"] == "192.168.1.9"
    assert digests.profile_document(other, other.endpoint("host"))["address"] == "192.168.1.9"


def test_the_value_of_a_header_is_in_no_digest() -> None:
    other = claim(examples.put("endpoints/native/headers", {"x-TITLE": "canary-3b0c"}))
    assert digests.endpoint_digest(resolve(other).endpoint("native")) == digests.endpoint_digest(
        resolve(claim()).endpoint("native")
    )


def test_no_document_holds_a_version_of_a_tool() -> None:
    made = resolve(claim())
    documents: list[Any] = [digests.endpoint_document(endpoint) for endpoint in made.endpoints]
    documents += [digests.profile_document(made, endpoint) for endpoint in made.endpoints]
    documents += [digests.deployment_document(made, name) for name in made.deployments]
    text = b"".join(canonical(document) for document in documents).decode()
    tools = {value for value in versions().values() if re.fullmatch(r"v?\d+\.\d+\.\d+.*", value)}
    assert len(tools) > 10
    assert not [value for value in tools if value in text]


def test_no_text_of_a_template_and_no_number_of_gateways_is_in_a_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    """S4-17: what evidence binds to is what a sidecar does, and another comment or a third gateway changes nothing."""
    before = expected_evidence(resolve(claim()))
    files = compile_topology(resolve(claim()), bundles={}).sidecars["host"].files_sha256
    more = claim(examples.put("llm/gateway", {"replicas": 5}))
    assert expected_evidence(resolve(more)) == before
    compiled = compile_topology(resolve(more), bundles={}).sidecars["host"]
    assert compiled.files_sha256 != files, "the text has another bound on connections"
    identity = json.loads(compiled.files["identity.json"].replace("%%", "%"))
    assert identity["configSha256"] == sidecar_digest(resolve(claim()).endpoint("host"))
    assert identity["filesSha256"] == compiled.files_sha256


def test_expected_evidence_names_every_endpoint_and_deployment() -> None:
    made = examples.load(examples.claim()).claim
    found = expected_evidence(resolve(made))
    assert set(found) == set(made.endpoints)
    assert {name: sorted(each.deployments) for name, each in found.items()} == {
        "host": ["gemma-host"],
        "native": ["nomic"],
        "plain": ["llama-plain"],
        "pod": ["gemma-pod"],
        "vendor": ["gpt"],
    }
    assert {name: (each.termination, each.engine, each.identifies) for name, each in found.items()} == {
        "host": ("light_gateway_sidecar", "ollama", True),
        "native": ("native", None, True),
        "plain": ("plaintext", None, False),
        "pod": ("light_gateway_sidecar", "llamaCpp", True),
        "vendor": ("native", None, True),
    }
    assert found["native"].sidecar is None
    host = found["host"].sidecar
    assert host is not None
    assert None not in (host.config_sha256, host.isolation_sha256, host.raw_target_sha256)
    assert found["host"].deployments["gemma-host"].revision == digests.deployment_revision(resolve(made), "gemma-host")
    assert len({each.revision for each in found.values()}) == len(found)


def test_a_sidecar_that_somebody_else_runs_is_what_the_claim_says_of_it() -> None:
    foreign = examples.drop("endpoints/host/runtime")
    nothing = expected_evidence(resolve(claim(foreign)))["host"].sidecar
    assert nothing is not None
    assert (nothing.config_sha256, nothing.isolation_sha256, nothing.raw_target_sha256) == (None, None, None)
    said = claim(foreign, examples.put("endpoints/host/sidecar", {"configSha256": "a" * 64, "runtimePort": 11434}))
    found = expected_evidence(resolve(said))["host"].sidecar
    assert found is not None
    assert found.config_sha256 == "a" * 64
    own = expected_evidence(resolve(claim()))["host"].sidecar
    assert own is not None
    assert found.raw_target_sha256 == own.raw_target_sha256
    assert found.isolation_sha256 != own.isolation_sha256, "Hearth's own is isolated by its unit"
