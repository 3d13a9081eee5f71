"""A host outside the cluster answers an application inside it: both halves of Hearth, out of one claim (S4-147)."""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.claims import PRICE, changed
from tests.cluster.conftest import Platform
from tests.cluster.load import Load
from tests.cluster.stack import ROOT
from tests.cluster.test_answers import ask
from tests.cluster.test_credentials import hearth, rolled_out
from tests.support.container_hosts import ContainerHosts

pytestmark = pytest.mark.cluster

NAME = "box.edge.test"
REFERENCE = "credential://box/workload"


@dataclass
class Box:
    """The container host, and the claim that says what it is for."""

    platform: Platform
    hosts: ContainerHosts
    project: Path
    claim: dict[str, Any]

    def play(self, playbook: str, *arguments: str) -> str:
        """Run a playbook over the host with the claim of the cluster."""
        shutil.copy(self.platform.stack.file, self.project / "stacks/Pulumi.test.yaml")
        project = ["-e", "hearth_environment=test", "-e", f"hearth_project={self.project}"]
        return self.hosts.play(playbook, "-i", str(self.hosts.inventory([NAME])), *project, *arguments)[0]

    def token(self, suffix: str = "") -> str:
        return (self.hosts.folder / f"state/credentials/box.workload{suffix}").read_text()


def claim_of_the_box(platform: Platform, bundle: Path, subnet: str) -> dict[str, Any]:
    model = dict(
        line.removeprefix("EDGE_").split("=", 1)
        for line in (Path(platform.environment["HEARTH_CACHE"]) / "edge/runtimes.env").read_text().split()
    )
    endpoint = {
        "protocol": "openai_chat",
        "baseUrl": f"https://{NAME}:8443/v1",
        "endpointAuth": {"mode": "bearer", "credentialRef": REFERENCE},
        "networkProfile": {
            "mode": "private_tls",
            "termination": "light_gateway_sidecar",
            "networkZoneId": "edge-lan",
            "tls": {"trustBundle": "edge-ca"},
        },
        "sidecar": {"maxRequestBytes": 1_048_576},
        "runtime": {
            "engine": "llamaCpp",
            "placement": "host",
            "loopback": "http://127.0.0.1:8081",
            "credentialRef": "credential://box/runtime",
            "threads": 1,
            "chatTemplate": "gemma",
            "models": [{"source": {"file": "/srv/models/model.gguf"}, "digest": f"sha256:{model['MODEL_SHA256']}"}],
        },
        "runtimeCapacity": {
            "physicalRuntimeId": "box/llama-server",
            "capacityDomainId": "box/cpu",
            "maxParallelRequests": 2,
            "maxQueuedRequests": 4,
            "coldStartTimeoutMs": 300_000,
            "streamSetupTimeoutMs": 120_000,
            "requestTimeoutMs": 300_000,
        },
    }
    trusted = {
        "file": f"{bundle.parent.name}/{bundle.name}",
        "version": platform.claim["trustBundles"]["scripted-ca"]["version"],
        "sha256": hashlib.sha256(bundle.read_bytes()).hexdigest(),
    }
    return changed(
        platform.claim,
        networkZones={"edge-lan": {"dnsNames": ["*.edge.test"], "cidrs": [subnet], "ports": [8443]}},
        trustBundles={"edge-ca": trusted},
        endpoints={"box": endpoint},
        deployments={
            "box-gemma": {
                "endpoint": "box",
                "model": "gemma3-270m",
                "operations": ["chat", "completion"],
                "concurrency": 2,
                "pricing": {**PRICE, "inputMicrosPerMillionTokens": 1, "outputMicrosPerMillionTokens": 1},
                "residency": ["here"],
            }
        },
        aliases={"box": {"deployments": ["box-gemma"], "residency": ["here"]}},
    )


@pytest.fixture(scope="module")
def box(platform: Platform) -> Iterator[Box]:
    """A fresh host in the network of the cluster's nodes, installed, with its token at the gateway."""
    network = platform.environment.get("KIND_EXPERIMENTAL_PODMAN_NETWORK")
    if network is None:
        pytest.skip("the cluster runs in Docker, and container hosts run in podman")
    outer = {**os.environ, **platform.environment}
    for script in ("edge-images.sh", "edge-runtimes.sh"):
        subprocess.run(["bash", f"local/{script}"], cwd=ROOT, env=outer, check=True)
    subnet = subprocess.run(
        ["podman", "network", "inspect", network, "--format", "{{(index .Subnets 0).Subnet}}"],
        env=outer,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    folder = Path(tempfile.mkdtemp(prefix="hearth-box-"))
    platforms = [{"name": NAME, "image": "debian13", "endpoints": [{"id": "box"}]}]
    hosts = ContainerHosts("cluster", folder, platforms, {**platform.environment, "EDGE_NETWORK": network})
    # Both halves read the same file of the claim, and its trust bundles by the same names below their own project.
    beside = platform.stack.file.parent
    project = folder / "project"
    (project / "stacks").mkdir(parents=True)
    try:
        hosts.create()
        shutil.copy(folder / "site/trust/edge-ca.v1.pem", beside / "edge-ca.pem")
        shutil.copytree(beside, project / beside.name, ignore=lambda _, names: {n for n in names if ".pem" not in n})
        claim = claim_of_the_box(platform, beside / "edge-ca.pem", subnet)
        made = Box(platform, hosts, project, claim)
        platform.stack.write(claim)
        made.play("playbooks/edge.yml")
        assert hearth(platform, "set", "--endpoint", REFERENCE, stdin=made.token()).returncode == 0
        platform.stack.up(claim)
        yield made
    finally:
        platform.stack.up(platform.claim)
        hosts.destroy()
        shutil.rmtree(folder)


def test_an_application_gets_its_answer_from_the_host(box: Box) -> None:
    answer = ask(
        box.platform,
        """
r = client.chat.completions.create(model="box", max_tokens=16, messages=[{"role": "user", "content": "Say hello."}])
pieces = [e for e in client.chat.completions.create(model="box", max_tokens=16, stream=True,
    messages=[{"role": "user", "content": "Count to five."}]) if e.choices and e.choices[0].delta.content]
import json; print(json.dumps([r.choices[0].message.content, r.usage.completion_tokens, len(pieces)]))
""",
    )
    text, tokens, pieces = json.loads(answer)
    assert text.strip()
    assert 1 <= tokens <= 16
    assert pieces >= 3


def test_the_token_is_rotated_on_both_sides_without_a_failed_request(box: Box) -> None:
    platform, first = box.platform, box.token()
    rolled_out(platform)
    load = Load(platform, 150, workers=1, model="box")
    box.play("playbooks/rotate.yml", "-e", "hearth_rotate=token-begin")
    done = hearth(platform, "set", "--endpoint", REFERENCE, stdin=box.token(".next"))
    assert done.returncode == 0, done.stderr
    rolled_out(platform)
    box.play("playbooks/rotate.yml", "-e", "hearth_rotate=token-finish")
    assert box.token() != first
    result = load.result()
    assert result.failures == {}, result
    assert result.answered > 20
    assert "changed=0" in box.play("playbooks/edge.yml")
