"""The whole program against Pulumi's mocks: what it declares for a stack's configuration, or what it refuses."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from hearth.claim.loader import load_claim_file
from tests.support.kube_system import cluster_with

ROOT = Path(__file__).resolve().parents[2]
UID = "11111111-2222-3333-4444-555555555555"
"""Identity of the cluster that the program finds."""


def config_of(stack: str) -> dict[str, Any]:
    """Return the configuration of an example stack."""
    return dict(yaml.safe_load((ROOT / f"stacks/Pulumi.{stack}.yaml").read_text())["config"])


def deployed_claim(stack: str) -> str:
    """Return the claim of an example stack as its last deployment recorded it, so that no address is looked up."""
    return load_claim_file(ROOT / f"stacks/Pulumi.{stack}.yaml").claim.model_dump_json(by_alias=True)


@cache
def example(stack: str) -> dict[str, Any]:
    """Return what the program declares for an example stack, which is as if it were deployed already."""
    return declare(stack, config_of(stack), outputs={"claim": deployed_claim(stack)})


def declare(
    stack: str,
    config: dict[str, Any],
    *,
    outputs: dict[str, Any] | None = None,
    root: Path = ROOT,
    secret: tuple[str, ...] = (),
    objects: Sequence[dict[str, Any]] = (),
    **environment: str,
) -> dict[str, Any]:
    """Run the program.

    Args:
        stack: name of the stack.
        config: its configuration by key.
        outputs: what the last update of the stack left as its outputs.
        root: the project's folder.
        secret: keys of the configuration that are encrypted.
        objects: what the cluster has.
        environment: variables beside those of the test; KUBECONFIG is a cluster of the identity `UID` unless given.
    """
    values = {key: value if isinstance(value, str) else json.dumps(value) for key, value in config.items()}
    given = {"config": values, "secret": secret, "outputs": outputs or {}, "root": str(root)}
    with cluster_with(UID, objects) as kubeconfig:
        done = subprocess.run(
            [sys.executable, str(ROOT / "tests/support/run_program.py"), stack],
            input=json.dumps(given),
            capture_output=True,
            text=True,
            cwd=ROOT,
            env={**os.environ, "KUBECONFIG": kubeconfig, "PYTHONPATH": str(ROOT), **environment},
        )
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(json.loads(done.stdout.splitlines()[-1]))
