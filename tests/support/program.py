"""The whole program against Pulumi's mocks: what it declares for a stack's configuration, or what it refuses."""

import atexit
import json
import os
import subprocess
import sys
import tempfile
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
    given = {"stack": stack, "config": values, "secret": secret, "outputs": outputs or {}, "root": str(root)}
    with cluster_with(UID, objects) as kubeconfig, tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        variables = {**os.environ, "KUBECONFIG": kubeconfig, **environment}
        _programs().ask({**given, "environment": variables, "answer": str(answer)})
        return dict(json.loads(answer.read_text()))


class _Programs:
    """The process that runs the program, in a fork for each question."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(ROOT / "tests/support/run_program.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        atexit.register(self.end)

    def ask(self, question: dict[str, Any]) -> None:
        """Let it answer a question into the file that the question names."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(question), file=self._process.stdin, flush=True)
        said = self._process.stdout.readline().strip()
        file = Path(question["answer"])
        assert said == "0", (said, file.read_text()[-3000:] if file.exists() else "nothing was written")

    def end(self) -> None:
        """It ends when there are no more questions."""
        self._process.communicate()


_programs = cache(_Programs)
