"""The plan of a host: the runtimes, sidecars and ports that its endpoints mean (S4-87, S4-147, S4-150)."""

import json
from typing import Any

import pytest

from hearth.claim.claim import Claim
from hearth.claim.problems import ClaimError
from hearth.compile.host import host_plan
from hearth.compile.host_endpoints import bundle_endpoints, credential_endpoints, host_addresses, host_endpoints
from hearth.topology.resolve import resolve
from tests.support import claims
from tests.support.compiling import compile_sidecar, host_layout

DIGEST = "a" * 64


def endpoint(**changes: Any) -> dict[str, Any]:
    """llama.cpp behind a sidecar on a host; `changes` are by path, with `__` between the parts."""
    runtime = claims.runtime(
        {"file": "/srv/m.gguf"},
        f"sha256:{DIGEST}",
        placement="host",
        loopback="http://localhost:8081",
        credentialRef="credential://one/runtime",
        memory="3Gi",
        chatTemplate="gemma",
    )
    found = claims.endpoint(
        "one",
        "https://box.lan.test:8443/v1",
        claims.private_tls("lan", "ca", "tls_sidecar"),
        sidecar={},
        runtime=runtime,
        runtimeCapacity=claims.capacity("box", 2, 3, coldStartTimeoutMs=1_500),
    )
    for path, value in changes.items():
        *outer, last = path.split("__")
        place = found
        for key in outer:
            place = place[key]
        place[last] = value
    return found


def claim(endpoints: dict[str, dict[str, Any]], operations: list[str] | None = None, model: str = "gemma") -> Claim:
    zone = {"cidrs": ["192.168.1.0/24", "192.168.7.0/24"], "ports": [8443], "allowPrivatePlaintext": True}
    values = claims.overlay(
        claims.BASE,
        {
            "networkZones": {"lan": zone},
            "trustBundles": {"ca": {"file": "trust/ca.v1.pem", "version": 1, "sha256": DIGEST}},
            "endpoints": endpoints,
            "deployments": {
                f"on-{name}": claims.deployment(name, *(operations or ["chat"]), model=model, residency=["lan"])
                for name in endpoints
            },
        },
    )
    return Claim.model_validate_json(json.dumps(values))


def problems(found: Claim, *names: str) -> list[str]:
    with pytest.raises(ClaimError) as refused:
        host_plan(resolve(found), names)
    return [problem.path for problem in refused.value.problems]


def test_one_endpoint_is_one_runtime_behind_one_sidecar() -> None:
    found = claim({"one": endpoint()})
    plan = host_plan(resolve(found), ["one"])
    (runtime,), (sidecar,) = plan.runtimes, plan.sidecars
    assert (runtime.address, runtime.port, runtime.parallel_requests, runtime.queued_requests) == (
        "127.0.0.1",
        8081,
        2,
        3,
    )
    assert (runtime.memory, runtime.start_timeout_seconds, runtime.credential) == ("3G", 2, "one/runtime")
    assert runtime.chat_template == "gemma"
    assert (runtime.unit, sidecar.unit) == ("hearth-llama-cpp-one", "hearth-sidecar-one")
    (model,) = runtime.models
    assert (model.name, model.source, model.location, model.sha256) == ("gemma", "file", "/srv/m.gguf", DIGEST)
    assert (sidecar.host, sidecar.port, sidecar.credential) == ("box.lan.test", 8443, "one/workload")
    assert sidecar.operations == ("chat",)
    compiled = compile_sidecar(found, "one", host_layout(found, "one"))
    assert (dict(sidecar.files), sidecar.config_sha256) == (dict(compiled.files), compiled.config_sha256)
    assert [(port.port, port.sources) for port in plan.open_ports] == [(8443, ())]
    assert plan.closed_ports == (8081,)
    assert plan.warnings == ()


def test_endpoints_with_one_origin_share_the_runtime() -> None:
    found = claim({"one": endpoint(), "two": endpoint(baseUrl="https://box.lan.test:8444/v1")})
    plan = host_plan(resolve(found), ["two", "one", "one"])
    assert [runtime.name for runtime in plan.runtimes] == ["one"]
    assert [(sidecar.endpoint, sidecar.runtime) for sidecar in plan.sidecars] == [("one", "one"), ("two", "one")]


