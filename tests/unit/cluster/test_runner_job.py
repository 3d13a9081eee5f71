"""What the Job that measures a Pod gets, and that it is all that it needs."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from hearth.claim.loader import load_claim_file
from hearth.cluster import runner_job
from hearth.cluster.measured_pod import MeasuredPod
from hearth.cluster.runner_job import ORDER, PROJECT, files_of, manifests
from hearth.compile.digests import expected_evidence
from hearth.evidence.document import NetworkNamespace
from hearth.kubeapi.errors import ClusterError
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


class ScriptedRuns:
    """The runner's namespace: Jobs by name, and everything that was asked for."""

    def __init__(self, *jobs: dict[str, Any]) -> None:
        self.jobs = list(jobs)
        self.asked: list[tuple[str, str]] = []
        self.posted: list[dict[str, Any]] = []
        self.arriving: list[dict[str, Any]] = []

    def get(self, what: str, path: str) -> dict[str, Any]:
        return {"items": list(self.jobs)}

    def post(self, what: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        self.posted.append(body)
        made = {**body, "metadata": {**body["metadata"], "uid": "uid-of-the-job"}}
        if body["kind"] == "Job":
            self.jobs += [made, *self.arriving]
        return made

    def delete(self, what: str, path: str) -> None:
        self.asked.append(("delete", path.partition("?")[0].rsplit("/", 2)[1]))


def job_of_a_run(name: str, **status: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": {"app.kubernetes.io/name": "hearth-runner"}}, "status": status}


def test_what_belongs_to_a_run_goes_with_its_job_whoever_ends_it() -> None:
    runs: Any = ScriptedRuns(job_of_a_run("before", conditions=[{"type": "Complete", "status": "True"}]))
    with runner_job._present(runs, made()):
        pass
    assert [each["kind"] for each in runs.posted] == ["Job", "ConfigMap", "Secret"]
    assert all(each["metadata"]["ownerReferences"][0]["uid"] == "uid-of-the-job" for each in runs.posted[1:])
    assert {what for _, what in runs.asked} == {"jobs", "secrets", "configmaps"}


def test_a_run_that_is_under_way_refuses_the_next() -> None:
    runs: Any = ScriptedRuns(job_of_a_run("of-somebody"))
    with pytest.raises(ClusterError, match=r"under way .*of-somebody"), runner_job._present(runs, made()):
        pass
    assert runs.posted == []


def test_of_two_runs_that_begin_at_once_none_sends_the_credential() -> None:
    runs: Any = ScriptedRuns()
    runs.arriving = [job_of_a_run("of-somebody")]
    with pytest.raises(ClusterError, match="of-somebody"), runner_job._present(runs, made()):
        pass
    assert [each["kind"] for each in runs.posted] == ["Job"]
    assert ("delete", "jobs") in runs.asked
