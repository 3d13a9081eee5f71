"""Filter `hearth.edge.summary`: what a run of edge.yml says at its end about a host."""

from __future__ import annotations

DOCUMENTATION = r"""
name: summary
author: The Hearth authors
short_description: What a host serves, and what its operator should know
description:
  - One line for each endpoint, and one for each warning, so that nobody has to look for them in the output of the run.
options:
  _input:
    description: The plan of the host, as C(hearth.edge.host_plan) returns it.
    type: dict
    required: true
  host:
    description: Name of the host in the inventory.
    type: str
    required: true
  ends:
    description: Day on which the certificate ends, by endpoint.
    type: dict
    default: {}
  existing:
    description: Whether somebody else runs the model server.
    type: bool
    default: false
  shut:
    description: Ports that the firewall shuts, as C(hearth.edge.shut_ports) returns them.
    type: list
    elements: dict
    default: []
"""

EXAMPLES = r"""
- name: Say what the host serves
  ansible.builtin.debug:
    msg: "{{ hearth_plan | hearth.edge.summary(inventory_hostname) }}"
"""

RETURN = r"""
_value:
  description: The lines.
  type: list
  elements: str
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any


def summary(
    plan: Mapping[str, Any],
    host: str,
    ends: Mapping[str, str] | None = None,
    existing: bool = False,
    shut: Sequence[Mapping[str, Any]] = (),
) -> list[str]:
    """Return the lines: the endpoints first, then the warnings."""
    lines = []
    for one in plan["sidecars"]:
        line = f"{host}: {one['endpoint']} at https://{one['host']}:{one['port']}/v1"
        if end := (ends or {}).get(one["endpoint"]):
            line += f"; its certificate ends on {end}, and only another run replaces it before"
        lines.append(line)
    lines += [
        f"{host}: {one['name']} on port {one['port']} in plaintext"
        for one in plan["runtimes"]
        if one["plaintext_sources"]
    ]
    warnings = list(plan["warnings"])
    if existing:
        warnings.append("somebody else runs the model server, so that its models, bounds and hardening are not checked")
    if shut:
        warnings.append(f"the firewall lets nobody reach {', '.join(one['shown'] for one in shut)}")
    return lines + [f"WARNING {host}: {text}" for text in warnings]


class FilterModule:
    """Names the filter."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return it by its name."""
        return {"summary": summary}
