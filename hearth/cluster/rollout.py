"""Waiting until a changed workload has rolled out.

Pulumi's Kubernetes provider waits well for a new workload. After an update it can look before the controller has
taken the update up, find the old Pods ready, and go on: then a tenant's key would be registered by a Pod that is on
its way out, and a gateway would start against a database that is about to restart. This resource looks at what the
controller says it has observed.
"""

import time
from collections.abc import Mapping
from typing import Any, ClassVar, Final

import pulumi
from pulumi.dynamic import CreateResult, Resource, UpdateResult

from hearth.compile.manifests.common import content_digest
from hearth.gatewayapi.errors import ClusterError
from hearth.gatewayapi.kube import Object
from hearth.gatewayapi.provider import GatewayProvider, Props, step

ROLLED_OUT: Final = ("Deployment", "StatefulSet")
"""Kinds that roll out."""
WAIT_SECONDS: Final = 900
"""Longest time that a rollout may take, in seconds."""

_PAUSE_SECONDS: Final = 1


def unfinished(workload: Object) -> str | None:
    """Return what a workload is still waiting for, or none when every Pod is of its newest template and available.

    Args:
        workload: the Deployment or StatefulSet as the API has it.
    """
    wanted = workload["spec"].get("replicas", 1)
    status: Mapping[str, Any] = workload.get("status") or {}
    if status.get("observedGeneration", 0) < workload["metadata"]["generation"]:
        return "its controller has not seen the change yet"
    updated, total = status.get("updatedReplicas", 0), status.get("replicas", 0)
    if updated < wanted:
        return f"{updated} of {wanted} Pods are of the new template"
    if total > updated:
        return f"{total - updated} Pods of an old template are still there"
    available = status.get("availableReplicas", 0)
    return f"{available} of {wanted} Pods are available" if available < wanted else None


class RolloutProvider(GatewayProvider):
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
        kind, namespace, name = props["kind"], props["namespace"], props["workload"]
        kubernetes = self.kubernetes()
        reason: str | None = "it is not there"
        for _ in range(WAIT_SECONDS // _PAUSE_SECONDS):
            there = kubernetes.workload(kind, namespace, name)
            reason = "it is not there" if there is None else unfinished(there)
            if reason is None:
                return
            time.sleep(_PAUSE_SECONDS)
        raise ClusterError(
            f"the {kind} {namespace}/{name} did not roll out within {WAIT_SECONDS} s: {reason}. Look at its Pods "
            f"(`kubectl -n {namespace} get pods -l app.kubernetes.io/name={name}`, then `kubectl -n {namespace} "
            "describe pod` and `logs` of the one that is not ready), mend the cause, and run the same command again."
        )


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
