"""What the Job that measures a Pod gets, and that it is all that it needs."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from hearth.claim.loader import load_claim_file
from hearth.cluster.measured_pod import MeasuredPod
from hearth.cluster.runner_job import ORDER, PROJECT, files_of, manifests
from hearth.compile.digests import expected_evidence
from hearth.evidence.document import NetworkNamespace
from hearth.probe.run import HostFacts
from hearth.topology.resolve import resolve
from tests.unit.compile.manifests.samples import STACKS, loaded

SECRET = "canary-credential-0123456789"
POD = MeasuredPod(
    HostFacts(NetworkNamespace(machineSha256="a" * 64, inode=None, podUid="11111111-2222-3333-4444-555555555555"), {}),
    "10.244.0.9",
    "PEM\n",
    SECRET,
)


@pytest.mark.parametrize("stack", STACKS)
def test_the_claim_in_the_pod_expects_the_same_evidence(stack: str, tmp_path: Path) -> None:
    here = loaded(stack)
    for path, text in files_of(here).items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    there = load_claim_file(tmp_path / f"stacks/Pulumi.{stack}.yaml")
    assert there.claim == here.claim
    assert there.environment == here.environment
    assert expected_evidence(resolve(there.claim)) == expected_evidence(resolve(here.claim))


def test_nothing_but_the_claim_goes_into_the_cluster(tmp_path: Path) -> None:
    """A stack file may have a kubeconfig in it."""
    text = Path("stacks/Pulumi.local.yaml").read_text()
    file = tmp_path / "stacks/Pulumi.local.yaml"
    file.parent.mkdir()
    file.write_text(text + "  kubernetes:kubeconfig: {secure: canary}\n")
    assert "canary" not in json.dumps(files_of(load_claim_file(file)))


def made() -> list[dict[str, Any]]:
    claim = loaded("local")
    topology = resolve(claim.claim)
    return manifests("qualify-gemma", topology, topology.endpoint("gemma"), files_of(claim), POD, ["--key-id", "k"])


def test_the_credential_stands_in_the_secret_alone() -> None:
    config_map, secret, job = made()
    assert secret["stringData"]["credential"] == SECRET
    assert SECRET not in json.dumps([config_map, job])


def test_every_path_that_it_names_is_mounted() -> None:
    config_map, secret, job = made()
    spec = job["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    volumes = {volume["name"]: volume for volume in spec["volumes"]}
    items = volumes["project"]["configMap"]["items"]
    there = {f"{PROJECT}/{item['path']}" for item in items} | {f"{ORDER}/{key}" for key in secret["stringData"]}
    named = [argument for argument in container["args"] if argument.startswith("/")]
    assert set(named) <= there
    assert {item["key"] for item in items} == set(config_map["data"])
    assert container["args"][:2] == ["measure", "gemma"]
    assert yaml.safe_load(
        config_map["data"][next(i["key"] for i in items if i["path"].endswith(".yaml") and "local" in i["path"])]
    )


def test_it_has_no_token_and_runs_restricted() -> None:
    _, _, job = made()
    spec = job["spec"]["template"]["spec"]
    assert spec["automountServiceAccountToken"] is False
    assert spec["serviceAccountName"] == "hearth-runner"
    assert job["spec"]["backoffLimit"] == 0
    assert job["metadata"]["namespace"] != "system-llm"
