"""A route exists only while a signed measurement says so, and a Job in the cluster makes the measurement."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hearth.compile.names import RUNNER_NAMESPACE
from tests.cluster.chats import ask
from tests.cluster.claims import changed
from tests.cluster.platform import Platform
from tests.cluster.stack import ROOT

pytestmark = pytest.mark.cluster

ASKED = """
try:
    answer = client.chat.completions.create(
        model="gemma", max_tokens=4, messages=[{"role": "user", "content": "Say hello."}])
    print("answered", answer.usage.completion_tokens > 0)
except openai.APIStatusError as error:
    print(error.status_code, error.code)
"""
PLACES = (ROOT / "evidence/test", ROOT / "trust/test")


@dataclass
class Evidence:
    """The claim with evidence enforced, and what has to do with it."""

    platform: Platform
    claim: dict[str, Any]
    key: Path

    def hearth(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(ROOT / ".venv/bin/hearth"), *arguments]
        environment = self.platform.environment
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)

    def qualify(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        file = str(self.platform.stack.file)
        return self.hearth("qualify", *arguments, "-f", file, "--key", str(self.key), "--key-id", "test-1")

    def verdict(self, claim: dict[str, Any]) -> tuple[int, set[str]]:
        """What the stored evidence of `gemma` comes to for a claim: exit code and reasons."""
        self.platform.stack.write(claim)
        done = self.hearth("evidence", "verify", "gemma", "-f", str(self.platform.stack.file), "--json")
        (found,) = json.loads(done.stdout)
        return done.returncode, {finding["reason"] for finding in found["findings"]}


def published(platform: Platform) -> str:
    return ask(platform, ASKED).strip()


@pytest.fixture
def evidence(restored: Platform, tmp_path: Path) -> Iterator[Evidence]:
    for place in PLACES:
        shutil.rmtree(place, ignore_errors=True)
    policy = {key: value for key, value in restored.claim["policy"].items() if key != "evidenceWaiver"}
    made = Evidence(restored, {**restored.claim, "policy": policy}, tmp_path / "runner.pem")
    done = made.hearth("runner-key", "new", "test-1", "-s", "test", "-o", str(made.key))
    assert done.returncode == 0, done.stderr
    yield made
    for place in PLACES:
        shutil.rmtree(place, ignore_errors=True)


def test_a_route_exists_only_while_a_signed_measurement_says_so(evidence: Evidence) -> None:
    platform, stack = evidence.platform, evidence.platform.stack
    stack.up(evidence.claim)
    assert published(platform) == "404 model_not_found"

    done = evidence.qualify("gemma")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "gemma: passed (" in done.stdout
    assert "passed  sidecar.raw_port_closed" in done.stderr
    document = json.loads((ROOT / "evidence/test/gemma.json").read_text())
    vantage = document["runnerVantage"]
    assert vantage["sourceWorkloadId"] == "hearth-runner"
    assert vantage["sourceNetworkNamespace"]["podUid"] != vantage["targetNetworkNamespace"]["podUid"]
    # What it brought along is gone, the credential first of all.
    kube = platform.kube
    for kind in ("jobs", "secrets", "configmaps"):
        left = [each["metadata"]["name"] for each in kube.json("-n", RUNNER_NAMESPACE, "get", kind)["items"]]
        assert [name for name in left if name.startswith("qualify-")] == []
    credential = kube.secret("system-llm", _credentials(platform))["ENDPOINT_CREDENTIAL_GEMMA"]
    assert credential not in done.stdout + done.stderr + json.dumps(document)

    stack.up(evidence.claim)
    assert published(platform) == "answered True"

    _each_change_withdraws_it_with_its_reason(evidence)
    done = evidence.hearth("runner-key", "revoke", "test-1", "-s", "test")
    assert done.returncode == 0, done.stderr
    stack.up(evidence.claim)
    assert published(platform) == "404 model_not_found"


def _credentials(platform: Platform) -> str:
    secrets = platform.kube.json("-n", "system-llm", "get", "secrets")["items"]
    names = [each["metadata"]["name"] for each in secrets if "ENDPOINT_CREDENTIAL_GEMMA" in (each.get("data") or {})]
    return str(names[-1])


def _each_change_withdraws_it_with_its_reason(evidence: Evidence) -> None:
    """One change of the claim each; nothing is deployed, because evidence is judged before."""
    claim = evidence.claim
    assert evidence.verdict(claim) == (0, set())
    gemma, local = claim["endpoints"]["gemma"], claim["deployments"]["gemma-local"]

    def endpoint(**values: Any) -> dict[str, Any]:
        return changed(claim, endpoints={"gemma": {**gemma, **values}})

    capacity = {**gemma["runtimeCapacity"], "maxQueuedRequests": 5}
    runtime = {key: value for key, value in gemma["runtime"].items() if key != "chatTemplate"}
    table = {
        "capacity_changed": endpoint(runtimeCapacity=capacity),
        "deployment_revision_changed": endpoint(runtime=runtime),
        "sidecar_config_changed": changed(claim, deployments={"gemma-local": {**local, "operations": ["chat"]}}),
        "physical_runtime_changed": endpoint(
            runtimeCapacity={**gemma["runtimeCapacity"], "physicalRuntimeId": "gemma/another"}
        ),
    }
    for reason, other in table.items():
        code, reasons = evidence.verdict(other)
        assert (code, reason in reasons) == (12, True), (reason, reasons)
    assert evidence.verdict({**claim, "environment": "another"}) == (1, set())
    file = ROOT / "evidence/test/gemma.json"
    text = file.read_text()
    file.write_text(text.replace('"passed"', '"failed"', 1))
    assert evidence.verdict(claim) == (10, {"signature_invalid"})
    file.write_text(text)
    assert evidence.verdict(claim) == (0, set())


def test_what_does_not_run_is_not_measured_and_stops_no_other(evidence: Evidence) -> None:
    """Without a Pod of the endpoint there is nothing to measure, and nothing is signed."""
    platform = evidence.platform
    platform.stack.write(evidence.claim)
    platform.kube.run("-n", "system-llm", "scale", "deployment/llm-gemma", "--replicas=0")
    try:
        platform.kube.run(
            "-n", "system-llm", "wait", "--for=delete", "pod", "-l", "hearth.dev/endpoint=gemma", "--timeout=120s"
        )
        done = evidence.qualify("--all")
    finally:
        platform.kube.run("-n", "system-llm", "scale", "deployment/llm-gemma", "--replicas=1")
        platform.ready("deployment/llm-gemma")
    assert done.returncode == 1
    assert "gemma: not measured: no Pod runs for gemma" in done.stdout
    # The others are of hosts, and each says what it lacks; none stops another.
    assert "scripted: not measured:" in done.stdout
    assert not (ROOT / "evidence/test/gemma.json").exists()
