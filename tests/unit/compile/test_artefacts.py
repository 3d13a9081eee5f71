"""Everything that is compiled from one claim, together."""

import datetime
import json
import os
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from hearth.claim.claim import Claim
from hearth.claim.loader import LoadedClaim, load_claim_file
from hearth.claim.problems import ClaimError
from hearth.compile.files import ConfigFiles
from hearth.environment import compile_environment
from hearth.evidence.trust import public_key_text
from tests.support.compiling import all_manifests, compile_claim, compiled
from tests.unit.claim import examples

NOW = datetime.datetime(2026, 11, 29, 12, 0, tzinfo=datetime.UTC)


def manifests_of(*changes: examples.Change) -> list[dict[str, Any]]:
    loaded = examples.load(examples.claim(*changes))
    return all_manifests(loaded.claim, compiled(*changes))


def shuffled(value: Any, order: random.Random) -> Any:
    """The same content, its mappings written in another order."""
    if isinstance(value, dict):
        keys = list(value)
        order.shuffle(keys)
        return {key: shuffled(value[key], order) for key in keys}
    return value


def test_parts_belong_together() -> None:
    made = compiled()
    assert set(made.sidecars) == {"pod", "host"}
    assert set(made.guard.files) >= {"guard.cfg"}
    assert set(made.front.files) == {"front.cfg"}
    assert not set(made.guard.files) & set(made.front.files)
    policies = [found for found in manifests_of() if found["kind"] == "NetworkPolicy"]
    assert {policy["metadata"]["namespace"] for policy in policies} == {"system-llm", "tenant-family", "team-apps"}
    assert list(made.bundles) == ["home-ca"]
    assert made.litellm_yaml.startswith("general_settings:\n")


def test_every_port_that_litellm_calls_is_one_the_guard_listens_on() -> None:
    made = compiled()
    for model in made.litellm["model_list"]:
        port = model["litellm_params"]["api_base"].split("/")[2].split(":")[1]
        assert f"127.0.0.1:{port}" in made.guard.files["guard.cfg"]


@settings(max_examples=6)
@given(st.randoms(use_true_random=False))
def test_artefacts_are_a_function_of_the_claim_alone(order: random.Random) -> None:
    claim = Claim.model_validate_json(json.dumps(shuffled(examples.claim(), order)))
    made = compile_claim(claim, bundles={"home-ca": "PEM"})
    plain = compile_claim(Claim.model_validate_json(json.dumps(examples.claim())), bundles={"home-ca": "PEM"})
    assert made == plain
    assert json.dumps(made.snapshot, sort_keys=True) == json.dumps(plain.snapshot, sort_keys=True)
    assert json.dumps(all_manifests(claim, made)) == json.dumps(all_manifests(claim, plain))


def test_without_a_gateway_there_is_nothing_of_one() -> None:
    loaded = examples.load(examples.claim(examples.put("llm/enabled", False)))
    made = compile_claim(loaded.claim, bundles=loaded.bundles)
    assert (made.litellm, made.litellm_yaml) == ({}, "")
    assert made.guard == made.front == ConfigFiles({})
    assert all_manifests(loaded.claim, made) == []
    # A host that serves a model keeps its sidecar, whoever calls it.
    assert "host" in made.sidecars


def test_a_sidecar_that_somebody_else_runs_is_not_compiled() -> None:
    made = compiled(examples.drop("endpoints/host/runtime"))
    assert set(made.sidecars) == {"pod"}
    assert made.snapshot["endpoints"]["host"]["sidecar"]["configSha256"] is None


def home(folder: Path, *, evidence: str = "enforce") -> LoadedClaim:
    values = examples.claim(examples.put("policy/evidence", evidence))
    shutil.copytree(examples.PROJECT / "trust", folder / "trust")
    (folder / "stacks").mkdir()
    stack = folder / "stacks" / "Pulumi.home.yaml"
    stack.write_text(json.dumps({"config": {f"hearth:{key}": value for key, value in values.items()}}))
    return load_claim_file(stack)


def test_private_endpoints_wait_for_evidence(tmp_path: Path) -> None:
    made = compile_environment(home(tmp_path), now=NOW)
    assert set(made.artefacts.withheld) == {"host", "native", "plain", "pod"}
    names = {model["model_name"] for model in made.artefacts.litellm["model_list"]}
    assert names == {"vendor-gpt", "info-maniak/gemma-4-31b", "mistral/large", "mistral/small"}
    assert any(notice.path == "hearth:endpoints.pod" for notice in made.warnings)


def test_a_policy_without_evidence_withholds_nothing(tmp_path: Path) -> None:
    made = compile_environment(home(tmp_path, evidence="off"), now=NOW)
    assert made.artefacts.withheld == {}
    assert len(made.artefacts.litellm["model_list"]) == 8


def test_evidence_that_does_not_hold_refuses_the_claim(tmp_path: Path) -> None:
    loaded = home(tmp_path)
    (tmp_path / "evidence" / "home").mkdir(parents=True)
    (tmp_path / "evidence" / "home" / "pod.json").write_text("{}")
    with pytest.raises(ClaimError) as error:
        compile_environment(loaded, now=NOW)
    assert [problem.path for problem in error.value.problems] == ["hearth:endpoints.pod"]


def test_a_trust_store_that_is_gone_is_an_error(tmp_path: Path) -> None:
    loaded = home(tmp_path)
    (tmp_path / "trust" / "runners.yaml").unlink()
    with pytest.raises(ClaimError) as error:
        compile_environment(loaded, now=NOW)
    assert "trustStore" in str(error.value)


def test_the_snapshot_names_the_believed_keys_and_holds_none(tmp_path: Path) -> None:
    loaded = home(tmp_path)
    texts = [public_key_text(Ed25519PrivateKey.generate().public_key()) for _ in range(2)]
    keys = {
        name: {"publicKey": text, "notBefore": "2026-01-01T00:00:00Z", "notAfter": "2027-01-01T00:00:00Z"}
        for name, text in zip(("runner-1", "runner-2"), texts, strict=True)
    }
    keys["runner-1"]["revoked"] = True  # type: ignore[assignment]
    store = {"version": "hearth.trust-store/v1", "keys": keys}
    (tmp_path / "trust" / "runners.yaml").write_text(json.dumps(store))
    snapshot = compile_environment(loaded, now=NOW).artefacts.snapshot
    assert snapshot["approvedKeyIds"] == ["runner-2"]
    assert not [text for text in texts if text in json.dumps(snapshot)]


def test_the_environment_of_the_process_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = compiled()
    for name in ("LITELLM_MASTER_KEY", "DATABASE_URL", "REDIS_PASSWORD", "ENDPOINT_CREDENTIAL_POD"):
        monkeypatch.setenv(name, f"canary-{name}")
    for name in list(os.environ):
        if name.startswith(("LANG", "LC_", "TZ")):
            monkeypatch.setenv(name, "C")
    assert compiled() == plain
