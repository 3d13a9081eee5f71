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
from hearth.compile.artefacts import expected
from hearth.evidence.document import timestamp
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
    (tmp_path / "trust").mkdir()
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
    claim["policy"] = {"trustStore": "trust/runners.yaml"}
    (tmp_path / "stacks").mkdir()
    stack = {"config": {f"hearth:{key}": value for key, value in claim.items()}}
    (tmp_path / "stacks" / "Pulumi.home.yaml").write_text(yaml.safe_dump(stack))
    (tmp_path / "trust" / "runners.yaml").write_text(
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
    digests = expected(resolve(load_claim_file(project / "stacks" / "Pulumi.home.yaml").claim))["ollama-home"]

    def fit(values: dict[str, Any]) -> None:
        values.update(
            endpointSha256=digests.endpoint_sha256,
            profileSha256=digests.profile_sha256,
            capacitySha256=digests.capacity_sha256,
            testedAt=timestamp(NOW - datetime.timedelta(hours=1)),
            validUntil=timestamp(NOW + datetime.timedelta(days=6)),
        )
        values["deployments"]["gemma-home"]["revision"] = digests.revisions["gemma-home"]
        values["sidecar"]["configSha256"] = digests.sidecar_config_sha256
        change(values)

    file = evidence_file(project, "home", "ollama-home")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(samples.signed(fit))


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
    assert "transport.certificate days_left=80" in shown


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


def test_an_unknown_endpoint_is_a_wrong_call(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["evidence", "show", "else", "-s", "home"]) == 2
    captured = capsys.readouterr()
    assert captured.err == "endpoint: is not in the claim. Its private endpoints: ollama-home.\n"


def test_a_broken_trust_store_is_a_wrong_call(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store(project)
    file = project / "trust" / "runners.yaml"
    file.write_text(file.read_text().replace("/v1", "/v9"))
    assert run(["evidence", "verify", "-s", "home"]) == 2
    assert "trust/runners.yaml: version must be one of hearth.trust-store/v1" in capsys.readouterr().err
