"""From a manifest to a resource: names for Pulumi, options by kind, and when a workload has rolled out."""

from typing import Any

import pytest

from hearth.cluster.manifest import OPTIONS, logical_name
from hearth.cluster.rollout import unfinished


@pytest.mark.parametrize(
    ("manifest", "name", "expected"),
    [
        (
            {"kind": "ConfigMap", "metadata": {"name": "llm-guard-0123456789", "namespace": "system-llm"}},
            None,
            "ConfigMap:system-llm/llm-guard",
        ),
        ({"kind": "Namespace", "metadata": {"name": "system-llm"}}, None, "Namespace:system-llm"),
        (
            {"kind": "Secret", "metadata": {"name": object(), "namespace": "system-llm"}},
            "llm-cache",
            "Secret:system-llm/llm-cache",
        ),
        (
            # Ten letters that are no digest stay.
            {"kind": "Service", "metadata": {"name": "llm-abcdefghij", "namespace": "system-llm"}},
            None,
            "Service:system-llm/llm-abcdefghij",
        ),
    ],
)
def test_a_digest_in_a_name_does_not_make_another_resource(
    manifest: dict[str, Any], name: str | None, expected: str
) -> None:
    assert logical_name(manifest, name) == expected


def test_a_volume_outlives_the_program() -> None:
    volume = OPTIONS["PersistentVolumeClaim"]
    assert volume.protect
    assert volume.retain
    assert volume.skip_await


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
