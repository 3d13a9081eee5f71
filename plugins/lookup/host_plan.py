"""Lookup `hearth.edge.host_plan`: what a host has to run, out of the claim."""

from __future__ import annotations

DOCUMENTATION = r"""
name: host_plan
author: The Hearth authors
short_description: What a host has to run for its endpoints
description:
  - Reads the claim of an environment and returns what the roles of this collection install on one host.
  - Everything in it is compiled by the Python package C(hearth), which has to be installed on the control host.
options:
  _terms:
    description: Endpoint ids of the host.
    required: true
  environment:
    description: Name of the environment; its claim is C(stacks/Pulumi.<environment>.yaml).
    type: str
    required: true
  project:
    description: Folder of the project that holds C(stacks/).
    type: path
    default: .
"""

EXAMPLES = r"""
- name: Read the plan of the host
  ansible.builtin.set_fact:
    plan: "{{ lookup('hearth.edge.host_plan', 'ollama-home', environment='home') }}"
"""

RETURN = r"""
_raw:
  description:
    - One dictionary with the fields of C(hearth.compile.host.HostPlan).
    - C(bundles) holds the PEM texts of the claim's trust bundles.
    - C(bundle_endpoints) and C(credential_endpoints) hold the ids of all endpoints on hosts, by trust bundle and by
      credential.
    - When the claim is refused it has C(refused) alone, every problem in one text.
  type: list
  elements: dict
"""

import json
from dataclasses import asdict
from pathlib import Path

from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase

try:
    from hearth.claim.loader import load_claim_file, stack_file
    from hearth.claim.problems import ClaimError
    from hearth.compile.host import host_plan
    from hearth.compile.host_endpoints import bundle_endpoints, credential_endpoints
    from hearth.topology.resolve import resolve
except ImportError as error:
    MISSING: ImportError | None = error
else:
    MISSING = None


class LookupModule(LookupBase):
    """Calls `hearth.compile.host.host_plan`."""

    def run(self, terms: list[str], variables: dict | None = None, **kwargs: object) -> list[dict]:
        """Return one plan for all the endpoint ids together."""
        if MISSING is not None:
            raise AnsibleLookupError(
                f"the Python package hearth cannot be imported on the control host: "
                f"{MISSING}. In a clone, run make setup and use .venv/bin/ansible-playbook; with an installed "
                "collection, install the package into the Python of ansible-playbook: pip install <the clone>."
            )
        self.set_options(var_options=variables, direct=kwargs)
        endpoints = [name for term in terms for name in (term if isinstance(term, list) else [term])]
        strange = [name for name in endpoints if not isinstance(name, str)]
        if strange or not endpoints:
            wrong = f"holds {strange[0]!r}" if strange else "is empty"
            remedy = "Name ids of endpoints of the claim there, such as [ollama-home]"
            return [{"refused": f"hearth_endpoints has to be a list of endpoint ids, and {wrong}. {remedy}."}]
        project = Path(self.get_option("project"))
        if not (project / "stacks").is_dir():
            # in an installed collection the folder of the playbooks is not that of the project
            return [
                {
                    "refused": f"there is no folder stacks with claims in {project.resolve()}. Set hearth_project "
                    "to the folder of the project, which holds stacks/ and trust/."
                }
            ]
        try:
            loaded = load_claim_file(stack_file(self.get_option("environment"), project))
            topology = resolve(loaded.claim)
            plan = host_plan(topology, endpoints)
        except ClaimError as refused:
            return [{"refused": f"{refused} (hearth_project: {project.resolve()})"}]
        found = {
            **asdict(plan),
            "bundles": dict(loaded.bundles),
            "bundle_endpoints": bundle_endpoints(topology),
            "credential_endpoints": credential_endpoints(topology),
            "refused": "",
        }
        # through JSON, so that tuples and mappings become what templates expect
        return [json.loads(json.dumps(found))]
