"""What is in a cluster, by its metadata; and that an error of the API's own does not end a run."""

import pytest

from hearth.kubeapi import client
from hearth.kubeapi.client import KubernetesApi
from hearth.kubeapi.cluster import Cluster
from hearth.kubeapi.errors import ClusterError
from hearth.kubeapi.objects import Resource, listed, namespaced_resources
from tests.support.kube_system import RESOURCES, cluster_with, present


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "RETRIES", {**client.RETRIES, "backoff_factor": 0})


@pytest.mark.parametrize("failures", [(503,), (500, 502, 504), (429, 503, 503, 503, 503)])
def test_a_passing_error_of_the_api_is_no_error(failures: tuple[int, ...]) -> None:
    with cluster_with("u", failures=failures) as kubeconfig:
        assert KubernetesApi(Cluster(kubeconfig, "here")).identity == "u"


def test_an_error_that_does_not_pass_is_one() -> None:
    with cluster_with("u", failures=[503] * 20) as kubeconfig, pytest.raises(ClusterError, match="answered 503"):
        _ = KubernetesApi(Cluster(kubeconfig, "here")).identity


def test_a_refusal_is_not_repeated() -> None:
    with cluster_with("u", failures=[403]) as kubeconfig, pytest.raises(ClusterError, match="needs this right"):
        _ = KubernetesApi(Cluster(kubeconfig, "here")).identity


def test_every_page_of_a_list_is_read() -> None:
    there = [present("Service", "one", f"s{number}") for number in range(5)]
    with cluster_with("u", [*there, present("Service", "two", "other")]) as kubeconfig:
        kubernetes = KubernetesApi(Cluster(kubeconfig, "here"))
        found = listed(kubernetes, Resource("v1", "Service", "services"), namespace="one")
    assert [metadata["name"] for metadata in found] == ["s0", "s1", "s2", "s3", "s4"]


def test_namespaces_are_found_by_their_labels() -> None:
    there = [present("Namespace", None, "a", labels={"k": "v", "t": "x"}), present("Namespace", None, "b")]
    with cluster_with("u", there) as kubeconfig:
        kubernetes = KubernetesApi(Cluster(kubeconfig, "here"))
        found = listed(kubernetes, Resource("v1", "Namespace", "namespaces"), selector="k=v,t")
        assert kubernetes.namespace("b") is not None
        assert kubernetes.namespace("c") is None
    assert [metadata["name"] for metadata in found] == ["a"]


def test_every_kind_that_can_lie_in_a_namespace_is_known() -> None:
    with cluster_with("u") as kubeconfig:
        found = list(namespaced_resources(KubernetesApi(Cluster(kubeconfig, "here"))))
    assert {each.kind for each in found} == {kind for kinds in RESOURCES.values() for kind in kinds}
    assert Resource("stranger.test/v1", "Widget", "widgets") in found
    for version, kinds in RESOURCES.items():
        for kind, plural in kinds.items():
            assert Resource.of({"apiVersion": version, "kind": kind}).plural == plural
