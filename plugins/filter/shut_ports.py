"""Filter `hearth.edge.shut_ports`: what the firewall of a host would shut, out of what its probe found."""

from __future__ import annotations

DOCUMENTATION = r"""
name: shut_ports
author: The Hearth authors
short_description: What the firewall of a host would shut
description:
  - Compares what a host serves with the ports that the rules let in.
options:
  _input:
    description: Lines of C(roles/edge_firewall/files/probe.py).
    type: list
    elements: str
    required: true
  let_in:
    description: Ports that the rules let in, each with C(port) and, when it is not C(tcp), C(protocol).
    type: list
    elements: dict
    required: true
  agreed:
    description: What may be shut, each as C(port/protocol).
    type: list
    elements: str
    default: []
"""

EXAMPLES = r"""
- name: Say what would be shut
  ansible.builtin.debug:
    msg: "{{ probe.stdout_lines | hearth.edge.shut_ports([{'port': 8443}], ['80/tcp']) }}"
"""

RETURN = r"""
_value:
  description:
    - C(unasked) is what the network reaches now and would no longer reach, and nobody agreed to; C(shut) is what
      it does not reach already, because the rules were there before the service.
    - Each has C(port), C(protocol), C(name) as C(80/tcp), and C(shown) with the program behind the name.
  type: dict
"""

from collections.abc import Callable, Sequence
from typing import Any


def shut_ports(
    lines: Sequence[str], let_in: Sequence[dict[str, Any]], agreed: Sequence[str] = ()
) -> dict[str, list[dict[str, Any]]]:
    """Return what the rules shut: what is reached until now, and what is not reached already."""
    known = {(str(one.get("protocol") or "tcp"), int(one["port"])) for one in let_in}
    guarded = "table=hearth_edge" in lines
    opened = {tuple(line.removeprefix("open=").split()) for line in lines if line.startswith("open=")}
    found: dict[str, list[dict[str, Any]]] = {"unasked": [], "shut": []}
    for line in lines:
        if not line.startswith("listening="):
            continue
        protocol, port, program = line.removeprefix("listening=").split(" ", 2)
        name = f"{port}/{protocol}"
        one = {"port": int(port), "protocol": protocol, "name": name, "shown": f"{name} ({program})"}
        if (protocol, int(port)) in known or name in agreed:
            continue
        kind = "shut" if guarded and (protocol, port) not in opened else "unasked"
        if one not in found[kind]:
            found[kind].append(one)
    return found


class FilterModule:
    """Names the filter."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return it by its name."""
        return {"shut_ports": shut_ports}
