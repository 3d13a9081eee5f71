"""A run that has nothing to do, or does not know what, does not end as a success."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("hosts.claim.yml", "plugin: hearth.edge.claim\nenvironment: none\n", "Completely failed to parse"),
        ("hosts.yml", "hearth_endpoints: {hosts: {}}\n", "The inventory has no host in hearth_endpoints"),
    ],
    ids=["cannot be read", "empty"],
)
@pytest.mark.parametrize("playbook", ["edge", "remove", "rotate"])
def test_an_inventory_without_hosts(tmp_path: Path, playbook: str, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)
    found = subprocess.run(
        [
            str(Path(sys.executable).with_name("ansible-playbook")),
            "-i",
            str(tmp_path / name),
            f"playbooks/{playbook}.yml",
            "--check",
        ],
        cwd=ROOT,
        env={**os.environ, "ANSIBLE_NOCOLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert found.returncode != 0
    assert said in " ".join(found.stdout.split())


def test_a_host_that_no_name_server_knows_is_reached_at_the_address_in_the_claim(tmp_path: Path) -> None:
    (tmp_path / "stacks").mkdir()
    shutil.copytree(ROOT / "trust", tmp_path / "trust")
    text = (ROOT / "stacks/Pulumi.home.yaml").read_text()
    said = "        networkZoneId: home-model-lan\n"
    assert text.count(said) == 1
    (tmp_path / "stacks/Pulumi.home.yaml").write_text(text.replace(said, said + "        address: 192.168.1.20\n"))
    (tmp_path / "hosts.claim.yml").write_text("plugin: hearth.edge.claim\nenvironment: home\nproject: .\n")
    found = subprocess.run(
        [
            str(Path(sys.executable).with_name("ansible-inventory")),
            "-i",
            str(tmp_path / "hosts.claim.yml"),
            "--host",
            "ollama.home.arpa",
        ],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    host = json.loads(found.stdout)
    assert (host["ansible_host"], host["hearth_endpoints"]) == ("192.168.1.20", ["ollama-home"])
