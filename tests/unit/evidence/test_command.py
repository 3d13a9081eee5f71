"""`hearth evidence`, as it is typed."""

import datetime
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from hearth.claim.loader import load_claim_file
from hearth.cli.main import main
from hearth.compile.digests import expected_evidence
from hearth.evidence.coverage import required_capabilities, required_probes
from hearth.evidence.document import Evidence, timestamp
from hearth.evidence.envelope import envelope_text
from hearth.evidence.store import evidence_file
from hearth.evidence.trust import public_key_text
from hearth.topology.resolve import resolve
from tests.support.pki import Authority
from tests.unit.evidence import samples

NOW = datetime.datetime.now(datetime.UTC)
Change = Callable[[dict[str, Any]], None]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one private endpoint behind a sidecar, and a trust store."""
    authority = Authority().pem
    (tmp_path / "trust" / "home").mkdir(parents=True)
    (tmp_path / "trust" / "ca.pem").write_text(authority)
    claim = json.loads(json.dumps(samples.CLAIM_VALUES))
    for name in ("vllm-native", "cloud"):
        del claim["endpoints"][name]
    for name in ("qwen-native", "cloud-chat"):
        del claim["deployments"][name]
    claim["endpoints"]["ollama-home"] |= {
        "endpointAuth": {"mode": "bearer", "credentialRef": "credential://home/token"},
        "runtime": {
            "engine": "ollama",
            "placement": "host",
            "loopback": "http://127.0.0.1:11434",
            "models": [{"source": {"ollama": "gemma3:270m"}, "digest": f"sha256:{'0' * 64}"}],
        },
    }
    claim["networkZones"]["home-model-lan"]["dnsNames"] = ["ollama.home.arpa"]
    claim["trustBundles"] = {
        "home-ca": {"version": 1, "file": "trust/ca.pem", "sha256": hashlib.sha256(authority.encode()).hexdigest()}
    }
    claim["aliases"] = {"gemma": {"deployments": ["gemma-home"], "residency": ["home"]}}
    (tmp_path / "stacks").mkdir()
    stack = {"config": {f"hearth:{key}": value for key, value in claim.items()}}
    (tmp_path / "stacks" / "Pulumi.home.yaml").write_text(yaml.safe_dump(stack))
    (tmp_path / "trust" / "home" / "runners.yaml").write_text(
        f"""\
version: hearth.trust-store/v1
keys:
  {samples.KEY_ID}:
    publicKey: {public_key_text(samples.KEY.public_key())}
    notBefore: "{timestamp(NOW - datetime.timedelta(days=30))}"
    notAfter: "{timestamp(NOW + datetime.timedelta(days=30))}"
"""
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(arguments: list[str]) -> int:
    """Return the exit code of a command line."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["hearth", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
    return int(ended.value.code or 0)


def store(project: Path, change: Change = lambda _: None) -> None:
    """Write evidence that fits the claim, but for a change that the runner signed."""
    claim = load_claim_file(project / "stacks" / "Pulumi.home.yaml").claim
    digests = expected_evidence(resolve(claim))["ollama-home"]

    def fit(values: dict[str, Any]) -> None:
        values.update(
            endpointSha256=digests.endpoint_sha256,
            profileSha256=digests.profile_sha256,
            capacitySha256=digests.capacity_sha256,
            testedAt=timestamp(NOW - datetime.timedelta(hours=1)),
            validUntil=timestamp(NOW + datetime.timedelta(days=6)),
        )
        assert digests.sidecar is not None
        deployment = values["deployments"]["gemma-home"]
        deployment["revision"] = digests.deployments["gemma-home"].revision
        for operation, cases in deployment["operations"].items():
            cases |= samples.passed(*required_capabilities(digests, operation))
        values["probes"] |= samples.passed(*set(required_probes(digests)) - set(values["probes"]))
        values["sidecar"]["configSha256"] = digests.sidecar.config_sha256
        values["sidecar"]["isolationEvidenceSha256"] = digests.sidecar.isolation_sha256
        values["runnerVantage"]["rawProbeTargetSha256"] = digests.sidecar.raw_target_sha256
        change(values)

    file = evidence_file(project, "home", "ollama-home")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(samples.signed(fit))


SKIPPED = {"outcome": "skipped", "reason": "not_shown", "facts": {}}
CASES: dict[str, tuple[Change, int, str]] = {
    "valid": (lambda _: None, 0, "ollama-home: valid until"),
    "invalid": (lambda v: v.update(runnerVantage=None), 10, "vantage_missing"),
    "failed": (lambda v: v.update(state="failed"), 11, "state_failed"),
    "stale": (lambda v: v.update(validUntil=timestamp(NOW - datetime.timedelta(minutes=1))), 12, "expired"),
    "changed": (lambda v: v.update(profileSha256="0" * 64), 12, "network_profile_changed"),
}