def test_one_origin_with_two_descriptions_is_refused() -> None:
    other = endpoint(baseUrl="https://box.lan.test:8444/v1", runtimeCapacity__maxParallelRequests=4)
    assert problems(claim({"one": endpoint(), "two": other}), "one", "two") == ["hearth:endpoints.two.runtime"]


def test_two_programs_on_one_port_are_refused() -> None:
    second = endpoint(runtime__loopback="http://127.0.0.1:9000")
    assert problems(claim({"one": endpoint(), "two": second}), "one", "two") == ["hearth:endpoints.two.baseUrl"]


def test_two_runtimes_on_one_port_are_refused() -> None:
    """A runtime that serves plaintext has the port of its base URL, whatever its loopback is."""
    plain = {
        "baseUrl": "http://box.lan.test:8080/v1",
        "endpointAuth": {"mode": "none"},
        "networkProfile": {"mode": "private_plaintext", "networkZoneId": "lan", "acceptPlaintextRisk": True},
        "sidecar": None,
    }
    behind = endpoint(runtime__loopback="http://127.0.0.1:8080")
    for other in (behind, endpoint(**plain, runtime__loopback="http://127.0.0.1:9000")):
        found = claim({"one": other, "two": endpoint(**plain)})
        assert problems(found, "one", "two") == ["hearth:endpoints.two.baseUrl"]


@pytest.mark.parametrize(
    ("auth", "header", "bearer"),
    [
        ({"mode": "bearer"}, "authorization", True),
        ({"mode": "api_key", "header": "x-api-key"}, "x-api-key", False),
        ({"mode": "api_key", "header": "authorization"}, "authorization", False),
    ],
)
def test_the_plan_says_how_a_client_sends_its_token(auth: dict[str, str], header: str, bearer: bool) -> None:
    found = claim({"one": endpoint(endpointAuth={**auth, "credentialRef": "credential://one/workload"})})
    (sidecar,) = host_plan(resolve(found), ["one"]).sidecars
    assert (sidecar.credential_header, sidecar.credential_is_bearer) == (header, bearer)


def test_plaintext_is_open_to_its_zone_alone_and_warned_about() -> None:
    plain = endpoint(
        baseUrl="http://box.lan.test:8080/v1",
        endpointAuth={"mode": "none"},
        networkProfile={"mode": "private_plaintext", "networkZoneId": "lan", "acceptPlaintextRisk": True},
        sidecar=None,
    )
    plan = host_plan(resolve(claim({"one": plain})), ["one"])
    assert plan.sidecars == ()
    assert (plan.runtimes[0].address, plan.runtimes[0].port) == ("0.0.0.0", 8080)
    assert [(port.port, port.sources) for port in plan.open_ports] == [(8080, ("192.168.1.0/24", "192.168.7.0/24"))]
    assert plan.closed_ports == ()
    assert len(plan.warnings) == 1
    assert "unencrypted" in plan.warnings[0]


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"runtime__placement": "pod"}, "runtime.placement"),
        ({"runtime": None}, "runtime.placement"),
    ],
)
def test_what_is_not_on_a_host_is_refused_with_its_place(changes: dict[str, Any], path: str) -> None:
    assert problems(claim({"one": endpoint(**changes)}), "one") == [f"hearth:endpoints.one.{path}"]


def test_an_endpoint_that_is_not_in_the_claim_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ClaimError, match="Name one of its endpoints in the inventory: one"):
        host_plan(resolve(claim({"one": endpoint()})), ["nobody"])


def test_chats_and_embeddings_need_a_llama_cpp_each() -> None:
    assert problems(claim({"one": endpoint()}, ["chat", "embedding"]), "one") == ["hearth:endpoints.one.runtime"]
    assert host_plan(resolve(claim({"one": endpoint()}, ["embedding"])), ["one"]).runtimes[0].embedding


