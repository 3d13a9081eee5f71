"""What the Kubernetes API says of a Pod's isolation, in the form that evidence binds to (S4-89, S4-90)."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from hearth.canonical import digest
from hearth.cluster.measured_pod import isolation, template
from hearth.compile.digests import expected_evidence
from hearth.topology.resolve import resolve
from tests.unit.compile.manifests.samples import found_groups, loaded

CLAIM = loaded("local").claim
TOPOLOGY = resolve(CLAIM)
GEMMA = TOPOLOGY.endpoint("gemma")
RAW = 8081
WANTED = template(GEMMA, found_groups(CLAIM))
EXPECTED = expected_evidence(TOPOLOGY)["gemma"].sidecar


def running() -> dict[str, Any]:
    """The Pod that the claim compiles to, as the API shows it."""
    pod = copy.deepcopy(WANTED)
    pod["metadata"]["labels"]["pod-template-hash"] = "5d4f"
    return pod


def services(*more: dict[str, Any]) -> list[dict[str, Any]]:
    own = {group.name: group for group in found_groups(CLAIM)}["runtimes"].objects
    found = [copy.deepcopy(each.manifest) for each in own if each.kind == "Service"]
    return [*found, *more]


def service(selector: dict[str, str] | None, port: int, target: int | str | None = None) -> dict[str, Any]:
    made: dict[str, Any] = {"port": port}
    if target is not None:
        made["targetPort"] = target
    return {"spec": {"selector": selector, "ports": [made]}}


def seen(pod: dict[str, Any], found: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    return isolation(GEMMA, RAW, pod, WANTED, services() if found is None else found)


def test_the_pod_of_the_claim_is_isolated_as_the_claim_says() -> None:
    assert EXPECTED is not None
    assert digest(seen(running())) == EXPECTED.isolation_sha256


def ephemeral(pod: dict[str, Any]) -> None:
    pod["spec"]["ephemeralContainers"] = [{"name": "debugger", "image": "busybox"}]


def injected(pod: dict[str, Any]) -> None:
    pod["spec"]["containers"].append({"name": "istio-proxy", "image": "proxy"})


def another_image(pod: dict[str, Any]) -> None:
    pod["spec"]["initContainers"][-1]["image"] = "localhost/other:1"


def everywhere(pod: dict[str, Any]) -> None:
    arguments = pod["spec"]["initContainers"][-1]["args"]
    arguments[arguments.index("127.0.0.1")] = "0.0.0.0"


def host_network(pod: dict[str, Any]) -> None:
    pod["spec"]["hostNetwork"] = True


@pytest.mark.parametrize(
    ("change", "field", "value"),
    [
        (ephemeral, "unrelatedContainers", True),
        (injected, "unrelatedContainers", True),
        (another_image, "unrelatedContainers", True),
        (everywhere, "rawPortOnLoopbackOnly", False),
        (host_network, "hostNetwork", True),
    ],
)
def test_a_pod_that_is_another_one(change: Callable[[dict[str, Any]], None], field: str, value: bool) -> None:
    assert EXPECTED is not None
    pod = running()
    change(pod)
    assert seen(pod)[field] is value
    assert digest(seen(pod)) != EXPECTED.isolation_sha256


@pytest.mark.parametrize(
    ("more", "exposed"),
    [
        (service({"app.kubernetes.io/name": "llm-gemma"}, 80, RAW), [8081, 8443]),
        (service({"app.kubernetes.io/name": "llm-gemma"}, RAW), [8081, 8443]),
        (service({"app.kubernetes.io/name": "llm-gemma"}, 80, "probe"), [8405, 8443]),
        (service({"app.kubernetes.io/name": "llm-gemma"}, 80, "nothing"), [8443]),
        (service({"app.kubernetes.io/name": "another"}, 80, RAW), [8443]),
        (service(None, 80, RAW), [8443]),
    ],
    ids=["number", "same number", "name", "name of nothing", "another's", "no selector"],
)
def test_services_that_lead_to_the_pod(more: dict[str, Any], exposed: list[int]) -> None:
    found = seen(running(), services(more))
    assert found["exposedPorts"] == exposed
    assert found["serviceOnRawPort"] is (RAW in exposed)
