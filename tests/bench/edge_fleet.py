"""edge_fleet.py [HOSTS]: playbooks/edge.yml over one container host, and over many, side by side in one run.

Prints a table for docs/benchmarks.md: seconds for the first installation and for a run that changes nothing, per host,
and as ratios to the run over one host. Needs what `make edge-images` makes; run it by
`local/edge-scenarios.sh bench [HOSTS]`, which sets the environment.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
FORKS = 20


def variables(folder: Path) -> dict[str, Any]:
    """The variables of the scenarios, for this folder in place of Molecule's."""
    text = (ROOT / ".config/molecule/config.yml").read_text(encoding="utf-8")
    text = text.replace("${MOLECULE_EPHEMERAL_DIRECTORY}", str(folder)).replace(
        "${MOLECULE_PROJECT_DIRECTORY}", str(ROOT)
    )
    found: dict[str, Any] = yaml.safe_load(text)["provisioner"]["inventory"]["group_vars"]["all"]
    return found


def ansible(folder: Path, playbook: str, *arguments: str) -> float:
    """Run a playbook and return its seconds; its output is shown when it fails."""
    environment = {
        **os.environ,
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "ANSIBLE_HOST_KEY_CHECKING": "false",
        "MOLECULE_EPHEMERAL_DIRECTORY": str(folder),
        "MOLECULE_SCENARIO_NAME": "fleet",
        "HEARTH_CA_PASSPHRASE": "a passphrase of the benchmark alone",
    }
    command = [
        "ansible-playbook",
        "--forks",
        str(FORKS),
        "-e",
        f"@{folder}/variables.json",
        *arguments,
        str(ROOT / playbook),
    ]
    started = time.monotonic()
    found = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if found.returncode != 0:
        sys.exit(found.stdout[-5000:])
    return time.monotonic() - started


def inventory(folder: Path, names: list[str]) -> None:
    """Write the inventory out of what create.yml says about the connections."""
    hosts = {
        one["instance"]: {
            "ansible_host": one["address"],
            "ansible_user": one["user"],
            "ansible_private_key_file": one["identity_file"],
            "ansible_ssh_common_args": "-o UserKnownHostsFile=/dev/null -o ControlMaster=auto -o ControlPersist=300s",
            "hearth_endpoint": f"llama-{one['instance'].split('.')[0]}",
        }
        for one in yaml.safe_load((folder / "instances.yml").read_text(encoding="utf-8"))
        if one["instance"] in names
    }
    (folder / "inventory.yml").write_text(yaml.safe_dump({"hearth_endpoints": {"hosts": hosts}}), encoding="utf-8")


def main() -> None:
    """Measure, print, and take the hosts away."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    names = [f"host{number:02}.edge.test" for number in range(count)]
    platforms = [
        {"name": name, "image": "debian13", "endpoints": [{"id": f"llama-{name.split('.')[0]}"}]} for name in names
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        given = {
            **variables(folder),
            "molecule_yml": {"platforms": platforms},
            "molecule_instance_config": str(folder / "instances.yml"),
        }
        (folder / "variables.json").write_text(json.dumps(given), encoding="utf-8")
        try:
            ansible(folder, "molecule/shared/create.yml")
            rows = []
            for label, chosen in (("first host", names[:1]), ("the others", names[1:])):
                inventory(folder, chosen)
                use = ["-i", str(folder / "inventory.yml"), "-e", "hearth_serial=100%"]
                rows.append((label, len(chosen), *(ansible(folder, "playbooks/edge.yml", *use) for _ in range(2))))
            inventory(folder, names)
            whole = ["-i", str(folder / "inventory.yml"), "-e", "hearth_serial=100%"]
            rows.append(("all", count, float("nan"), ansible(folder, "playbooks/edge.yml", *whole)))
        finally:
            ansible(folder, "molecule/shared/destroy.yml")
    one_install, one_again = rows[0][2], rows[0][3]
    print("| run | hosts | install, s | per host, ratio to one | no change, s | per host, ratio to one |")
    print("| --- | --- | --- | --- | --- | --- |")
    for label, hosts, install, again in rows:
        print(
            f"| {label} | {hosts} | {install:.0f} | {install / hosts / one_install:.2f} "
            f"| {again:.0f} | {again / hosts / one_again:.2f} |".replace("nan", "–")
        )


if __name__ == "__main__":
    main()