def test_ollama_models_keep_the_names_of_the_library() -> None:
    models = [
        {"source": {"ollama": "qwen3:0.6b"}, "digest": f"sha256:{DIGEST}"},
        {
            "source": {"huggingFace": {"repo": "o/m", "revision": "b" * 40, "file": "m.gguf"}},
            "digest": f"sha256:{DIGEST}",
        },
    ]
    found = endpoint(runtime__engine="ollama", runtime__models=models, runtime__credentialRef=None)
    named = host_plan(resolve(claim({"one": found})), ["one"]).runtimes[0].models
    assert [(model.name, model.source) for model in named] == [("qwen3:0.6b", "ollama"), ("gemma", "url")]
    assert named[1].location == f"https://huggingface.co/o/m/resolve/{'b' * 40}/m.gguf"


def test_ollama_finds_a_model_with_and_without_its_tag() -> None:
    models = [{"source": {"ollama": "gemma:latest"}, "digest": f"sha256:{DIGEST}"}]
    found = endpoint(runtime__engine="ollama", runtime__models=models, runtime__credentialRef=None)
    named = host_plan(resolve(claim({"one": found})), ["one"]).runtimes[0].models
    assert [(model.name, model.source) for model in named] == [("gemma:latest", "ollama")]


def test_one_ollama_answers_chats_responses_and_embeddings_behind_one_sidecar() -> None:
    """S4-68: one endpoint with all its operations is one unit, one port, and one sidecar."""
    models = [{"source": {"ollama": name}, "digest": f"sha256:{DIGEST}"} for name in ("gemma", "nomic")]
    one = endpoint(runtime__engine="ollama", runtime__models=models, runtime__credentialRef=None)
    del one["protocol"]
    values = json.loads(claim({"one": one}, ["chat", "responses"]).model_dump_json(by_alias=True))
    values["endpoints"]["one"] |= {"protocol": None, "operations": ["embedding", "chat", "responses"]}
    values["deployments"]["vectors"] = claims.deployment("one", "embedding", model="nomic:latest", embeddingSpace="n/1")
    topology = resolve(Claim.model_validate_json(json.dumps(values)))
    plan = host_plan(topology, ["one"])
    (runtime,), (sidecar,) = plan.runtimes, plan.sidecars
    assert [(model.name, model.embedding) for model in runtime.models] == [("gemma", False), ("nomic", True)]
    assert (runtime.embedding, sidecar.operations) == (False, ("chat", "embedding", "responses"))
    assert topology.endpoint("one").protocol == "chat+embedding+responses"


def test_the_hosts_of_a_claim() -> None:
    found = claim(
        {
            "b": endpoint(baseUrl="https://box.lan.test:8444/v1"),
            "a": endpoint(),
            "c": endpoint(baseUrl="https://192.168.1.9:8443/v1"),
            "pod": endpoint(runtime__placement="pod"),
        }
    )
    assert host_endpoints(resolve(found)) == {"192.168.1.9": ("c",), "box.lan.test": ("a", "b")}


def test_a_declared_address_is_the_hosts_own_and_no_source_of_plaintext() -> None:
    with_address = endpoint(networkProfile__address="192.168.1.9")
    plain = endpoint(
        baseUrl="http://plain.lan.test:8081/v1",
        endpointAuth={"mode": "none"},
        networkProfile={**claims.private_plaintext("lan"), "address": "192.168.1.8"},
        sidecar=None,
    )
    topology = resolve(claim({"a": with_address, "plain": plain}))
    assert host_addresses(topology) == {"box.lan.test": "192.168.1.9", "plain.lan.test": "192.168.1.8"}
    (runtime,) = host_plan(topology, ["plain"]).runtimes
    assert runtime.plaintext_sources == ("192.168.1.0/24", "192.168.7.0/24")


def test_who_uses_a_credential_or_a_bundle() -> None:
    pod = endpoint(runtime__placement="pod")
    plain = endpoint(endpointAuth={"mode": "none"}, networkProfile__tls=None, networkProfile__mode="private_plaintext")
    found = claim({"b": endpoint(), "a": endpoint(), "pod": pod, "plain": plain})
    assert credential_endpoints(resolve(found)) == {"one/workload": ("a", "b")}
    assert bundle_endpoints(resolve(found)) == {"ca": ("a", "b")}
