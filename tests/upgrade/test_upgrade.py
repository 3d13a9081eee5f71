"""An environment that an older version deployed is updated, and taken down, by this one: nothing is lost.

`make test-upgrade` runs it in a cluster of its own (HEARTH_CLUSTER), about eight minutes on two cores when tools and
images are there. The older version is a commit of this repository; a clone without its history fetches that commit.
"""

import base64
import hashlib
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.kube import Kube

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).resolve().parents[2]
FROM = os.environ.get("HEARTH_UPGRADE_FROM", "cbd747bb0aeb9e0cf95521207a061da4e4594f6b")
"""The version that is deployed first."""
KEPT = ("RandomSecret", "CertificateAuthority", "Certificate", "AppKey", "Team", "PersonBudget", "CredentialsSecret")
"""Resources of our own that are made once and kept."""
OWN = "pulumi-python:dynamic/hearth:"


def run(*command: str, folder: Path = ROOT, environment: dict[str, str] | None = None) -> str:
    """Run a command in a checkout; return what it printed."""
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}:\n{done.stdout[-4000:]}\n{done.stderr[-2000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout of the older version."""
    if subprocess.run(["git", "cat-file", "-e", f"{FROM}^{{commit}}"], cwd=ROOT, capture_output=True).returncode:
        run("git", "fetch", "--depth", "1", "origin", FROM)
    folder = tmp_path_factory.mktemp("older")
    run("bash", "-c", f"git archive {FROM} | tar -x -C '{folder}'")
    return folder


@pytest.fixture(scope="module")
def environment(older: Path) -> Iterator[dict[str, str]]:
    """The cluster, with the environment `local` as the older version deploys it."""
    # Images of both versions may have one name, so those of the older one are built, loaded and used first.
    try:
        for script in ("local/setup.sh", "images/build.sh", "local/cluster.sh", "local/deploy.sh"):
            run("bash", script, folder=older)
        text = run("bash", "-c", ". local/env.sh && env -0")
        yield dict(entry.split("=", 1) for entry in text.split("\0") if "=" in entry)
    finally:
        run("bash", "local/cluster-down.sh")


def digest(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()


def kept(kube: Kube) -> dict[str, str]:
    """Return the UIDs of what must stay the same object, and digests of what the Secrets of applications hold."""
    found = {}
    for kind in ("namespaces", "persistentvolumeclaims", "persistentvolumes"):
        for item in kube.json("get", kind, "-A")["items"]:
            meta = item["metadata"]
            found[f"{kind} {meta.get('namespace', '')}/{meta['name']}"] = meta["uid"]
    for item in kube.json("get", "secrets", "-A")["items"]:
        meta = item["metadata"]
        if meta["namespace"].startswith("tenant-"):
            found[f"secret {meta['namespace']}/{meta['name']}"] = meta["uid"]
            found |= {f"secret {meta['namespace']}/{meta['name']} {k}": digest(v) for k, v in item["data"].items()}
    return found


def values(kube: Kube) -> set[str]:
    """Return a digest of every value of the platform's own Secrets, whose names follow their content.

    A line end after a key is no part of it: some programs want one in the file, and others must not have one.
    """
    secrets = kube.json("-n", "system-llm", "get", "secrets")["items"]
    return {
        f"{key} {digest(base64.b64decode(value).decode().rstrip())}"
        for item in secrets
        for key, value in (item.get("data") or {}).items()
    }


def made(environment: dict[str, str]) -> dict[str, str]:
    """Return the ids of the resources that are made once, out of the state."""
    state = json.loads(run("pulumi", "stack", "export", "-s", "local", environment=environment))
    names = {OWN + name for name in KEPT}
    return {entry["urn"]: entry["id"] for entry in state["deployment"]["resources"] if entry["type"] in names}


def stack_file(environment: dict[str, str]) -> str:
    """Return the stack file that `local/deploy.sh` gives to Pulumi."""
    return f"{environment['HEARTH_CACHE']}/clusters/{environment['HEARTH_CLUSTER']}/project/Pulumi.local.yaml"


def changes(environment: dict[str, str]) -> list[dict[str, Any]]:
    text = run("pulumi", "preview", "-s", "local", "--config-file", stack_file(environment), "--json",
               environment=environment)  # fmt: skip
    return [step for step in json.loads(text)["steps"] if step["op"] != "same"]


def test_an_environment_of_an_older_version_is_updated_and_taken_down(environment: dict[str, str]) -> None:
    kube = Kube(environment)
    before, secret_values, ids = kept(kube), values(kube), made(environment)
    assert len([name for name in before if name.startswith("persistentvolumeclaims")]) >= 1
    assert len([name for name in before if "OPENAI_API_KEY" in name]) == 2
    assert len(ids) > 10

    for script in ("images/build.sh", "local/load-images.sh"):
        run("bash", script)
    steps = changes(environment)
    print(*sorted(f"{step['op']} {step['urn'].split('::', 2)[2]}" for step in steps), sep="\n")
    lost = [step["urn"] for step in steps if step["op"] not in ("update", "create") and step["urn"] in ids]
    assert lost == [], "a made value is replaced or removed"

    run("bash", "local/deploy.sh")
    after = kept(kube)
    assert {name: after.get(name) for name in before} == before
    assert secret_values - values(kube) == set()
    assert {urn: made(environment).get(urn) for urn in ids} == ids
    assert changes(environment) == [], "what was updated is updated once"
    run("bash", "local/qualify.sh")
    assert "gemma answered: " in run("bash", "local/ask.sh"), "with the key that the application had"
    outputs = json.loads(run("pulumi", "stack", "output", "-s", "local", "--json", environment=environment))
    namespace = kube.json("get", "namespace", "kube-system")
    assert outputs["cluster"] == namespace["metadata"]["uid"]

    run("pulumi", "state", "unprotect", "--all", "--yes", "-s", "local", environment=environment)
    run("pulumi", "destroy", "-s", "local", "--config-file", stack_file(environment), "--yes", "--skip-preview",
        environment=environment)  # fmt: skip
    left = [item["metadata"]["name"] for item in kube.json("get", "namespaces")["items"]]
    assert not [name for name in left if name.startswith(("system-llm", "tenant-"))]
