"""Lookup `hearth.edge.misspelt`: variables that nothing reads, because they are not called so."""

from __future__ import annotations

DOCUMENTATION = r"""
name: misspelt
author: The Hearth authors
short_description: Variables that nothing reads
description:
  - Names the variables of a host that begin with C(hearth_) and that no playbook of the collection reads, and those
    whose name is almost that of an option of a role.
options: {}
"""

EXAMPLES = r"""
- name: Refuse them
  ansible.builtin.assert:
    that: query('hearth.edge.misspelt') | length == 0
"""

RETURN = r"""
_raw:
  description: One text for each variable, with the name that was probably meant.
  type: list
  elements: str
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ansible.module_utils.common.yaml import yaml_load
from ansible.plugins.lookup import LookupBase

PREFIX = "hearth_"
READ = (
    "hearth_certificate",
    "hearth_certificate_key",
    "hearth_certificate_names",
    "hearth_credentials",
    "hearth_endpoint",
    "hearth_endpoints",
    "hearth_environment",
    "hearth_existing_runtime",
    "hearth_full",
    "hearth_hosts",
    "hearth_keep_models",
    "hearth_project",
    "hearth_rotate",
    "hearth_serial",
    "hearth_state_directory",
)
"""What an operator may say (docs/edge.md)."""
OWN = (
    "hearth_bundle",
    "hearth_credential",
    "hearth_files",
    "hearth_folder",
    "hearth_installed",
    "hearth_look",
    "hearth_misspelt",
    "hearth_next_token",
    "hearth_orphans",
    "hearth_packages",
    "hearth_plan",
    "hearth_runtime",
    "hearth_runtime_index",
    "hearth_runtime_is_there",
    "hearth_runtime_key",
    "hearth_sidecar",
    "hearth_sidecar_index",
    "hearth_sidecar_step",
    "hearth_verified",
)
"""What the playbooks set themselves; facts of an earlier play are still there."""
NEAR = 0.8
"""How much alike two names are, behind the role's, of which one is probably meant as the other; 1 is the same."""


def options(roles: Path) -> dict[str, list[str]]:
    """Return the names of the options of each role in a folder, by the beginning that they share."""
    found = {}
    for file in sorted(roles.glob("*/meta/argument_specs.yml")):
        entries = yaml_load(file.read_text(encoding="utf-8"))["argument_specs"].values()
        names = {name for entry in entries for name in entry.get("options") or {}}
        found[f"{file.parents[1].name}_"] = sorted(names)
    return found


def misspelt(names: Iterable[str], known: Mapping[str, Sequence[str]]) -> list[str]:
    """Return what is wrong with these names of variables; `known` are the options of the roles."""
    found = []
    ways = {PREFIX: (READ, 0.5), **{prefix: (own, NEAR) for prefix, own in known.items()}}
    for name in sorted(set(names) - set(OWN)):
        prefix = next((one for one in ways if name.startswith(one)), "")
        if not prefix or name in ways[prefix][0]:
            continue
        rest = [one.removeprefix(prefix) for one in ways[prefix][0]]
        near = difflib.get_close_matches(name.removeprefix(prefix), rest, 1, ways[prefix][1])
        if near:
            found.append(f"{name} (is it {prefix}{near[0]}?)")
        elif prefix == PREFIX:
            found.append(name)
    return found


class LookupModule(LookupBase):
    """Looks at the variables of the host that a task is for."""

    def run(self, _terms: list[str], variables: dict | None = None, **_kwargs: object) -> list[str]:
        """Return one text for each variable."""
        roles = Path(__file__).resolve().parents[2] / "roles"
        return misspelt(variables or {}, options(roles))
