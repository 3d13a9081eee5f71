"""What the look of edge.yml says about the hosts of a scenario, without the roles behind it.

Ansible takes longer to begin than to look, so that one play looks as often as it is asked to: at each step something
comes, both hosts are looked at, it goes, and both are looked at again.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.support.edge import ROOT, hosts, play

Drift = dict[str, list[str]]
"""Why the roles have something to do, by host."""
LOOK: dict[str, Any] = {
    "hearth.edge.host_state": {"plan": "{{ hearth_plan }}", "existing_runtime": "{{ hearth_runtime_is_there }}"}
}
UNTIL_HEALTHY: dict[str, Any] = {"retries": 120, "delay": 1}
"""A sidecar asks its runtime every five seconds; nothing else that is found is waited for."""


@dataclass(frozen=True)
class Step:
    """Something that comes and goes."""

    come: Mapping[str, str] = field(default_factory=dict)
    """Shell commands by host."""
    go: Mapping[str, str] = field(default_factory=dict)
    """Those that undo them."""
    here: tuple[str, str] = ("true", "true")
    """The same on the control host."""
    variables: Mapping[str, object] = field(default_factory=dict)
    """Variables of this look alone."""


@dataclass(frozen=True)
class Seen:
    """What the looks of a step said."""

    found: Drift
    """While it was there."""
    after: Drift
    """When it was gone."""


def _shell(name: str, commands: Mapping[str, str], folder: Path) -> dict[str, Any]:
    for host in hosts():
        (folder / f"{host.name}-{name}.sh").write_text(commands.get(host.name, "true") + "\n")
    text = f"{{{{ lookup('ansible.builtin.file', '{folder}/' ~ inventory_hostname ~ '-{name}.sh') }}}}"
    return {"ansible.builtin.command": {"argv": ["/bin/sh", "-eu", "-s"], "stdin": text}}


def _here(command: str) -> dict[str, Any]:
    on_control_host = {"delegate_to": "localhost", "run_once": True, "become": False}
    return {"ansible.builtin.command": {"argv": ["/bin/sh", "-euc", command]}, **on_control_host}


def _tasks(number: int, step: Step, folder: Path) -> list[dict[str, Any]]:
    # no line of the answer says that a sidecar has not heard from its runtime
    heard = f"after_{number}.drift | select('search', ' answers /sidecar/health wrongly') | length == 0"
    return [
        {
            "block": [
                _here(step.here[0]),
                _shell(f"{number}-come", step.come, folder),
                {**LOOK, "register": f"seen_{number}", "vars": dict(step.variables)},
            ],
            "always": [_shell(f"{number}-go", step.go, folder), _here(step.here[1])],
        },
        {**LOOK, "register": f"after_{number}", "until": heard, **UNTIL_HEALTHY},
    ]


def looks(folder: Path, steps: Mapping[str, Step], *arguments: str) -> dict[str, Seen]:
    """Return what is said at each step, by its name.

    Args:
        folder: of the test's own.
        steps: by name, in their order.
        arguments: for ansible-playbook.
    """
    numbers = range(len(steps))
    said = ", ".join(f"'{name}_{number}': {name}_{number}.drift" for number in numbers for name in ("seen", "after"))
    tasks: list[dict[str, Any]] = [{"ansible.builtin.import_tasks": f"{ROOT}/playbooks/tasks/plan.yml"}]
    for number, step in enumerate(steps.values()):
        tasks += _tasks(number, step, folder)
    answer = f"{folder}/{{{{ inventory_hostname }}}}.json"
    keep = {"content": f"{{{{ {{{said}}} | to_json }}}}", "dest": answer, "mode": "0644"}
    tasks.append({"ansible.builtin.copy": keep, "delegate_to": "localhost", "become": False})
    written: dict[str, Any] = {"hosts": "hearth_endpoints", "become": True, "gather_facts": False, "tasks": tasks}
    file = folder / "look.yml"
    file.write_text(yaml.safe_dump([{**written, "vars": {"ansible_pipelining": True}}], sort_keys=False))
    play(str(file), *arguments)
    answers = {host.name: json.loads((folder / f"{host.name}.json").read_text()) for host in hosts()}
    return {
        step: Seen(*({name: one[f"{when}_{number}"] for name, one in answers.items()} for when in ("seen", "after")))
        for number, step in enumerate(steps)
    }


def drift(folder: Path, *arguments: str) -> Drift:
    """Return what one look says.

    Args:
        folder: of the test's own.
        arguments: for ansible-playbook.
    """
    return looks(folder, {"now": Step()}, *arguments)["now"].found
