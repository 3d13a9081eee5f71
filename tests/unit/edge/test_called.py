"""A playbook called by its path from another folder, and with words that nothing reads."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
HOST = (
    "hearth_endpoints: {{hosts: {{localhost: {{ansible_connection: local, ansible_python_interpreter: {python}}}}}}}\n"
)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "hearth:endpoints.nobody: is not in the claim"),
        (("--tags", "sidecar"), "--tags sidecar would do nothing"),
        (("-e", "hearth_endpoins=nobody"), "nothing reads hearth_endpoins (is it hearth_endpoint"),
    ],
    ids=["from another folder", "unknown tag", "misspelt"],
)
def test_what_is_called_is_done_or_refused(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    """Nothing but the folder of the playbook leads to the collection."""
    (tmp_path / "hosts.yml").write_text(HOST.format(python=sys.executable))
    given = ["-e", "hearth_environment=home", "-e", "hearth_endpoint=nobody", "-e", '{"ansible_become": false}']
    program = Path(sys.executable).with_name("ansible-playbook")
    playbook = ROOT / "playbooks/edge.yml"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}
    found = subprocess.run(
        [program, "-i", "hosts.yml", *given, *arguments, playbook],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert found.returncode == 2, found.stdout
    assert said in found.stdout
