"""The whole program against Pulumi's mocks: what it declares for each example stack, and what it refuses."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from hearth.claim.loader import load_claim_file

ROOT = Path(__file__).resolve().parents[2]

# Pulumi keeps its settings in globals, so that every run gets a process of its own.
RUNNER = """
import json, sys
import pulumi
from pulumi.runtime.config import set_all_config
from pulumi.runtime.mocks import MockMonitor

stack, values = sys.argv[1], json.load(sys.stdin)
seen, deployed, aliases = [], values.pop("deployed", None), {}
pulumi.get_root_directory = lambda: "."

class Recorder(pulumi.runtime.Mocks):
    def new_resource(self, args):
        outputs = dict(args.inputs)
        for name in ("value", "certificate", "private_key", "team_id", "alias"):
            if name in outputs and outputs[name] is None or args.typ.startswith("pulumi-python:"):
                outputs[name] = f"made-{args.name}-{name}"
        seen.append([args.typ, args.name, args.inputs])
        return [f"{args.name}-id", outputs]

    def call(self, args):
        return {"outputs": {"claim": deployed} if deployed else {}}

# Mocks are told nothing of aliases; what receives a resource before them is.
registered = MockMonitor.RegisterResource

def register(monitor, request):
    aliases[f"{request.type}|{request.name}"] = [alias.spec.name for alias in request.aliases]
    return registered(monitor, request)

MockMonitor.RegisterResource = register
pulumi.runtime.set_mocks(Recorder(), project="hearth", stack=stack, preview=False)
set_all_config(values)

@pulumi.runtime.test
def main():
    from hearth.cluster.program import run
    run()

try:
    main()
except pulumi.RunError as error:
    print(json.dumps({"refused": str(error)}))
else:
    print(json.dumps({"resources": [[typ, name] for typ, name, _ in seen], "aliases": aliases,
                      "inputs": {f"{typ}|{name}": inputs for typ, name, inputs in seen}}, default=str))
"""


def declare(stack: str, config: dict[str, Any], *, deployed: str | None = None, **environment: str) -> dict[str, Any]:
    values: dict[str, Any] = {
        key: value if isinstance(value, str) else json.dumps(value) for key, value in config.items()
    }
    values["deployed"] = deployed
    done = subprocess.run(
        [sys.executable, "-c", RUNNER, stack],
        input=json.dumps(values),
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(json.loads(done.stdout.splitlines()[-1]))


def config_of(stack: str) -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / f"stacks/Pulumi.{stack}.yaml").read_text())["config"])


def kinds(result: dict[str, Any]) -> list[str]:
    return [typ for typ, _ in result["resources"]]


@pytest.fixture(scope="module")
def local() -> dict[str, Any]:
    return declare("local", config_of("local"))


def test_the_local_stack_declares_one_of_everything(local: dict[str, Any]) -> None:
    names = {f"{typ}|{name}" for typ, name in local["resources"]}
    assert {
        "kubernetes:core/v1:Namespace|Namespace:system-llm",
        "kubernetes:core/v1:PersistentVolumeClaim|PersistentVolumeClaim:system-llm/llm-database-data",
        "kubernetes:apps/v1:StatefulSet|StatefulSet:system-llm/llm-database",
        "kubernetes:batch/v1:Job|Job:system-llm/llm-migrations",
        "kubernetes:apps/v1:Deployment|Deployment:system-llm/llm-gateway",
        "kubernetes:apps/v1:Deployment|Deployment:system-llm/llm-gemma",
        "kubernetes:apps/v1:Deployment|Deployment:system-llm/vllm-inference",
        "pulumi-python:dynamic/hearth:Team|family",
        "pulumi-python:dynamic/hearth:AppKey|family--notes",
        "pulumi-python:dynamic/hearth:CredentialsSecret|family--notes",
        "pulumi-python:dynamic/hearth:PersonBudget|hearth-person",
    } <= names


def test_an_app_that_does_not_declare_the_gateway_gets_neither_key_nor_secret(local: dict[str, Any]) -> None:
    assert not [name for _, name in local["resources"] if "photos" in name]


def test_nothing_has_a_public_address(local: dict[str, Any]) -> None:
    assert not {kind for kind in kinds(local) if kind.endswith((":Ingress", ":HTTPRoute", ":Gateway"))}
    services = [inputs for key, inputs in local["inputs"].items() if key.startswith("kubernetes:core/v1:Service|")]
    assert services
    assert {service["spec"]["type"] for service in services} == {"ClusterIP"}


def test_a_disabled_gateway_declares_nothing_at_all() -> None:
    config = config_of("local")
    config = {"hearth:llm": {**config["hearth:llm"], "enabled": False}, "hearth:policy": config["hearth:policy"]}
    assert declare("local", config)["resources"] == [["hearth:index:Platform", "local"]]


def deployed_claim(stack: str) -> str:
    return load_claim_file(ROOT / f"stacks/Pulumi.{stack}.yaml").claim.model_dump_json(by_alias=True)


@pytest.mark.parametrize("stack", ["home", "dev"])
def test_the_other_examples_are_declared_too(stack: str) -> None:
    """Their providers were deployed before, so that no address is looked up (S3-25)."""
    result = declare(stack, config_of(stack), deployed=deployed_claim(stack))
    assert "refused" not in result, result["refused"]
    assert "kubernetes:apps/v1:Deployment" in kinds(result)


def test_an_external_database_needs_a_cluster_that_is_named(tmp_path: Path) -> None:
    claim = deployed_claim("production")
    missing = str(tmp_path / "missing")
    result = declare("production", config_of("production"), deployed=claim, KUBECONFIG=missing)
    assert f"the kubeconfig {missing} does not lead to a cluster" in result["refused"]


def test_a_refused_claim_says_everything_at_once_and_declares_nothing() -> None:
    config = config_of("local")
    config["hearth:llm"] = {**config["hearth:llm"], "gpuAcceleration": "maybe", "planted": "sk-planted-secret-0123"}
    config["hearth:aliases"] = {"gemma": {"deployments": ["nobody"], "residency": ["home"]}}
    refused = declare("local", config)["refused"]
    assert "hearth:llm.gpuAcceleration" in refused
    assert "hearth:llm.planted" in refused
    assert "hearth:aliases" in refused
    assert "sk-planted-secret-0123" not in refused
