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
from hearth.environment import compile_environment, judge_environment
from hearth.evidence.signing import evidence_text, sign
from hearth.evidence.trust import public_key_text
from tests.support.compiling import all_manifests, compile_claim, compiled
from tests.support.evidence import covering
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
    assert set(made.front.files) == {"front.cfg", "homes.map"}
    assert not set(made.guard.files) & set(made.front.files)
    policies = [found for found in manifests_of() if found["kind"] == "NetworkPolicy"]
    assert {policy["metadata"]["namespace"] for policy in policies} == {
        "system-llm",
        "system-llm-evidence",
        "tenant-family",
        "team-apps",
    }
    assert list(made.bundles) == ["home-ca"]
    assert made.litellm_yaml.startswith("general_settings:\n")


def test_everything_that_litellm_calls_is_known_to_the_front_and_to_the_guard() -> None:
    made = compiled()
    homes = dict(line.split() for line in made.front.files["homes.map"].splitlines())
    for model in made.litellm["model_list"]:
        host, _, name = model["litellm_params"]["api_base"].removeprefix("http://").split("/")
        assert f"bind {host} proto h1" in made.front.files["front.cfg"]
        assert f"backend guard_{homes[name]} from" in made.front.files["front.cfg"]
        assert f"{name} {name}\n" in made.guard.files["upstreams.map"]
        assert f"backend {name} from" in made.guard.files["guard.cfg"]


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


def home(folder: Path, *changes: examples.Change) -> LoadedClaim:
    values = examples.claim(*changes)
    shutil.copytree(examples.PROJECT / "trust", folder / "trust", ignore=shutil.ignore_patterns("runners.yaml"))
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


def test_a_waiver_withholds_nothing_and_is_said_everywhere(tmp_path: Path) -> None:
    waiver = {"mode": "off", "reason": "nobody measures yet", "until": "2026-12-31"}
    made = compile_environment(home(tmp_path, examples.put("policy/evidenceWaiver", waiver)), now=NOW)
    assert made.artefacts.withheld == {}
    assert made.artefacts.snapshot["evidenceMode"] == "off"
    assert made.artefacts.snapshot["policy"]["evidenceWaiver"] == waiver
    assert [notice.path for notice in made.warnings].count("hearth:policy.evidenceWaiver") == 1
    assert len(made.artefacts.litellm["model_list"]) == 8


def test_evidence_that_does_not_hold_withholds_its_own_route_alone(tmp_path: Path) -> None:
    loaded = home(tmp_path)
    (tmp_path / "evidence" / "home").mkdir(parents=True)
    (tmp_path / "evidence" / "home" / "pod.json").write_text("{}")
    made = compile_environment(loaded, now=NOW)
    assert made.artefacts.withheld["pod"] == "trust_store_missing"
    assert made.artefacts.withheld["host"] == "evidence_missing"
    assert made.artefacts.snapshot["endpoints"]["pod"]["withheld"] == "trust_store_missing"
    # A tenant that goes is gone, whatever evidence says (S4-111).
    del loaded.claim.tenants["family"]
    assert "tenant-family" not in json.dumps(compile_environment(loaded, now=NOW).artefacts.snapshot)


def test_a_trust_store_that_is_none_is_an_error(tmp_path: Path) -> None:
    loaded = home(tmp_path)
    (tmp_path / "trust" / "home" / "runners.yaml").write_text("keys: {}\n")
    with pytest.raises(ClaimError) as error:
        compile_environment(loaded, now=NOW)
    assert [problem.path for problem in error.value.problems] == ["trust/home/runners.yaml"]


def test_the_snapshot_names_the_believed_keys_and_holds_none(tmp_path: Path) -> None:
    loaded = home(tmp_path)
    texts = [public_key_text(Ed25519PrivateKey.generate().public_key()) for _ in range(2)]
    keys = {
        name: {"publicKey": text, "notBefore": "2026-01-01T00:00:00Z", "notAfter": "2027-01-01T00:00:00Z"}
        for name, text in zip(("runner-1", "runner-2"), texts, strict=True)
    }
    keys["runner-1"]["revoked"] = True  # type: ignore[assignment]
    store = {"version": "hearth.trust-store/v1", "keys": keys}
    (tmp_path / "trust" / "home" / "runners.yaml").write_text(json.dumps(store))
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


def test_what_decided_is_remembered_by_the_revision_of_its_endpoint(tmp_path: Path) -> None:
    """S4-111: the newer document is removed, and the older one does not open the route again."""
    loaded = home(tmp_path)
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    (tmp_path / "trust" / "home" / "runners.yaml").write_text(
        json.dumps(
            {
                "version": "hearth.trust-store/v1",
                "keys": {
                    "runner": {
                        "publicKey": public_key_text(key.public_key()),
                        "notBefore": "2026-01-01T00:00:00Z",
                        "notAfter": "2027-01-01T00:00:00Z",
                    }
                },
            }
        )
    )
    subject = judge_environment(loaded, now=NOW).subjects["plain"]
    folder = tmp_path / "evidence" / "home"
    folder.mkdir(parents=True)

    def measured(tested_at: str, name: str, **changes: Any) -> None:
        statement = covering(subject, tested_at=tested_at, valid_until="2026-12-10T00:00:00Z", key_id="runner")
        (folder / name).write_text(evidence_text(sign(statement.model_copy(update=changes), key)))

    measured("2026-11-28T00:00:00Z", "plain.json")
    opened = compile_environment(loaded, now=NOW)
    assert "plain" not in opened.artefacts.withheld
    measured("2026-11-29T00:00:00Z", "plain.newer.json", state="failed")
    failed = compile_environment(loaded, now=NOW, believed=opened.remembered)
    assert failed.artefacts.withheld["plain"] == "state_failed"
    (folder / "plain.newer.json").unlink()
    back = compile_environment(loaded, now=NOW, believed=failed.remembered)
    assert back.artefacts.withheld["plain"] == "superseded"
    # Of another revision nothing is remembered.
    other = {name.rsplit("/", 1)[0] + "/" + "0" * 64: tested_at for name, tested_at in failed.remembered.items()}
    assert "plain" not in compile_environment(loaded, now=NOW, believed=other).artefacts.withheld
