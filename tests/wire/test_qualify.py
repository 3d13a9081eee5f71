"""`hearth qualify` as it is typed: from an endpoint without evidence to a route, and back when it fails."""

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from hearth.claim.claim import Claim
from hearth.cli import qualify as command
from hearth.cli.main import main
from hearth.compile.digests import isolation_document
from hearth.compile.sidecar import host_layout
from hearth.evidence.store import evidence_file
from hearth.probe.run import own_namespace
from hearth.topology.resolve import resolve
from tests.support import claims
from tests.support.proxy_claims import capacity
from tests.support.scripted_runtime import ScriptedRuntime
from tests.wire.sidecar_bench import ENDPOINT, TOKEN, Bench, running_sidecar

pytestmark = pytest.mark.wire

HOST = "llama.home.arpa"
VALUES = claims.overlay(
    claims.BASE,
    {
        "networkZones": {"lan": {"dnsNames": [HOST], "cidrs": ["10.77.0.0/24"], "ports": [8443]}},
        "endpoints": {
            ENDPOINT: claims.endpoint(
                ENDPOINT,
                f"https://{HOST}:8443/v1",
                # The namespace of these tests has no name server, as a home has none.
                {**claims.private_tls("lan", "home-ca", "light_gateway_sidecar"), "address": "10.77.0.1"},
                sidecar={"maxRequestBytes": 262_144, "maxResponseBytes": 1_048_576},
                runtime=claims.runtime({"file": "/models/m.gguf"}, placement="host"),
                runtimeCapacity=capacity(2, 2),
            )
        },
        "deployments": {"llama": claims.deployment(ENDPOINT, "chat")},
        "aliases": {"llama": claims.alias("llama")},
    },
)


@pytest.fixture(scope="module")
def bench(haproxy_binary: str, folder: Path) -> Iterator[Bench]:
    values = {**VALUES, "trustBundles": {"home-ca": {"version": 1, "file": "trust/ca.pem", "sha256": "0" * 64}}}
    claim = Claim.model_validate_json(json.dumps(values))
    layout = host_layout(resolve(claim).endpoint(ENDPOINT))
    shorter = {"check inter 5s": "check inter 200ms"}
    with running_sidecar(haproxy_binary, folder, claim, layout=layout, shorter=shorter, name=HOST) as running:
        yield running


@pytest.fixture
def project(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with the claim, a runner's key that it believes, and what the host says."""
    bench.upstream.behaviour = ScriptedRuntime()
    folder = tmp_path / "project"
    (folder / "stacks").mkdir(parents=True)
    (folder / "trust").mkdir()
    (folder / "trust" / "ca.pem").write_text(bench.authority.pem)
    bundle = {"version": 1, "file": "trust/ca.pem", "sha256": hashlib.sha256(bench.authority.pem.encode()).hexdigest()}
    values = {**VALUES, "trustBundles": {"home-ca": bundle}}
    # The stack is called otherwise than the environment, whose folders the keys and the evidence lie in.
    own = {**values, "environment": "home"}
    stack = {"config": {f"hearth:{key}": value for key, value in own.items()}}
    (folder / "stacks" / "Pulumi.box.yaml").write_text(yaml.safe_dump(stack))
    upstream = resolve(Claim.model_validate_json(json.dumps(values))).endpoint(ENDPOINT)
    write_facts(tmp_path, {"machineSha256": "ab" * 32, "inode": 1, "podUid": None}, isolation_document(upstream, 8081))
    (tmp_path / "token").write_text(TOKEN + "\n")
    monkeypatch.chdir(folder)
    assert run("runner-key", "new", "home-1", "-s", "home", "-o", str(tmp_path / "home-1.pem")) == 0
    return folder


def write_facts(folder: Path, namespace: dict[str, Any], isolation: dict[str, Any]) -> None:
    (folder / "facts.json").write_text(json.dumps({"networkNamespace": namespace, "isolation": isolation}))


def run(*arguments: str) -> int:
    """Return the exit code of a command line."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["hearth", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
    return int(ended.value.code or 0)


def qualified(project: Path, *more: str) -> int:
    files = project.parent
    named = ["--key", str(files / "home-1.pem"), "--key-id", "home-1", "--credential", str(files / "token")]
    return run("qualify", ENDPOINT, "-s", "box", *named, "--facts", str(files / "facts.json"), *more)


def withheld(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    capsys.readouterr()
    assert run("check", "-s", "box", "--json") == 0
    found: dict[str, str] = json.loads(capsys.readouterr().out)["withheld"]
    return found


def test_from_nothing_to_a_route_and_back(bench: Bench, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert withheld(capsys) == {ENDPOINT: "evidence_missing"}
    assert qualified(project) == 0
    written = capsys.readouterr()
    assert f"{ENDPOINT}: passed (" in written.out
    assert "passed  transport.chain_and_name days_left=" in written.err
    assert run("evidence", "verify", ENDPOINT, "-s", "box") == 0
    assert withheld(capsys) == {}
    # A newer failure supersedes it, and the older document is still there.
    bench.upstream.behaviour = ScriptedRuntime("no usage")
    assert qualified(project, "--json") == 11
    shown = json.loads(capsys.readouterr().out)
    assert (shown["state"], shown["failed"], shown["skipped"]) == ("failed", 1, 0)
    assert withheld(capsys) == {ENDPOINT: "state_failed"}
    file = evidence_file(project, "home", ENDPOINT)
    assert json.loads(file.with_name(f"{ENDPOINT}.previous.json").read_text())["state"] == "passed"
    bench.upstream.behaviour = ScriptedRuntime()
    assert qualified(project) == 0
    assert withheld(capsys) == {}
    secrets = [TOKEN, "".join((project.parent / "home-1.pem").read_text().splitlines()[1:-1])]
    stored = "".join(path.read_text() for path in file.parent.glob("*.json"))
    assert not [secret for secret in secrets if secret in stored + written.out + written.err]


def test_what_would_count_for_nothing_is_refused_before_a_request(
    bench: Bench, project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    files, own = project.parent, own_namespace()
    bench.upstream.reset()
    isolation = json.loads((files / "facts.json").read_text())["isolation"]

    def refused(message: str, *more: str) -> None:
        capsys.readouterr()
        assert qualified(project, *more) == 2
        assert message in capsys.readouterr().err
        assert not evidence_file(project, "home", ENDPOINT).exists()

    refused("does not name this key in the trust store", "--key-id", "home-2")
    refused("--credential: cannot be read", "--credential", str(files / "nothing"))
    (files / "two").write_text("two words")
    refused("holds no credential of one line", "--credential", str(files / "two"))
    refused("--facts: is not what a host says", "--facts", str(files / "token"))
    (files / "home-1.pem").chmod(0o644)
    refused("can be read by others")
    (files / "home-1.pem").chmod(0o600)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1")
    refused("POD_UID: is not set, and this process runs in a Pod")
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST")
    write_facts(files, own.model_dump(mode="json", by_alias=True), isolation)
    refused("was not measured: the runner is not shown to stand outside")
    assert run("runner-key", "revoke", "home-1", "-s", "home") == 0
    refused("does not name this key in the trust store")
    assert bench.upstream.connections == 0


def test_one_run_at_a_time(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with command._alone(evidence_file(project, "home", ENDPOINT).parent):
        assert qualified(project) == 2
    assert "runs already for this environment" in capsys.readouterr().err
    assert os.listdir(project / "evidence" / "home") == [".qualify.lock"]
