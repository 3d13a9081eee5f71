#!/usr/bin/python
"""Module `hearth.edge.host_state`: everything that the roles look at on a host, read at once."""

from __future__ import annotations

DOCUMENTATION = r"""
module: host_state
author: The Hearth authors
short_description: Read at once what the roles look at, and compare it with what the last whole run left
description:
  - Reads files, units, packages, users and rules of a host, asks the questions that the roles ask, and compares the
    answers with the record that the last whole run of the roles left behind. Changes nothing but that record.
  - On the control host an action plugin of the same name says what is read, out of the plan, and judges the answers.
    With O(plan) alone the module is never called for itself.
options:
  plan:
    description: The plan of the host, as C(hearth.edge.host_plan) returns it.
    type: dict
  existing_runtime:
    description: Whether somebody else runs the model servers.
    type: bool
    default: false
  trees:
    description: Patterns of paths; each path that matches is read with everything below it.
    type: list
    elements: str
    default: []
  whole:
    description: Folders whose files are read whole however large they are, as the models are.
    type: list
    elements: str
    default: []
  files:
    description: Files that are read whole and may lie behind links.
    type: list
    elements: str
    default: []
  units:
    description: Units of systemd whose state is read.
    type: list
    elements: str
    default: []
  packages:
    description: Debian packages whose version and status are read.
    type: list
    elements: str
    default: []
  users:
    description: Users that are read, each with its group.
    type: list
    elements: str
    default: []
  questions:
    description:
      - Programs that read only, by name, each with C(argv) and with C(compared), a regular expression. The lines of the
        answer that it finds have to be those of the last whole run.
    type: dict
    default: {}
  inputs:
    description: Digests of everything on the control host that decides over the roles, by name.
    type: dict
    default: {}
  remember:
    description:
      - Write the record instead of comparing with it. Only a run that went through all roles without an error may.
      - The inputs are those that the same action found before the roles began.
    type: bool
    default: false
  record:
    description: Path of the record.
    type: path
    default: /var/lib/hearth/converged.json
attributes:
  check_mode:
    description: Reads in check mode too, and never writes then.
    support: full
"""

EXAMPLES = r"""
- name: Look whether the roles have anything to do
  hearth.edge.host_state:
    plan: "{{ hearth_plan }}"
  register: hearth_look

- name: Remember what this run has left
  hearth.edge.host_state:
    plan: "{{ hearth_plan }}"
    inputs: "{{ hearth_look.inputs }}"
    remember: true
"""

RETURN = r"""
drift:
  description: Why the roles have something to do, one text each; empty when they have nothing to do.
  type: list
  elements: str
  returned: always
inputs:
  description: Digests of everything on the control host that decides over the roles, by name.
  type: dict
  returned: always
ends:
  description: Day on which the certificate ends, by endpoint.
  type: dict
  returned: when it is not to be remembered
shut:
  description: Ports that the firewall shuts, as C(hearth.edge.shut_ports) returns them.
  type: list
  elements: dict
  returned: when it is not to be remembered
answers:
  description: The lines that each question was answered with; the action plugin keeps them to itself.
  type: dict
  returned: never
"""

import glob
import grp
import hashlib
import json
import os
import pwd
import re
import stat
import subprocess
from collections.abc import Iterable, Mapping, Sequence

from ansible.module_utils.basic import AnsibleModule

SMALL = 1 << 20
"""Files up to this many bytes are read whole; a larger one outside C(whole) is of a release, which goes by its size."""


def digest(path: str) -> str:
    """Return the digest of a file's content."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def name_of(number: int, of_group: bool) -> str:
    """Return the name of a user or a group; the number when it has none."""
    try:
        return grp.getgrgid(number).gr_name if of_group else pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def described(path: str, whole: Sequence[str]) -> str:
    """Say what lies at a path: kind, mode, owner, group, and what is in it."""
    found = os.lstat(path)
    head = f"{oct(stat.S_IMODE(found.st_mode))[2:]} {name_of(found.st_uid, False)} {name_of(found.st_gid, True)}"
    if stat.S_ISLNK(found.st_mode):
        return f"link {head} {os.readlink(path)}"
    if stat.S_ISDIR(found.st_mode):
        return f"folder {head}"
    if not stat.S_ISREG(found.st_mode):
        return f"other {stat.S_IFMT(found.st_mode)} {head}"
    if found.st_size <= SMALL or any(path.startswith(folder + "/") for folder in whole):
        return f"file {head} {digest(path)}"
    return f"file {head} {found.st_size} bytes"


def read_trees(patterns: Iterable[str], whole: Sequence[str], without: str) -> dict[str, str]:
    """Describe every path that matches one of the patterns, and everything below it."""
    found = {}
    paths = [path for pattern in patterns for path in glob.glob(pattern)]
    while paths:
        path = paths.pop()
        try:
            found[f"file {path}"] = described(path, whole)
            if os.path.isdir(path) and not os.path.islink(path):
                paths += [os.path.join(path, name) for name in os.listdir(path)]
        except FileNotFoundError:
            continue  # it went while the others were read
    for path in (without, f"{without}.new"):
        found.pop(f"file {path}", None)
    return found


def read_files(paths: Iterable[str]) -> dict[str, str]:
    """Describe files, wherever links lead to."""
    found = {}
    for path in paths:
        real = os.path.realpath(path)
        found[f"file {path}"] = f"{real} {digest(real)}" if os.path.isfile(real) else "nothing"
    return found


def said(*command: str) -> str:
    """Return what a program prints; its exit code too when it fails, `missing` when it is not there."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)  # noqa: S603
    except OSError:
        return "missing"
    text = done.stdout.decode(errors="replace")
    return text if done.returncode == 0 else f"{text}\nfailed {done.returncode}"


