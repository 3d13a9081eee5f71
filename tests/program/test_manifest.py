"""From a manifest to a resource: names for Pulumi, and options by kind."""

from typing import Any

import pytest

from hearth.cluster.manifest import (
    OPTIONS,
    OWNERSHIP,
    REPLACE_UNREADY,
    SKIP_AWAIT,
    former_name,
    logical_name,
    patience_minutes,
)
from hearth.compile.manifests.common import Object
from tests.support.claims import instance
from tests.support.compiling import all_manifests, compile_claim
from tests.support.program import config_of, declare, example
from tests.unit.claim import examples


@pytest.fixture(scope="module")
def local() -> dict[str, Any]:
    return example("local")


@pytest.fixture(scope="module")
def with_gpus() -> dict[str, Any]:
    config = config_of("home")
    config["hearth:llm"].update(gpuAcceleration=True, instances=[instance("qwen")])
    config["hearth:policy"]["clusterCidrs"] = {"services": ["10.96.0.0/16"], "pods": ["10.244.0.0/16"]}
    return declare("home", config)


def named(kind: str, stable: str, real: Any = None, namespace: str | None = "system-llm") -> Object:
    metadata = {"name": real or stable, **({"namespace": namespace} if namespace else {})}
    return Object({"kind": kind, "metadata": metadata}, stable)


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        (named("ConfigMap", "llm-guard", "llm-guard-0123456789"), "ConfigMap:system-llm/llm-guard"),
        (named("Namespace", "system-llm", namespace=None), "Namespace:system-llm"),
        (named("Secret", "llm-cache", object()), "Secret:system-llm/llm-cache"),
        (named("Service", "llm-abcdefghij"), "Service:system-llm/llm-abcdefghij"),
    ],
)
def test_a_digest_in_a_name_does_not_make_another_resource(declared: Object, expected: str) -> None:
    assert logical_name(declared) == expected
    assert former_name(declared) is None


@pytest.mark.parametrize(
    ("declared", "expected", "former"),
    [
        (named("Namespace", "tenant-abcdefabcd", namespace=None), "Namespace:tenant-abcdefabcd", "Namespace:tenant"),
        (named("Service", "llm-0123456789"), "Service:system-llm/llm-0123456789", "Service:system-llm/llm"),
        (
            named("Secret", "llm-endpoint-0123456789", object()),
            "Secret:system-llm/llm-endpoint-0123456789",
            "Secret:system-llm/llm-endpoint",
        ),
    ],
)
def test_ten_digits_of_a_name_are_kept_and_what_was_deployed_without_them_is_known(
    declared: Object, expected: str, former: str
) -> None:
    assert (logical_name(declared), former_name(declared)) == (expected, former)


def test_an_endpoint_whose_name_looks_like_a_digest_keeps_the_name_of_its_configuration() -> None:
    configuration = named("ConfigMap", "llm-endpoint-0123456789", "llm-endpoint-0123456789-abcdefabcd")
    assert logical_name(configuration) == "ConfigMap:system-llm/llm-endpoint-0123456789"
    assert former_name(configuration) is None


def test_a_volume_outlives_the_program() -> None:
    volume = OPTIONS["PersistentVolumeClaim"]
    assert volume.protect
    assert volume.retain
    assert volume.annotations == SKIP_AWAIT


def test_a_volume_that_can_be_filled_again_stays_and_may_be_deleted(with_gpus: dict[str, Any]) -> None:
    """S3-85: an instance may leave the claim, and its weights are there when it returns."""
    name = "PersistentVolumeClaim|PersistentVolumeClaim:system-llm/vllm-qwen-models"
    found = with_gpus["options"][name]
    assert (found["protect"], found["retain"]) == (False, True)


def test_a_failed_job_is_replaced_and_what_is_declared_wins(local: dict[str, Any]) -> None:
    given = {key: inputs for key, inputs in local["inputs"].items() if key.startswith("kubernetes:")}
    assert len(given) > 30
    for inputs in given.values():
        annotations = inputs["metadata"]["annotations"]
        assert {name: annotations.get(name) for name in OWNERSHIP} == OWNERSHIP
    (job,) = [inputs for key, inputs in given.items() if key.startswith("kubernetes:batch/v1:Job|")]
    assert job["metadata"]["annotations"] == {**OWNERSHIP, **REPLACE_UNREADY}


def test_nothing_is_given_up_before_the_time_that_it_may_take() -> None:
    """A Pod may fetch its model for an hour."""
    source = {"url": "https://models.example/model.gguf"}
    loaded = examples.load(examples.claim(examples.put("endpoints/pod/runtime/models/0/source", source)))
    found = all_manifests(loaded.claim, compile_claim(loaded.claim, bundles=loaded.bundles))
    deadlines = {
        item["metadata"]["name"]: (item["spec"]["progressDeadlineSeconds"], patience_minutes(item))
        for item in found
        if "progressDeadlineSeconds" in item.get("spec", {})
    }
    assert deadlines["llm-pod"][0] > 3600
    assert all(minutes is not None and minutes * 60 > seconds for seconds, minutes in deadlines.values())
    (job,) = (item for item in found if item["kind"] == "Job")
    assert patience_minutes(job) == job["spec"]["activeDeadlineSeconds"] / 60
    assert patience_minutes({"kind": "ConfigMap"}) is None
