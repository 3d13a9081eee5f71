"""Container hosts outside Molecule, made, installed and deleted by the files of its scenarios."""

import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
PASSPHRASE = "a passphrase of the tests alone"
SSH_OPTIONS = "-o UserKnownHostsFile=/dev/null -o ControlMaster=auto -o ControlPersist=300s"


class ContainerHosts:
    """Hosts that live as long as they are needed, with the scenarios' variables for a folder in place of Molecule's.

    Needs what `make edge-images` makes.
    """

    def __init__(
        self, name: str, folder: Path, platforms: Sequence[Mapping[str, Any]], environment: Mapping[str, str]
    ) -> None:
        """Describe the hosts; nothing is started yet.

        Args:
            name: takes the place of a scenario's name, and is part of the containers' names.
            folder: for keys, inventory, the authority and the tokens.
            platforms: the hosts as in a molecule.yml.
            environment: what podman and the playbooks need beside the process's own.
        """
        self.folder = folder
        self.platforms = platforms
        self.environment = {
            **os.environ,
            **environment,
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_HOST_KEY_CHECKING": "false",
            "MOLECULE_EPHEMERAL_DIRECTORY": str(folder),
            "MOLECULE_SCENARIO_NAME": name,
            "HEARTH_CA_PASSPHRASE": PASSPHRASE,
        }
        given = {
            **self._variables(),
            "molecule_yml": {"platforms": platforms},
            "molecule_instance_config": str(folder / "instances.yml"),
        }
        (folder / "variables.json").write_text(json.dumps(given), encoding="utf-8")

    def _variables(self) -> dict[str, Any]:
        text = (ROOT / ".config/molecule/config.yml").read_text(encoding="utf-8")
        text = text.replace("${MOLECULE_EPHEMERAL_DIRECTORY}", str(self.folder))
        text = text.replace("${MOLECULE_PROJECT_DIRECTORY}", str(ROOT))
        found: dict[str, Any] = yaml.safe_load(text)["provisioner"]["inventory"]["group_vars"]["all"]
        return found

    def create(self) -> None:
        """Start the hosts, and make an authority with its trust bundle in the folder `site`."""
        self.play("molecule/shared/create.yml")

    def destroy(self) -> None:
        """Delete the hosts."""
        self.play("molecule/shared/destroy.yml")

    def _instances(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = yaml.safe_load((self.folder / "instances.yml").read_text(encoding="utf-8"))
        return found

    def address(self, name: str) -> str:
        """Return the address of a host that was created."""
        (found,) = (str(one["address"]) for one in self._instances() if one["instance"] == name)
        return found

    def inventory(self, names: Sequence[str]) -> Path:
        """Write an inventory of some of the hosts, out of what create.yml says about the connections."""
        endpoints = {one["name"]: [endpoint["id"] for endpoint in one["endpoints"]] for one in self.platforms}
        hosts = {
            one["instance"]: {
                "ansible_host": one["address"],
                "ansible_user": one["user"],
                "ansible_private_key_file": one["identity_file"],
                "ansible_ssh_common_args": SSH_OPTIONS,
                "hearth_endpoints": endpoints[one["instance"]],
            }
            for one in self._instances()
            if one["instance"] in names
        }
        file = self.folder / "inventory.yml"
        file.write_text(yaml.safe_dump({"hearth_endpoints": {"hosts": hosts}}), encoding="utf-8")
        return file

    def play(self, playbook: str, *arguments: str) -> tuple[str, float]:
        """Run a playbook of the repository; return its output and its seconds.

        Raises:
            AssertionError: it failed, with the end of its output.
        """
        command = ["ansible-playbook", "-e", f"@{self.folder}/variables.json", *arguments, str(ROOT / playbook)]
        started = time.monotonic()
        found = subprocess.run(
            command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT
        )
        if found.returncode != 0:
            raise AssertionError(f"{playbook} failed:\n{found.stdout[-6000:]}")
        return found.stdout, time.monotonic() - started