def read_units(names: Sequence[str]) -> dict[str, str]:
    """Return what systemd says about units."""
    if not names:
        return {}
    properties = "Id,ActiveState,UnitFileState,NeedDaemonReload,FragmentPath,DropInPaths"
    blocks = said("systemctl", "show", f"--property={properties}", *names).strip().split("\n\n")
    if len(blocks) != len(names):
        return {f"unit {name}": "unknown" for name in names}
    return {f"unit {name}": " ".join(sorted(block.split("\n"))) for name, block in zip(names, blocks, strict=True)}


def read_packages(names: Sequence[str]) -> dict[str, str]:
    """Return version and status of packages; none for those that dpkg does not know."""
    if not names:
        return {}
    form = "--showformat=${Package} ${Version} ${db:Status-Status}\\n"
    lines = [line.split(" ", 1) for line in said("dpkg-query", "--show", form, *names).splitlines() if " " in line]
    return {f"package {line[0]}": line[1] for line in lines if line[0] in names}


def read_users(names: Iterable[str]) -> dict[str, str]:
    """Return what the roles say about their users."""
    found = {}
    for name in names:
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        group = name_of(user.pw_gid, True)
        found[f"user {name}"] = f"{user.pw_uid} {group} {user.pw_dir} {user.pw_shell}"
    return found


def read_system() -> dict[str, str]:
    """Return what the roles ask Ansible's facts for: the distribution, the processor, who is PID 1."""
    with open("/proc/1/comm", encoding="utf-8") as file:
        first = file.read().strip()
    return {
        "the distribution": digest("/etc/os-release"),
        "the processor's architecture": os.uname().machine,
        "PID 1": first,
    }


def compared(answer: str, expression: str) -> str:
    """Return the lines of an answer in which an expression is found."""
    return "\n".join(line for line in answer.splitlines() if re.search(expression, line))


def not_running(state: Mapping[str, str]) -> list[str]:
    """Name the units that do not run as they are written, or would not after a boot."""
    wanted = {"ActiveState=active", "UnitFileState=enabled", "NeedDaemonReload=no"}
    return [
        f"{name}: {', '.join(sorted(part for part in value.split() if part.split('=')[0] in KEYS))}"
        for name, value in state.items()
        if name.startswith("unit ") and not wanted <= set(value.split())
    ]


def differences(known: Mapping[str, str], found: Mapping[str, str], words: str) -> list[str]:
    """Name what is not as it is known."""
    texts = []
    for name in sorted({*known, *found}):
        if name not in found:
            texts.append(f"{name}: gone{words}")
        elif name not in known:
            texts.append(f"{name}: new{words}")
        elif known[name] != found[name]:
            texts.append(f"{name}: changed{words}")
    return texts


def recorded(path: str) -> dict[str, dict[str, str]] | None:
    """Return what the last whole run left; none when there is no such thing, or nothing that can be read."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        return {part: {str(key): str(value) for key, value in found[part].items()} for part in ("inputs", "state")}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def drifted(path: str, inputs: Mapping[str, str], state: Mapping[str, str]) -> list[str]:
    """Say what is not as the last whole run left it."""
    before = recorded(path)
    if before is None:
        return ["no whole run has left its record here"]
    return [
        *not_running(state),
        *differences(before["inputs"], inputs, " on the control host since the last whole run"),
        *differences(before["state"], state, " since the last whole run"),
    ]


def keep(path: str, inputs: Mapping[str, str], state: Mapping[str, str]) -> None:
    """Write the record whole or not at all; root alone reads it."""
    text = json.dumps({"inputs": inputs, "state": state}, indent=1, sort_keys=True) + "\n"
    with open(os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{path}.new", path)


def main() -> None:
    """Run as Ansible's module."""
    options = {
        "plan": {"type": "dict"},
        "existing_runtime": {"type": "bool", "default": False},
        **{name: {"type": "list", "elements": "str", "default": []} for name in LISTS},
        "questions": {"type": "dict", "default": {}},
        "inputs": {"type": "dict", "default": {}},
        "remember": {"type": "bool", "default": False},
        "record": {"type": "path", "default": "/var/lib/hearth/converged.json"},
    }
    module = AnsibleModule(argument_spec=options, supports_check_mode=True)
    given = module.params
    answers = {name: said(*map(str, one["argv"])) for name, one in given["questions"].items()}
    state = {
        **read_trees(given["trees"], given["whole"], given["record"]),
        **read_files(given["files"]),
        **read_units(given["units"]),
        **read_packages(given["packages"]),
        **read_users(given["users"]),
        **read_system(),
        **{
            name: hashlib.sha256(compared(answers[name], str(one["compared"])).encode()).hexdigest()
            for name, one in given["questions"].items()
            if one.get("compared")
        },
    }
    if given["remember"]:
        if not module.check_mode:
            keep(given["record"], given["inputs"], state)
        module.exit_json(changed=False, drift=[], inputs=given["inputs"])
    module.exit_json(changed=False, drift=drifted(given["record"], given["inputs"], state), answers=answers)


KEYS = ("ActiveState", "UnitFileState", "NeedDaemonReload")
"""Properties of a unit that are one way alone."""
LISTS = ("trees", "whole", "files", "units", "packages", "users")
"""Options that name what is read."""

if __name__ == "__main__":
    main()
