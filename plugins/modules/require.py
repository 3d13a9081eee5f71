#!/usr/bin/python
"""Module `hearth.edge.require`: its documentation; the action plugin of the same name does it all."""

DOCUMENTATION = r"""
module: require
author: The Hearth authors
short_description: Check something before the first change, and say everything that is wrong with a host at once
description:
  - Fails as M(ansible.builtin.assert) does. Where the variable C(hearth_refusals_are_collected) is true it keeps what
    it would have said in the fact C(hearth_refusals) of the host and lets the next check be made; the step V(end) then
    fails with all of it.
  - It runs on the control host alone and changes nothing.
options:
  that:
    description: Conditions, each of which has to hold.
    type: list
    elements: str
  fail_msg:
    description: What is wrong, and what to do about it.
    type: str
  quiet:
    description: As of M(ansible.builtin.assert).
    type: bool
    default: false
  step:
    description:
      - V(begin) forgets what was kept, V(end) fails with it if there is any.
      - V(last) is a check without which the later ones have no meaning; it fails at once, with everything that was
        kept before it.
    type: str
    choices: [begin, check, last, end]
    default: check
"""

EXAMPLES = r"""
- name: Check the host
  vars:
    hearth_refusals_are_collected: true
  block:
    - name: Begin
      hearth.edge.require:
        step: begin

    - name: Refuse a host without a table
      hearth.edge.require:
        that: "'table' in things"
        fail_msg: "{{ inventory_hostname }}: it has no table. Bring one."

    - name: Say everything that is wrong with it
      hearth.edge.require:
        step: end
"""

RETURN = r"""
msg:
  description: Everything that is wrong, a line each.
  returned: always
  type: str
"""
