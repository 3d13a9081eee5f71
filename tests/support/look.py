"""What the look of edge.yml says about the hosts of a scenario, without the roles behind it."""

import json
from pathlib import Path

from tests.support.edge import ROOT, play

PLAY = f"""\
- hosts: hearth_endpoints
  become: true
  gather_facts: false
  vars:
    ansible_pipelining: true
  tasks:
    - ansible.builtin.import_tasks: {ROOT}/playbooks/tasks/plan.yml
    - hearth.edge.host_state:
        plan: "{{{{ hearth_plan }}}}"
        existing_runtime: "{{{{ hearth_runtime_is_there }}}}"
      register: hearth_look
    - ansible.builtin.copy:
        content: "{{{{ hearth_look.drift | to_json }}}}"
        dest: "{{{{ playbook_dir }}}}/{{{{ inventory_hostname }}}}.json"
        mode: "0644"
      delegate_to: localhost
      become: false
"""


def drift(folder: Path, *arguments: str) -> dict[str, list[str]]:
    """Return why the roles have something to do, by host.

    Args:
        folder: of the test's own.
        arguments: for ansible-playbook.
    """
    file = folder / "look.yml"
    file.write_text(PLAY)
    play(str(file), *arguments)
    return {found.stem: json.loads(found.read_text()) for found in folder.glob("*.json")}
