"""A run that has nothing to do, or does not know what, does not end as a success."""

import os
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
