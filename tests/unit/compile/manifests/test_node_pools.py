"""Node pools, and how a Pod gets onto one (S3-84)."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from hearth.compile.manifests.common import Manifest
from tests.support import claims
from tests.unit.compile.manifests.samples import claim_of, container, found_groups, grouped, one, values

DATA = Path(__file__).resolve().parents[3] / "data"


def closed(schema: Any) -> Any:
    """A schema that refuses what it does not name, as the API server does with strict validation."""
    if isinstance(schema, dict):
        made = {key: closed(value) for key, value in schema.items()}
        if "properties" in made and "additionalProperties" not in made:
            made["additionalProperties"] = False
        return made
    return [closed(item) for item in schema] if isinstance(schema, list) else schema


def schema_of_karpenter() -> Any:
    definition = yaml.safe_load((DATA / "karpenter-1.14.0-nodepools.yaml").read_text(encoding="utf-8"))
    (version,) = [each for each in definition["spec"]["versions"] if each["name"] == "v1"]
    found = closed(version["schema"]["openAPIV3Schema"])
    found["properties"]["metadata"] = {"type": "object"}
    return found


def claim(pool: dict[str, Any], **changes: Any) -> Any:
    made = values("production")
    one = {**claims.instance("qwen"), "nodePool": "h100", **changes}
    one.pop("gpuMemory")
    made["llm"].update(gpuAcceleration=True, instances=[one])
    made["nodePools"] = {"h100": pool}
    return claim_of(made)


def pools(pool: dict[str, Any], **changes: Any) -> list[Manifest]:
    return grouped(claim(pool, **changes))["nodePools"]


def pod(pool: dict[str, Any], **changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = one(grouped(claim(pool, **changes))["instances"], "Deployment")["spec"]["template"]["spec"]
    return found


@pytest.mark.parametrize(
    "pool",
    [
        claims.node_pool(),
        claims.node_pool(instanceTypes=["p5.48xlarge", "p5e.48xlarge"], capacityType="spot", expireAfterHours=168),
    ],
)
def test_a_pool_of_karpenter_passes_its_own_schema(pool: dict[str, Any]) -> None:
    (made,) = pools(pool)
    validator = Draft202012Validator(schema_of_karpenter())
    assert [error.message for error in validator.iter_errors(made)] == []
    # The schema refuses what it does not know, so that this test says something.
    made["spec"]["disruption"]["consolidation"] = "never"
    assert len(list(validator.iter_errors(made))) == 1


def test_a_pool_of_karpenter_has_limits_and_lets_models_be() -> None:
    spec = one(pools(claims.node_pool(expireAfterHours=168)), "NodePool", "h100")["spec"]
    assert spec["limits"] == {"nvidia.com/gpu": 8}
    assert spec["disruption"] == {
        "consolidationPolicy": "WhenEmpty",
        "consolidateAfter": "600s",
        "budgets": [{"nodes": "1"}],
    }
    node = spec["template"]["spec"]
    assert node["taints"] == [{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}]
    assert node["expireAfter"] == "168h"
    assert spec["template"]["metadata"]["labels"] == {
        "hearth.dev/node-pool": "h100",
        "nvidia.com/gpu.present": "true",
    }


def test_a_node_goes_only_after_the_longest_answer() -> None:
    def node(**changes: Any) -> Any:
        return pools(claims.node_pool(), **changes)[0]["spec"]["template"]["spec"]["terminationGracePeriod"]

    assert node() == "1800s"
    assert node(requestTimeoutMs=3_600_000) == "3750s"
    assert pod(claims.node_pool(), requestTimeoutMs=3_600_000)["terminationGracePeriodSeconds"] == 3_630


def test_an_instance_runs_on_the_nodes_of_its_pool_alone() -> None:
    found = pod(claims.node_pool())
    assert found["nodeSelector"] == {"hearth.dev/node-pool": "h100", "nvidia.com/gpu.present": "true"}
    assert container({"spec": found}, "runtime")["resources"]["limits"]["nvidia.com/gpu"] == 1
    assert "resourceClaims" not in found
    other = claims.node_pool(
        accelerator={"devicePlugin": {"resource": "nvidia.com/gpu.shared", "count": 1, "product": "NVIDIA-L4"}}
    )
    assert "nvidia.com/gpu.shared" in container({"spec": pod(other)}, "runtime")["resources"]["limits"]


def test_nodes_that_are_there_are_not_made() -> None:
    assert pools(claims.existing_pool()) == []
    assert pod(claims.existing_pool())["nodeSelector"] == {"pool": "h100"}


def test_dra_asks_for_devices_and_for_no_extended_resource() -> None:
    devices = {"deviceClass": "gpu.nvidia.com", "count": 4, "selectors": ["device.driver == 'gpu.nvidia.com'"]}
    pool = claims.existing_pool(accelerator={"dynamicResources": devices, "memory": "80Gi"})
    found = pod(pool, gpus=2)
    assert found["resourceClaims"] == [{"name": "gpus", "resourceClaimTemplateName": "vllm-qwen-gpus"}]
    resources = container({"spec": found}, "runtime")["resources"]
    assert resources["claims"] == [{"name": "gpus"}]
    assert not [name for part in ("limits", "requests") for name in resources[part] if "gpu" in name]
    template = one(grouped(claim(pool, gpus=2))["instances"], "ResourceClaimTemplate")
    assert (template["apiVersion"], template["metadata"]["name"]) == ("resource.k8s.io/v1", "vllm-qwen-gpus")
    assert template["spec"]["spec"]["devices"]["requests"] == [
        {
            "name": "gpu",
            "exactly": {
                "deviceClassName": "gpu.nvidia.com",
                "allocationMode": "ExactCount",
                "count": 2,
                "selectors": [{"cel": {"expression": "device.driver == 'gpu.nvidia.com'"}}],
            },
        }
    ]


def test_a_pool_is_there_before_what_runs_on_it_and_holds_up_nothing_else() -> None:
    found = {group.name: group for group in found_groups(claim(claims.node_pool()))}
    assert "nodePools" in found["instances"].needs
    assert [name for name, group in found.items() if "nodePools" in group.needs] == ["instances"]
