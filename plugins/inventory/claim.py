"""Inventory `hearth.edge.claim`: the hosts of a claim's endpoints."""

from __future__ import annotations

DOCUMENTATION = r"""
name: claim
author: The Hearth authors
short_description: The hosts of a claim's endpoints
description:
  - Lists every host that an endpoint with C(runtime.placement=host) names in its base URL.
  - They are in the group C(hearth_endpoints), which gets C(hearth_environment) and C(hearth_project) as given here.
  - Each host gets C(hearth_endpoints), its endpoint ids, and C(ansible_host) where the claim has its address
    (C(networkProfile.address)).
  - The file has to be called C(*.claim.yml).
options:
  plugin:
    description: C(hearth.edge.claim).
    required: true
    choices: [hearth.edge.claim]
  environment:
    description: Name of the environment; its claim is C(stacks/Pulumi.<environment>.yaml).
    type: str
    required: true
  project:
    description: Folder of the project that holds C(stacks/), relative to this file.
    type: str
    default: ../..
"""

EXAMPLES = r"""
# inventories/home_lan/hosts.claim.yml
plugin: hearth.edge.claim
environment: home
"""

from pathlib import Path

from ansible.errors import AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin

try:
    from hearth.claim.loader import load_claim_file, stack_file
    from hearth.claim.problems import ClaimError
    from hearth.compile.host_endpoints import host_addresses, host_endpoints
    from hearth.topology.resolve import resolve
except ImportError as error:
    MISSING: ImportError | None = error
else:
    MISSING = None

GROUP = "hearth_endpoints"


class InventoryModule(BaseInventoryPlugin):
    """Calls `hearth.compile.host_endpoints.host_endpoints`."""

    NAME = "hearth.edge.claim"

    def verify_file(self, path: str) -> bool:
        """Return whether the file is meant for this plugin."""
        return super().verify_file(path) and path.endswith((".claim.yml", ".claim.yaml"))

    def parse(self, inventory: object, loader: object, path: str, cache: bool = True) -> None:
        """Add the hosts of the claim to the inventory."""
        super().parse(inventory, loader, path, cache)
        if MISSING is not None:
            raise AnsibleParserError(
                f"the Python package hearth cannot be imported: {MISSING}. In a clone, run make setup."
            )
        self._read_config_data(path)
        project = (Path(path).parent / self.get_option("project")).resolve()
        try:
            claim = load_claim_file(stack_file(self.get_option("environment"), project)).claim
            topology = resolve(claim)
        except ClaimError as refused:
            raise AnsibleParserError(str(refused)) from refused
        self.inventory.add_group(GROUP)
        self.inventory.set_variable(GROUP, "hearth_environment", self.get_option("environment"))
        self.inventory.set_variable(GROUP, "hearth_project", str(project))
        addresses = host_addresses(topology)
        for host, endpoints in host_endpoints(topology).items():
            self.inventory.add_host(host, group=GROUP)
            self.inventory.set_variable(host, "hearth_endpoints", list(endpoints))
            if host in addresses:
                self.inventory.set_variable(host, "ansible_host", addresses[host])