@pytest.mark.parametrize("case", CASES)
def test_each_verdict_has_its_exit_code(project: Path, capsys: pytest.CaptureFixture[str], case: str) -> None:
    change, code, text = CASES[case]
    store(project, change)
    assert run(["evidence", "verify", "-s", "home"]) == code
    assert text in capsys.readouterr().out
    assert run(["evidence", "show", "ollama-home", "-s", "home"]) == code
    shown = capsys.readouterr().out
    assert text in shown
    assert "transport.chain_and_name days_left=80" in shown


def test_missing_evidence_is_told_with_what_to_do(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["evidence", "verify", "-s", "home"]) == 1
    assert capsys.readouterr().out == "ollama-home: missing; no runner has measured this endpoint\n"


def test_a_forged_document_is_not_shown(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store(project)
    file = evidence_file(project, "home", "ollama-home")
    file.write_text(file.read_text().replace('"runtimeVersion": "0.17.4"', '"runtimeVersion": "forged"'))
    assert run(["evidence", "show", "ollama-home", "-s", "home", "--json"]) == 10
    shown = json.loads(capsys.readouterr().out)
    assert shown["document"] is None
    assert shown["findings"][0]["reason"] == "signature_invalid"
    assert run(["evidence", "show", "ollama-home", "-s", "home"]) == 10
    assert "forged" not in capsys.readouterr().out


def test_json_holds_the_whole_document(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store(project)
    assert run(["evidence", "show", "ollama-home", "-s", "home", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["verdict"] == "valid"
    assert shown["document"] == json.loads(evidence_file(project, "home", "ollama-home").read_text())
    assert run(["evidence", "verify", "-f", "stacks/Pulumi.home.yaml", "--json"]) == 0
    assert [row["endpoint"] for row in json.loads(capsys.readouterr().out)] == ["ollama-home"]


def test_the_cases_as_a_test_report(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store(project, lambda v: v["probes"].update({"transport.dates": SKIPPED}))
    run(["evidence", "show", "ollama-home", "-s", "home", "--ctrf"])
    report = json.loads(capsys.readouterr().out)
    assert report["reportFormat"] == "CTRF"
    results = report["results"]
    document = json.loads(evidence_file(project, "home", "ollama-home").read_text())
    operations = document["deployments"]["gemma-home"]["operations"]
    assert len(results["tests"]) == len(document["probes"]) + sum(len(cases) for cases in operations.values())
    statuses = [test["status"] for test in results["tests"]]
    assert {state: results["summary"][state] for state in ("passed", "failed", "skipped")} == {
        state: statuses.count(state) for state in ("passed", "failed", "skipped")
    }
    skipped = next(test for test in results["tests"] if test["name"] == "transport.dates")
    assert skipped == {
        "name": "transport.dates",
        "status": "skipped",
        "duration": 0,
        "suite": ["ollama-home"],
        "message": "not_shown",
    }
    assert {tuple(test["suite"]) for test in results["tests"]} == {
        ("ollama-home",),
        ("ollama-home", "gemma-home", "chat"),
        ("ollama-home", "gemma-home", "completion"),
    }


def test_a_forged_document_is_no_test_report(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store(project)
    file = evidence_file(project, "home", "ollama-home")
    file.write_text(file.read_text().replace('"runtimeVersion": "0.17.4"', '"runtimeVersion": "forged"'))
    assert run(["evidence", "show", "ollama-home", "-s", "home", "--ctrf"]) == 10
    assert "CTRF" not in capsys.readouterr().out


def test_an_unknown_endpoint_is_a_wrong_call(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["evidence", "show", "else", "-s", "home"]) == 2
    captured = capsys.readouterr()
    assert captured.err == "endpoint: is not in the claim. Its private endpoints: ollama-home.\n"


def test_a_broken_trust_store_is_a_wrong_call(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store(project)
    file = project / "trust" / "home" / "runners.yaml"
    file.write_text(file.read_text().replace("/v1", "/v9"))
    assert run(["evidence", "verify", "-s", "home"]) == 2
    assert "trust/home/runners.yaml: version must be one of hearth.trust-store/v1" in capsys.readouterr().err


def test_a_trust_store_is_at_its_place_whatever_the_claim_and_the_environment_say(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """S4-102: the author of the claim cannot bring a store with a key of their own."""
    store(project)
    place = project / "trust" / "home" / "runners.yaml"
    mine = project / "trust" / "runners.yaml"
    place.rename(mine)
    for name in ("HEARTH_TRUST_STORE", "HEARTH_TRUST", "TRUST_STORE"):
        monkeypatch.setenv(name, str(mine))
    assert run(["evidence", "verify", "-s", "home"]) == 10
    assert "trust_store_missing" in capsys.readouterr().out
    assert run(["evidence", "verify", "-s", "home", "--trust-store", str(mine)]) == 2
    file = project / "stacks" / "Pulumi.home.yaml"
    claim = yaml.safe_load(file.read_text())
    claim["config"]["hearth:policy"] = {"trustStore": "trust/runners.yaml"}
    file.write_text(yaml.safe_dump(claim))
    capsys.readouterr()
    assert run(["evidence", "verify", "-s", "home"]) == 2
    assert "hearth:policy.trustStore: is not a field" in capsys.readouterr().err


@pytest.mark.parametrize("case", CASES)
def test_a_document_is_verified_without_a_claim(project: Path, capsys: pytest.CaptureFixture[str], case: str) -> None:
    """Alone it is not known what a document has to be about, nor that the endpoint has a sidecar."""
    change, code, text = CASES[case]
    store(project, change)
    (project / "stacks" / "Pulumi.home.yaml").unlink()
    alone = 0 if case in ("changed", "invalid") else code
    assert run(["evidence", "verify", "evidence/home/ollama-home.json"]) == alone
    out = capsys.readouterr().out
    assert text in out if alone == code else "ollama-home: valid until" in out


def test_alone_nothing_is_valid_without_the_key_of_its_environment(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store(project, lambda values: values.update(environment="production"))
    assert run(["evidence", "verify", "./evidence/home/ollama-home.json"]) == 10
    assert "document: invalid" in capsys.readouterr().out
    for text in ('{"environment": "../../home"}', '{"environment": ["home"]}', "[]", '{"\\ud800": 1}', "[" * 9000):
        (project / "file.json").write_text(text)
        assert run(["evidence", "verify", "file.json"]) == 10
    assert run(["evidence", "verify", "nothing.json"]) == 2
    assert run(["evidence", "verify", "file.json", "-s", "home"]) == 2


def test_evidence_changes_no_exit_code_of_check_and_refuses_no_rendering(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A document with what has no canonical form took `hearth render` down once."""
    assert run(["check", "-s", "home"]) == 0
    assert "its route is withheld: there is no evidence" in capsys.readouterr().err
    file = evidence_file(project, "home", "ollama-home")
    file.parent.mkdir(parents=True)
    for text in (
        '{"\\ud800": 1}',
        '{"signerKeyId": "' + samples.KEY_ID + '", "\\ud800": "\\udfff"}',
        '{"a":' * 9000,
        "{",
    ):
        file.write_text(text)
        assert run(["check", "-s", "home", "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert document["withheld"] == {"ollama-home": "document_malformed"}
        assert run(["render", "-s", "home", "-o", "out"]) == 0
        assert "(document_malformed)" in capsys.readouterr().err
    snapshot = json.loads((project / "out" / "snapshot.json").read_text())["snapshot"]
    assert snapshot["endpoints"]["ollama-home"]["withheld"] == "document_malformed"
    store(project)
    assert run(["check", "-s", "home", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["withheld"] == {}
    assert run(["render", "-s", "home", "-o", "out"]) == 0
    endpoint = json.loads((project / "out" / "snapshot.json").read_text())["snapshot"]["endpoints"]["ollama-home"]
    assert (endpoint["withheld"], len(endpoint["evidenceSha256"])) == (None, 64)


def test_the_schema_is_written(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["evidence", "schema"]) == 0
    assert json.loads(capsys.readouterr().out)["$id"] == "urn:hearth:evidence:v1"


def test_an_envelope_is_verified_as_the_document_in_it(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store(project)
    evidence = Evidence.model_validate_json(evidence_file(project, "home", "ollama-home").read_text())
    (project / "good.dsse.json").write_text(envelope_text(evidence, samples.KEY))
    assert run(["evidence", "verify", "good.dsse.json"]) == 0
    assert "ollama-home: valid until" in capsys.readouterr().out
    (project / "bad.dsse.json").write_text(envelope_text(evidence, samples.OTHER_KEY))
    assert run(["evidence", "verify", "bad.dsse.json"]) == 10
    assert "signature_invalid" in capsys.readouterr().out
    (project / "none.dsse.json").write_text('{"payloadType": 1, "payload": "e30=", "signatures": []}')
    assert run(["evidence", "verify", "none.dsse.json"]) == 10
