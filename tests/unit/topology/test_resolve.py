"""What a claim means: upstreams, routes and tenants, resolved once."""

import dataclasses
from pathlib import Path
from typing import Any, get_args

import pytest

import hearth
from hearth.claim.claim import Claim
from hearth.claim.operations import (
    OPERATIONS,
    ModelMode,
    Operation,
    Protocol,
    in_order,
    mode_operations,
    only_vectors,
    protocol_operations,
)
from hearth.topology.address import Address, address_of
from hearth.topology.resolve import resolve
from hearth.topology.topology import Route
from hearth.topology.upstreams import DEFAULT_BOUNDS, UpstreamId
from tests.support.proxy_claims import claim, private_endpoint, provider, sidecar_endpoint
from tests.unit.claim import examples


def route(found: Claim, name: str) -> Route:
    (one,) = [each for each in resolve(found).routes if each.name == name]
    return one


@pytest.mark.parametrize(
    ("url", "parts", "authority"),
    [
        ("https://gpu.lan.test/v1/", Address("https", "gpu.lan.test", 443, "/v1"), "gpu.lan.test:443"),
        ("http://10.77.0.1:8080", Address("http", "10.77.0.1", 8080, ""), "10.77.0.1:8080"),
        ("http://[fd12::1]", Address("http", "fd12::1", 80, ""), "[fd12::1]:80"),
    ],
)
def test_an_address_in_parts(url: str, parts: Address, authority: str) -> None:
    assert address_of(url) == parts
    assert parts.authority == authority


def test_a_url_is_taken_apart_in_one_place() -> None:
    root = Path(hearth.__file__).parent
    using = {file.relative_to(root).as_posix() for file in root.rglob("*.py") if "urlsplit" in file.read_text()}
    assert using == {"topology/address.py"}


def test_upstreams_are_endpoints_then_providers() -> None:
    assert [upstream.name for upstream in resolve(examples.unchecked()).upstreams] == [
        "endpoint-host",
        "endpoint-native",
        "endpoint-plain",
        "endpoint-pod",
        "endpoint-vendor",
        "provider-info-maniak",
        "provider-mistral",
    ]


def test_two_kinds_may_use_one_name() -> None:
    topology = resolve(claim({"vendor": private_endpoint("https://gpu.lan.test:8443/v1")}, providers=[provider()]))
    hosts = {upstream.id: upstream.address.host for upstream in topology.upstreams}
    assert hosts == {
        UpstreamId("endpoint", "vendor"): "gpu.lan.test",
        UpstreamId("provider", "vendor"): "api.vendor.example",
    }
    with pytest.raises(KeyError, match="endpoint-nobody"):
        topology.endpoint("nobody")


@pytest.mark.parametrize(
    ("name", "source", "credential", "header", "bearer"),
    [
        ("endpoint-pod", "deployment", "credential://pod/workload", "authorization", True),
        ("endpoint-host", "reference", "credential://host/workload", "authorization", True),
        ("endpoint-native", "reference", "credential://native/workload", "x-api-key", False),
        ("provider-mistral", "token", "mistral_api_key", "authorization", True),
    ],
)
def test_who_has_a_credential_and_how_it_is_sent(
    name: str, source: str, credential: str, header: str, bearer: bool
) -> None:
    (found,) = [each.credential for each in resolve(examples.unchecked()).upstreams if each.name == name]
    assert found is not None
    assert (found.source, found.name, found.header, found.bearer) == (source, credential, header, bearer)


def test_an_endpoint_without_authentication_sends_no_credential() -> None:
    assert resolve(examples.unchecked()).endpoint("plain").credential is None


def test_bounds_are_the_declared_ones_or_those_of_an_upstream_without_any() -> None:
    topology = resolve(examples.unchecked(examples.put("endpoints/host/runtimeCapacity/requestTimeoutMs", 90_000)))
    host = topology.endpoint("host").bounds
    assert (host.parallel_requests, host.queued_requests, host.request_timeout_ms) == (4, 8, 90_000)
    assert (host.request_bytes, host.response_bytes) == (4_194_304, 16_777_216)
    assert topology.endpoint("vendor").bounds == DEFAULT_BOUNDS
    assert topology.upstream(UpstreamId("provider", "mistral")).bounds == DEFAULT_BOUNDS


