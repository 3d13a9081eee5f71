"""When a workload has rolled out, and how long that is waited for."""

from typing import Any

import pytest

from hearth.kubeapi.errors import ClusterError
from hearth.kubeapi.rollout import WAIT_SECONDS, unfinished, wait_for_rollout


def workload(**status: int) -> dict[str, Any]:
    return {"metadata": {"generation": 3}, "spec": {"replicas": 2}, "status": status}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (
            workload(observedGeneration=3, updatedReplicas=2, replicas=2, availableReplicas=2),
            None,
        ),
        (
            # What an update looks like a moment after it: the old Pods are all there.
            workload(observedGeneration=2, updatedReplicas=2, replicas=2, availableReplicas=2),
            "its controller has not seen the change yet",
        ),
        (
            workload(observedGeneration=3, updatedReplicas=1, replicas=3, availableReplicas=2),
            "1 of 2 Pods are of the new template",
        ),
        (
            workload(observedGeneration=3, updatedReplicas=2, replicas=3, availableReplicas=3),
            "1 Pods of an old template are still there",
        ),
        (
            workload(observedGeneration=3, updatedReplicas=2, replicas=2, availableReplicas=1),
            "1 of 2 Pods are available",
        ),
        ({"metadata": {"generation": 1}, "spec": {}}, "its controller has not seen the change yet"),
    ],
)
def test_a_workload_has_rolled_out_when_its_controller_says_so(found: dict[str, Any], expected: str | None) -> None:
    assert unfinished(found) == expected


class Scripted:
    """A cluster in which one workload changes from look to look."""

    def __init__(self, *states: dict[str, Any] | None) -> None:
        self.states = list(states)

    def workload(self, kind: str, namespace: str, name: str) -> dict[str, Any] | None:
        assert (kind, namespace, name) == ("Deployment", "system-llm", "llm-gateway")
        return self.states.pop(0) if len(self.states) > 1 else self.states[0]


DONE = workload(observedGeneration=3, updatedReplicas=2, replicas=2, availableReplicas=2)


def test_it_is_waited_for_until_its_controller_is_done() -> None:
    pauses: list[float] = []
    scripted: Any = Scripted(None, workload(observedGeneration=2), DONE)
    wait_for_rollout(scripted, "Deployment", "system-llm", "llm-gateway", pause=pauses.append)
    assert len(pauses) == 2


def test_one_that_does_not_come_is_given_up_with_its_reason() -> None:
    pauses: list[float] = []
    scripted: Any = Scripted(workload(observedGeneration=3, updatedReplicas=1, replicas=3, availableReplicas=2))
    with pytest.raises(ClusterError, match="not roll out within 900 s: 1 of 2 Pods are of the new template"):
        wait_for_rollout(scripted, "Deployment", "system-llm", "llm-gateway", pause=pauses.append)
    assert sum(pauses) == len(pauses) == WAIT_SECONDS


def test_one_that_may_fetch_a_model_for_an_hour_is_waited_for_as_long() -> None:
    pauses: list[float] = []
    slow = workload(observedGeneration=3, updatedReplicas=1, replicas=1, availableReplicas=0)
    slow["spec"]["progressDeadlineSeconds"] = 4_500
    scripted: Any = Scripted(slow)
    with pytest.raises(ClusterError, match="not roll out within 4500 s"):
        wait_for_rollout(scripted, "Deployment", "system-llm", "llm-gateway", pause=pauses.append)
    assert sum(pauses) == 4_500
