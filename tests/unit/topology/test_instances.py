"""An instance of the claim is an endpoint."""

import json

from hearth.claim.instances import Instance
from hearth.compile.digests import expected_evidence
from hearth.evidence.gate import private_endpoints
from hearth.topology.instances import start_seconds
from hearth.topology.resolve import resolve
from tests.support import claims
from tests.unit.claim import examples


def test_an_instance_is_an_endpoint_of_the_built_in_zone() -> None:
    """S3-13, S3-14, S3-84: from here on it is an endpoint as every other one."""
    claim = examples.unchecked(
        examples.put("llm/gpuAcceleration", True),
        examples.put("llm/instances", [claims.instance("qwen", maxNumSeqs=4, requestTimeoutMs=50_000)]),
    )
    topology = resolve(claim)
    found = topology.endpoint("vllm-qwen")
    assert found.address.host == "vllm-qwen-inference.system-llm.svc.cluster.local"
    assert (found.address.scheme, found.address.port, found.address.path) == ("https", 8443, "/v1")
    assert (found.service, found.in_a_pod, found.is_instance) == ("vllm-qwen-inference", True, True)
    assert (found.mode, found.profile.network_zone_id, found.trust_bundle) == (
        "private_tls",
        "in-cluster",
        "in-cluster",
    )
    assert found.cidrs == ("10.96.0.0/16",)
    assert found.credential is not None
    assert found.credential.source == "deployment"
    assert (found.bounds.parallel_requests, found.bounds.queued_requests) == (4, 32)
    # A stream begins within the request's own time.
    assert (found.bounds.request_timeout_ms, found.bounds.stream_setup_timeout_ms) == (50_000, 50_000)
    assert topology.pods[-1] is found
    assert topology.deployments_on(found)["vllm-qwen"].model == "qwen-qwen2.5-7b-instruct"
    (one,) = [each for each in topology.routes if each.name == "qwen-qwen2.5-7b-instruct"]
    assert (one.obstacle, one.targets[0].reached_by) == (None, found.id)
    assert private_endpoints(claim)[-1] == "vllm-qwen"
    assert "vllm-qwen" in expected_evidence(topology)


def test_a_start_takes_as_long_as_the_weights_are_large() -> None:
    def seconds(size: int) -> int:
        file = claims.model_file("weights", size)
        values = claims.instance("a", files={"m.safetensors": file})
        return start_seconds(Instance.model_validate_json(json.dumps(values)))

    assert seconds(1) == 600
    assert seconds(100_000_000_000) == 1_300
    assert seconds(1_000_000_000_000) == 3_600
