"""What a snapshot says, and what it keeps to itself."""

import json
import re

from hearth.canonical import digest
from tests.support.compiling import compiled
from tests.unit.claim import examples


def test_contents() -> None:
    made = compiled(withheld={"host": "expired"}, approved_key_ids=("runner-b", "runner-a"))
    document = made.snapshot
    assert document["version"] == "hearth.snapshot/v1"
    assert document["approvedKeyIds"] == ["runner-a", "runner-b"]
    assert document["trustBundles"] == {
        "home-ca": {"version": 3, "sha256": examples.VALID["trustBundles"]["home-ca"]["sha256"]}
    }
    assert set(document["networkZones"]) == {"in-cluster", "lan", "models"}
    assert document["networkZones"]["lan"]["dnsNames"] == ["llama.home.arpa", "ollama.home.arpa"]
    host = document["endpoints"]["host"]
    assert (host["host"], host["port"], host["mode"]) == ("ollama.home.arpa", 8443, "private_tls")
    assert host["cidrs"] == ["192.168.1.0/24", "fd00:1::/64"]
    assert host["withheld"] == "expired"
    assert document["endpoints"]["pod"]["withheld"] is None
    assert host["sidecar"]["configSha256"] == made.sidecars["host"].config_sha256
    assert document["endpoints"]["native"]["sidecar"] is None
    assert document["deployments"]["nomic"]["pricing"]["version"] == "2026-1"
    assert re.fullmatch(r"[0-9a-f]{64}", document["deployments"]["nomic"]["revision"])
    assert document["aliases"]["embed"]["deployments"] == ["nomic"]
    assert document["providers"]["mistral"]["host"] == "api.mistral.example"
    assert document["policy"]["vendor"]["optIn"] is True
    assert set(document["configurations"]) == {"litellm", "intake", "guard", "front"}
    assert document["configurations"]["guard"] == made.guard.digest


def test_it_names_no_key_and_no_credential() -> None:
    text = json.dumps(compiled(approved_key_ids=("runner-a",)).snapshot)
    for word in ("credential://", "api_key", "BEGIN", "publicKey", "signature", "workload"):
        assert word not in text


def test_its_digest_is_that_of_its_canonical_form() -> None:
    made = compiled()
    assert made.snapshot_sha256 == digest(made.snapshot)
    assert made.snapshot_sha256 == compiled().snapshot_sha256


def test_every_decision_has_another_digest() -> None:
    changes: list[examples.Change] = [
        examples.put("networkZones/models/cidrs", ["10.42.8.0/24"]),
        examples.put("aliases/gemma/maxCostMicros", 99),
        examples.put("deployments/nomic/pricing/version", "2026-2"),
        examples.put("endpoints/native/runtimeCapacity/maxParallelRequests", 3),
        examples.put("policy/evidenceWaiver", {"mode": "warn", "reason": "a move", "until": "2026-12-31"}),
        examples.put("llm/gateway", {"keyCacheSeconds": 6}),
        examples.put("llm/providers/1/models/0/model", "mistral-small-2"),
    ]
    digests = [compiled(change).snapshot_sha256 for change in changes]
    digests += [compiled().snapshot_sha256, compiled(withheld={"host": "expired"}).snapshot_sha256]
    digests += [compiled(approved_key_ids=("runner-a",)).snapshot_sha256]
    digests += [compiled(evidence={"host": "e" * 64}).snapshot_sha256, compiled(evidence_mode="warn").snapshot_sha256]
    assert len(set(digests)) == len(digests)


def test_a_claim_without_a_gateway_has_no_configurations() -> None:
    assert compiled(examples.put("llm/enabled", False)).snapshot["configurations"] == {}
