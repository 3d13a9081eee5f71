"""Who wins over a field, and what a run that was killed leaves behind, on a real API server."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hearth.compile.names import ADOPTED_ANNOTATION
from hearth.versions import versions
from tests.cluster.kube import Kube, eventually
from tests.cluster.stack import ROOT

pytestmark = pytest.mark.cluster

NAMESPACE = "field-managers"
LABELS = {"app.kubernetes.io/managed-by": "hearth", "hearth.dev/environment": "objects"}
SECURITY = {
    "runAsNonRoot": True,
    "runAsUser": 20001,
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}


def namespace(**metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": LABELS, **metadata}}


def pod(*command: str, **more: Any) -> dict[str, Any]:
    container = {"name": "c", "image": versions()["IMAGE_CLIENT"], "command": command, "securityContext": SECURITY}
    return {"containers": [container], "terminationGracePeriodSeconds": 0, **more}


def deployment(replicas: int = 1, **labels: str) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "one"}}, "spec": pod("sleep", "infinity")}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "one", "namespace": NAMESPACE, "labels": {**LABELS, **labels}},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "one"}}, "template": template},
    }


def job(*command: str) -> dict[str, Any]:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "once", "namespace": NAMESPACE, "labels": LABELS},
        "spec": {"backoffLimit": 0, "template": {"spec": pod(*command, restartPolicy="Never")}},
    }


class Objects:
    """A stack of a few objects."""

    def __init__(self, folder: Path, environment: dict[str, str], kube: Kube) -> None:
        self.folder, self.kube = folder, kube
        self.environment = {**os.environ, **environment, "PYTHONPATH": str(ROOT)}
        self.environment["PULUMI_BACKEND_URL"] = f"file://{folder}"
        self.environment["PULUMI_CONFIG_PASSPHRASE"] = "objects"
        runtime = {"name": "python", "options": {"virtualenv": str(ROOT / ".venv")}}
        (folder / "Pulumi.yaml").write_text(json.dumps({"name": "objects", "runtime": runtime}))
        (folder / "__main__.py").write_text((ROOT / "tests/cluster/objects/__main__.py").read_text())
        self.run("stack", "init", "objects")

    def start(self, *arguments: str, objects: tuple[dict[str, Any], ...] = ()) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["pulumi", *arguments, "--non-interactive", "--color", "never"],
            cwd=self.folder,
            env={**self.environment, "OBJECTS": json.dumps(objects)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str, objects: tuple[dict[str, Any], ...] = (), check: bool = True) -> str:
        process = self.start(*arguments, objects=objects)
        output, _ = process.communicate(timeout=900)
        assert not check or process.returncode == 0, output[-5000:]
        return output

    def up(self, *objects: dict[str, Any], refresh: bool = False, check: bool = True) -> str:
        more = ["--refresh"] if refresh else []
        return self.run("up", "-s", "objects", "--yes", "--skip-preview", *more, objects=objects, check=check)

    def object(self, kind: str, name: str = "one") -> dict[str, Any]:
        found: dict[str, Any] = self.kube.json("-n", NAMESPACE, "get", kind, name, "--show-managed-fields")
        return found

    def managers(self, kind: str, name: str = "one") -> set[str]:
        return {
            entry["manager"]
            for entry in self.object(kind, name)["metadata"]["managedFields"]
            if entry["manager"].startswith(("pulumi", "hearth"))
        }


@pytest.fixture
def objects(environment: dict[str, str], tmp_path: Path) -> Iterator[Objects]:
    kube = Kube(environment)
    made = Objects(tmp_path, environment, kube)
    yield made
    kube.run("delete", "namespace", NAMESPACE, "--ignore-not-found", "--wait=true")


def test_what_is_declared_wins_over_kubectl(objects: Objects) -> None:
    objects.up(namespace(), deployment())
    assert objects.managers("deployment") == {"hearth"}
    objects.kube.run("-n", NAMESPACE, "scale", "deployment/one", "--replicas=2")
    shown = objects.run("preview", "-s", "objects", "--refresh", "--diff", objects=(namespace(), deployment()))
    assert "replicas" in shown, "drift is shown, and no conflict"
    objects.up(namespace(), deployment(changed="once"))
    objects.kube.run("-n", NAMESPACE, "set", "image", "deployment/one", "c=nowhere.invalid/other:1")
    objects.kube.run("-n", NAMESPACE, "label", "deployment/one", "somebody=else", "--field-manager=controller")
    objects.up(namespace(), deployment(changed="twice"), refresh=True)
    there = objects.object("deployment")
    assert there["spec"]["replicas"] == 1
    assert there["spec"]["template"]["spec"]["containers"][0]["image"] == versions()["IMAGE_CLIENT"]
    assert there["metadata"]["labels"]["somebody"] == "else", "what is not declared is anybody's"

    objects.kube.run("-n", NAMESPACE, "delete", "deployment", "one")
    objects.up(namespace(), deployment(changed="twice"), refresh=True)
    assert objects.object("deployment")["status"]["availableReplicas"] == 1


def test_after_a_run_that_was_killed_the_next_one_goes_on(objects: Objects) -> None:
    killed = objects.start(
        "up", "-s", "objects", "--yes", "--skip-preview", objects=(namespace(), deployment(first="killed"))
    )
    eventually(
        "the Deployment is there",
        lambda: "one" in objects.kube.run("-n", NAMESPACE, "get", "deployments", "-o", "name", check=False),
        seconds=120,
        pause=0.2,
    )
    # The whole group of processes is ours: Pulumi's plugins would go on alone.
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    assert objects.managers("deployment") == {"hearth"}
    objects.run("cancel", "-s", "objects", "--yes")
    objects.up(namespace(), deployment(second="run"))
    there = objects.object("deployment")
    labels = there["metadata"]["labels"]
    assert labels["second"] == "run"
    assert "first" not in labels, "what only the killed run declared is gone"
    assert objects.managers("deployment") == {"hearth"}


def test_a_failed_job_is_replaced(objects: Objects) -> None:
    failed = objects.up(namespace(), job("false"), check=False)
    assert "once" in failed
    first = objects.object("job", "once")["metadata"]["uid"]
    objects.up(namespace(), job("true"))
    again = objects.object("job", "once")
    assert again["metadata"]["uid"] != first
    assert again["status"]["succeeded"] == 1


def test_a_namespace_that_was_taken_over_is_given_back(objects: Objects) -> None:
    objects.kube.run("create", "namespace", NAMESPACE)
    objects.kube.run("label", "namespace", NAMESPACE, "team=blue")
    objects.kube.run("-n", NAMESPACE, "create", "configmap", "theirs")
    adopted = namespace(annotations={ADOPTED_ANNOTATION: "true"})
    objects.up(adopted, deployment())
    there = objects.kube.json("get", "namespace", NAMESPACE)["metadata"]
    assert there["labels"].items() >= {**LABELS, "team": "blue"}.items()
    objects.up()
    left = objects.kube.json("get", "namespace", NAMESPACE)["metadata"]
    assert left["labels"] == {"team": "blue", "kubernetes.io/metadata.name": NAMESPACE}
    assert ADOPTED_ANNOTATION not in left.get("annotations", {})
    assert "theirs" in objects.kube.run("-n", NAMESPACE, "get", "configmaps", "-o", "name")
    assert "one" not in objects.kube.run("-n", NAMESPACE, "get", "deployments", "-o", "name")
