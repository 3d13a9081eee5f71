"""What the control host fetches is checked once in a run, not once for each host."""

import hashlib
from pathlib import Path

from tests.support.edge import on_control_host

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
    given = ["-e", f"file={folder / 'file'}", "-e", f"sha256={sha256}"]
    return on_control_host(folder, PLAY, ["one", "two", "three"], *given)


def test_a_file_is_read_for_the_first_host_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("archive")
    found = fetch(tmp_path, hashlib.sha256(b"archive").hexdigest())
    assert found.count("failed=0") == 3, found
    assert found.count("ok: [one -> localhost]") == 2, found  # read, and remembered
    assert "[two -> localhost]" not in found
    assert "[three -> localhost]" not in found
    assert "not the declared" in fetch(tmp_path, "0" * 64)
