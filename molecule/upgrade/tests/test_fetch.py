"""What the control host fetches is checked once in a run, not once for each host."""

import hashlib
import os
import subprocess
from pathlib import Path

from tests.support.edge import ROOT, ephemeral

PLAY = """\
- hosts: all
  connection: local
  gather_facts: false
  serial: 1
  tasks:
    - ansible.builtin.include_role: {name: hearth.edge.common, tasks_from: fetch}
  vars:
    __common_fetch_name: a file
    __common_fetch_file: "{{ file }}"
    __common_fetch_url: ""
    __common_fetch_sha256: "{{ sha256 }}"
"""


def fetch(folder: Path, sha256: str) -> str:
    (folder / "fetch.yml").write_text(PLAY)
    environment = {**os.environ, "ANSIBLE_CONFIG": str(ephemeral() / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"}
    environment["MOLECULE_PROJECT_DIRECTORY"] = str(ROOT)
    variables = ["-e", f"file={folder / 'file'}", "-e", f"sha256={sha256}"]
    command = ["ansible-playbook", "-i", "one,two,three,", *variables, str(folder / "fetch.yml")]
    found = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return found.stdout


def test_a_file_is_read_for_the_first_host_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("archive")
    found = fetch(tmp_path, hashlib.sha256(b"archive").hexdigest())
    assert found.count("failed=0") == 3, found
    assert found.count("ok: [one -> localhost]") == 2, found  # read, and remembered
    assert "[two -> localhost]" not in found
    assert "[three -> localhost]" not in found
    assert "not the declared" in fetch(tmp_path, "0" * 64)
