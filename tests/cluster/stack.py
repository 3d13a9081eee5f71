"""A Pulumi stack of the test run: its claim is a plain dictionary, its files are in a temporary folder."""

import copy
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]


class Stack:
    """One stack of the project, with a claim of its own."""

    def __init__(self, name: str, folder: Path, environment: dict[str, str]) -> None:
        self.name = name
        self.file = folder / f"Pulumi.{name}.yaml"
        self.environment = environment
        self._initialised = False
        self.deployed: dict[str, Any] | None = None
        """The claim of the last `up`; none when that failed, and may have done a part."""
        # The stack is made in a project folder of its own, because making it writes a salt into the stack file.
        (folder / "Pulumi.yaml").write_text("name: hearth\nruntime: python\n")

    def _pulumi(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            ["pulumi", *arguments, "--non-interactive", "--color", "never"],
            cwd=ROOT,
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            timeout=1500,
        )
        if check and done.returncode != 0:
            raise AssertionError(f"pulumi {arguments[0]}:\n{done.stdout[-6000:]}\n{done.stderr[-2000:]}")
        return done

    def write(self, claim: dict[str, Any]) -> None:
        salt = {}
        if self.file.exists():
            old = yaml.safe_load(self.file.read_text())
            salt = {key: old[key] for key in ("encryptionsalt",) if key in old}
        config = {f"hearth:{key}": value for key, value in claim.items()}
        # Through JSON, because one dictionary in two places would become a YAML alias, which a claim may not have.
        plain = json.loads(json.dumps({**salt, "config": config}))
        self.file.write_text(yaml.safe_dump(plain, sort_keys=False))

    def _ready(self) -> None:
        if not self._initialised:
            self._pulumi("-C", str(self.file.parent), "stack", "init", self.name, check=False)
            # Without it the project is the checkout again, which file names in the claim are relative to.
            (self.file.parent / "Pulumi.yaml").unlink()
            self._initialised = True

    def up(
        self, claim: dict[str, Any], *, check: bool = True, refresh: bool = False
    ) -> subprocess.CompletedProcess[str]:
        self.write(claim)
        self._ready()
        extra = ["--refresh"] if refresh else []
        self.deployed = None
        done = self._pulumi(
            "up", "-s", self.name, "--config-file", str(self.file), "--yes", "--skip-preview", *extra, check=check
        )
        if done.returncode == 0:
            self.deployed = copy.deepcopy(claim)
        return done

    def preview(self, claim: dict[str, Any], *, check: bool = True) -> subprocess.CompletedProcess[str]:
        self.write(claim)
        self._ready()
        return self._pulumi("preview", "-s", self.name, "--config-file", str(self.file), "--diff", check=check)

    def changes(self, claim: dict[str, Any]) -> list[dict[str, Any]]:
        """Every step of a preview that is not `same`."""
        self.write(claim)
        self._ready()
        text = self._pulumi("preview", "-s", self.name, "--config-file", str(self.file), "--json").stdout
        return [step for step in json.loads(text)["steps"] if step["op"] != "same"]

    def export(self) -> str:
        return self._pulumi("stack", "export", "-s", self.name).stdout