def test_what_an_upstream_may_be_asked_for_is_what_all_its_models_declare() -> None:
    topology = resolve(examples.unchecked(examples.put("llm/providers/1/models/0/mode", "embedding")))
    assert topology.endpoint("pod").operations == ("chat", "completion")
    mistral = topology.upstream(UpstreamId("provider", "mistral"))
    assert mistral.operations == ("chat", "embedding", "responses")
    assert mistral.models == ("mistral-large", "mistral-small")


def test_ranges_are_those_of_the_zone() -> None:
    topology = resolve(examples.unchecked())
    assert topology.endpoint("pod").cidrs == ("10.96.0.0/16",)
    assert topology.endpoint("host").cidrs == ("192.168.1.0/24", "fd00:1::/64")
    assert topology.endpoint("vendor").cidrs == ()


def test_who_runs_what() -> None:
    topology = resolve(examples.unchecked())
    assert [upstream.id.name for upstream in topology.pods] == ["pod"]
    assert [upstream.id.name for upstream in topology.hosts] == ["host"]
    runtime = topology.endpoint("host").runtime
    assert runtime is not None
    assert (runtime.engine, runtime.loopback.number, runtime.loopback.port) == ("ollama", "127.0.0.1", 11434)


def test_a_provider_with_a_foreign_token_has_a_name_and_no_upstream() -> None:
    found = examples.unchecked(examples.put("llm/providers/0/apiKeyProperty", "mistral_api_key"))
    assert "provider-info-maniak" not in {upstream.name for upstream in resolve(found).upstreams}
    one = route(found, "info-maniak/gemma-4-31b")
    assert (one.obstacle, one.targets[0].reached_by) == ("foreign_token", None)


def test_an_instance_without_gpus_has_a_name_and_no_upstream() -> None:
    one = route(examples.unchecked(), "qwen-qwen2.5-7b")
    assert (one.obstacle, one.targets[0].reached_by) == ("no_gpu", None)
    assert "vllm-qwen" not in {upstream.id.name for upstream in resolve(examples.unchecked()).upstreams}


def test_a_tenant_has_the_apps_that_declare_the_gateway() -> None:
    family, team = resolve(examples.unchecked()).tenants
    assert [app.name for app in family.apps] == ["notes"]
    assert (family.namespace, family.names_its_namespace) == ("tenant-family", False)
    assert (team.namespace, team.names_its_namespace, team.models) == ("team-apps", True, ("gemma", "mistral/small"))


def test_a_tenant_that_names_no_models_has_no_vendors() -> None:
    """S1-5: prompts reach a vendor only for a tenant whose `models` name it, as a fallback too."""
    changes = [
        examples.put("aliases/gemma/deployments", ["gemma-pod", "gpt"]),
        examples.put("endpoints/native/posture", "vendor"),
    ]
    family, _ = resolve(examples.unchecked(*changes)).tenants
    assert family.models == ("house", "plain", "qwen-qwen2.5-7b")


def test_what_is_resolved_cannot_be_changed() -> None:
    topology = resolve(claim({"llama": sidecar_endpoint()}))
    parts: list[Any] = [topology, topology.upstreams[0], topology.routes[0], topology.gateway]
    for part in parts:
        with pytest.raises(dataclasses.FrozenInstanceError):
            part.name = "another"


# The table of operations.


def test_the_table_has_every_operation_protocol_and_mode() -> None:
    assert set(OPERATIONS) == set(get_args(Operation))
    assert {spec.protocol for spec in OPERATIONS.values()} == set(get_args(Protocol))
    assert {spec.provider_mode for spec in OPERATIONS.values()} == set(get_args(ModelMode))
    assert len({spec.path for spec in OPERATIONS.values()}) == len(OPERATIONS)


def test_what_the_table_says() -> None:
    assert in_order(["responses", "chat"]) == ("chat", "responses")
    assert protocol_operations("openai_chat") == {"chat", "completion"}
    assert mode_operations("chat") == ("chat", "responses")
    assert mode_operations("embedding") == ("embedding",)
    assert only_vectors(["embedding"])
    assert not only_vectors(["embedding", "chat"])
    assert not only_vectors([])
