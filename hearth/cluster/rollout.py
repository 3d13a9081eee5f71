"""Waiting until a changed workload has rolled out.

Pulumi's Kubernetes provider waits well for a new workload. After an update it can look before the controller has
taken the update up, find the old Pods ready, and go on: then a tenant's key would be registered by a Pod that is on
its way out, and a gateway would start against a database that is about to restart. This resource looks at what the
controller says it has observed.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import pulumi
from pulumi.dynamic import CreateResult, Resource, UpdateResult

from hearth.compile.manifests.common import content_digest
from hearth.kubeapi.provider import ClusterProvider, Props, step
from hearth.kubeapi.rollout import wait_for_rollout

ROLLED_OUT: Final = ("Deployment", "StatefulSet")
"""Kinds that roll out."""


class RolloutProvider(ClusterProvider):
    """Waits for one workload."""

    required: ClassVar[tuple[str, ...]] = ("kind", "namespace", "workload", "spec_digest")
    replacing: ClassVar[tuple[str, ...]] = ("kind", "namespace", "workload")
    changing: ClassVar[tuple[str, ...]] = ("spec_digest",)

    @step
    def create(self, props: Props) -> CreateResult:
        """Wait for a new workload."""
        self._wait(props)
        return CreateResult(f"{props['kind']}/{props['namespace']}/{props['workload']}", props)

    @step
    def update(self, _id: str, _olds: Props, _news: Props) -> UpdateResult:
        """Wait for a changed workload."""
        self._wait(_news)
        return UpdateResult(_news)

    def _wait(self, props: Props) -> None:
        wait_for_rollout(self.kubernetes(props), props["kind"], props["namespace"], props["workload"])


class Rollout(Resource, module="hearth", name="Rollout"):
    """Done when a workload has rolled out."""

    def __init__(self, name: str, manifest: Mapping[str, Any], opts: pulumi.ResourceOptions) -> None:
        """Declare the wait.

        Args:
            name: name of the resource in Pulumi.
            manifest: the workload; values of its specification may be outputs.
            opts: options of Pulumi; it has to depend on the workload.
        """
        digest: pulumi.Output[str] = pulumi.Output.from_input(manifest["spec"]).apply(content_digest)
        metadata = manifest["metadata"]
        inputs = {
            "kind": manifest["kind"],
            "namespace": metadata["namespace"],
            "workload": metadata["name"],
            "spec_digest": digest,
        }
        super().__init__(RolloutProvider(), name, inputs, opts)
