"""Waiting until a changed workload has rolled out, by what its controller says it has observed."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from hearth.kubeapi.client import KubernetesApi, Object
from hearth.kubeapi.errors import ClusterError

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


def wait_for_rollout(
    kubernetes: KubernetesApi,
    kind: Literal["Deployment", "StatefulSet"],
    namespace: str,
    name: str,
    *,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Return when a workload has rolled out.

    Args:
        kubernetes: the cluster.
        kind: the workload's kind.
        namespace: its namespace.
        name: its name.
        pause: what waits between two looks, in seconds.

    Raises:
        ClusterError: it has not within `WAIT_SECONDS` or the longer time that it may take itself, or the Kubernetes
            API cannot be used.
    """
    reason: str | None = "it is not there"
    waited, patience = 0, WAIT_SECONDS
    while waited < patience:
        there = kubernetes.workload(kind, namespace, name)
        reason = "it is not there" if there is None else unfinished(there)
        if reason is None:
            return
        patience = max(WAIT_SECONDS, (there or {}).get("spec", {}).get("progressDeadlineSeconds", 0))
        pause(_PAUSE_SECONDS)
        waited += _PAUSE_SECONDS
    raise ClusterError(
        f"the {kind} {namespace}/{name} did not roll out within {patience} s: {reason}. Look at its Pods "
        f"(`kubectl -n {namespace} get pods -l app.kubernetes.io/name={name}`, then `kubectl -n {namespace} "
        "describe pod` and `logs` of the one that is not ready), mend the cause, and run the same command again."
    )
