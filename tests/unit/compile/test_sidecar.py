"""The sidecar's configuration: one text for a Pod and a host, compiled from the declared operations."""

import dataclasses
import json
import re

import pytest

from hearth.compile.files import ConfigFiles
from hearth.compile.sidecar import POD_LAYOUT, SidecarConfig
from hearth.topology.resolve import resolve
from tests.support.compiling import compile_sidecar, host_layout
from tests.support.proxy_claims import capacity, claim, deployment, private_endpoint, sidecar_endpoint

ID = "llama"


def compiled(*operations: str, **changes: object) -> SidecarConfig:
    found = claim({ID: sidecar_endpoint(**changes)}, operations=operations or ("chat",))
    return compile_sidecar(found, ID, POD_LAYOUT)


def identity(config: SidecarConfig) -> dict[str, object]:
    """Return the identity document with every expression replaced by its own text."""
    document: dict[str, object] = json.loads(re.sub(r"%\[[^]]*\]", "live", config.files["identity.json"]))
    return document


def test_equal_claims_give_equal_bytes() -> None:
    assert compiled("chat", "embedding") == compiled("embedding", "chat")


def test_operations_are_those_of_all_deployments_on_the_endpoint() -> None:
    found = claim({ID: sidecar_endpoint(), "other": private_endpoint("https://gpu.lan.test:8443/v1")})
    deployments = {
        "a": deployment(ID, "responses"),
        "b": deployment(ID, "embedding", "chat"),
        "c": deployment("other", "completion"),
    }
    values = json.loads(found.model_dump_json(by_alias=True)) | {"deployments": deployments, "aliases": {}}
    config = compile_sidecar(type(found).model_validate_json(json.dumps(values)), ID, POD_LAYOUT)
    assert config.operations == ("chat", "embedding", "responses")
    declared = re.findall(r"str\((\w+)\) if \{ method (\w+) \} \{ pathq -m str (\S+) \}", config.files["sidecar.cfg"])
    assert declared == [
        ("chat", "POST", "/v1/chat/completions"),
        ("embedding", "POST", "/v1/embeddings"),
        ("responses", "POST", "/v1/responses"),
        ("health", "GET", "/sidecar/health"),
        ("identity", "GET", "/sidecar/identity"),
    ]
    assert [entry["path"] for entry in identity(config)["operations"]] == [path for _, _, path in declared[:3]]  # type: ignore[attr-defined]


def test_the_digest_covers_all_files_but_the_one_that_carries_it() -> None:
    config = compiled()
    covered = {name: text for name, text in config.files.items() if name != "identity.json"}
    assert set(covered) == {"sidecar.cfg", "response_limit.lua"}
    assert config.files_sha256 == ConfigFiles(covered).digest
    assert identity(config)["filesSha256"] == config.files_sha256
    assert identity(config)["configSha256"] == config.config_sha256


@pytest.mark.parametrize(
    "other",
    [
        {"sidecar": {"maxRequestBytes": 262_145, "maxResponseBytes": 1_048_576}},
        {"sidecar": {"maxRequestBytes": 262_144, "maxResponseBytes": 1_048_577}},
        {"runtimeCapacity": capacity(3)},
        {"runtimeCapacity": capacity(2, 3)},
        {"runtimeCapacity": capacity(request_ms=20_001)},
        {"runtime": {**sidecar_endpoint()["runtime"], "loopback": "http://127.0.0.1:8082"}},
    ],
)
def test_what_changes_the_behaviour_changes_the_digest(other: dict[str, object]) -> None:
    assert compiled(**other).config_sha256 != compiled().config_sha256


def test_what_is_elsewhere_in_the_claim_does_not_change_the_digest() -> None:
    alone = claim({ID: sidecar_endpoint()})
    beside = claim(
        {ID: sidecar_endpoint(), "other": private_endpoint("https://gpu.lan.test:8443/v1")},
        tenants={"family": {"apps": {"notes": {"llm": True}}}},
    )
    assert compile_sidecar(alone, ID, POD_LAYOUT).files == compile_sidecar(beside, ID, POD_LAYOUT).files


@pytest.mark.parametrize("runtime_id", ['a"b\\c', "100% %[env(HOME)]", "ü 🜂"])
def test_the_identity_holds_any_runtime_id(runtime_id: str) -> None:
    config = compiled(runtimeCapacity={**capacity(), "physicalRuntimeId": runtime_id})
    text = config.files["identity.json"]
    literal = re.sub(r"(?<!%)((?:%%)*)%\[[^]]*\]", r"\1live", text).replace("%%", "%")
    assert json.loads(literal)["physicalRuntimeId"] == runtime_id


def test_a_whole_body_fits_one_buffer() -> None:
    text = compiled(sidecar={"maxRequestBytes": 4_194_304}).files["sidecar.cfg"]
    (size,) = re.findall(r"tune\.bufsize (\d+)", text)
    (rewrite,) = re.findall(r"tune\.maxrewrite (\d+)", text)
    assert int(size) - int(rewrite) >= 4_194_304 + 65_536
    assert "req.body_size gt 4194304" in text


def test_memory_grows_with_bodies_and_places() -> None:
    small = compiled().memory_bytes
    assert compiled(sidecar={"maxRequestBytes": 4_194_304}).memory_bytes > small
    assert compiled(runtimeCapacity=capacity(8)).memory_bytes > small
    assert compiled(runtimeCapacity=capacity(2, 100)).memory_bytes > small


def test_every_replica_of_the_gateway_finds_a_connection() -> None:
    found = claim({ID: sidecar_endpoint(runtimeCapacity=capacity(200, 0))}, llm={"gateway": {"replicas": 3}})
    text = compile_sidecar(found, ID, POD_LAYOUT).files["sidecar.cfg"]
    (connections,) = re.findall(r"^ +maxconn (\d+)$", text, re.MULTILINE)
    (of_one_client,) = re.findall(r"sc0_conn_cur gt (\d+)", text)
    assert int(connections) > int(of_one_client) >= 3 * 200


def test_the_pod_has_a_probe_and_the_host_the_port_of_its_url() -> None:
    found = claim({ID: sidecar_endpoint(baseUrl="https://gpu.home.arpa:9443/v1")})
    pod = compile_sidecar(found, ID, POD_LAYOUT).files["sidecar.cfg"]
    host = compile_sidecar(found, ID, host_layout(found, ID)).files["sidecar.cfg"]
    assert re.findall(r"^ +bind (\S+)", pod, re.MULTILINE) == [":8443", ":8405"]
    assert re.findall(r"^ +bind (\S+)", host, re.MULTILINE) == [":9443"]


def test_the_layout_changes_paths_and_nothing_else() -> None:
    found = claim({ID: sidecar_endpoint()})
    other = dataclasses.replace(
        POD_LAYOUT,
        config_directory="/a",
        secret_directory="/b",
        certificate="/c/tls.crt",
        listen="10.0.0.1:1",
        probe=":2",
    )
    moved = compile_sidecar(found, ID, other).files["sidecar.cfg"]
    for new, old in (
        ("/a/", "/etc/sidecar/"),
        ("/b/", "/etc/sidecar-secret/"),
        ("/c/", "/etc/sidecar-tls/"),
        ("bind 10.0.0.1:1 ", "bind :8443 "),
        ("bind :2\n", "bind :8405\n"),
    ):
        assert new in moved
        moved = moved.replace(new, old)
    assert moved == compile_sidecar(found, ID, POD_LAYOUT).files["sidecar.cfg"]


@pytest.mark.parametrize(
    ("changes", "needed"),
    [
        ({"engine": "llamaCpp", "placement": "pod"}, True),
        ({"engine": "vllm", "placement": "pod"}, True),
        ({"engine": "ollama", "placement": "pod"}, False),
        ({"engine": "llamaCpp", "placement": "host"}, False),
        ({"engine": "llamaCpp", "placement": "host", "credentialRef": "credential://a/b"}, True),
    ],
)
def test_the_runtime_gets_a_credential_when_it_has_one(changes: dict[str, str], needed: bool) -> None:
    endpoint = sidecar_endpoint(runtime={**sidecar_endpoint()["runtime"], **changes})
    found = claim({ID: endpoint})
    runtime = resolve(found).endpoint(ID).runtime
    assert runtime is not None
    assert runtime.needs_credential is needed
    assert ("runtime.map" in compile_sidecar(found, ID, POD_LAYOUT).files["sidecar.cfg"]) is needed


@pytest.mark.parametrize("engine", ["ollama", "llamaCpp", "vllm"])
def test_every_engine_has_a_health_check(engine: str) -> None:
    text = compiled(runtime={**sidecar_endpoint()["runtime"], "engine": engine}).files["sidecar.cfg"]
    assert re.search(r"http-check send meth GET uri /\S+ ver HTTP/1.1 hdr Host 127.0.0.1:8081 ", text)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sidecar": None}, "has no sidecar"),
        ({"runtime": None}, "no runtime"),
        ({"baseUrl": "https://gpu.home.arpa:8443/other"}, "ends with /v1"),
        ({"endpointAuth": {"mode": "none"}}, "needs a credential"),
    ],
)
def test_an_endpoint_that_cannot_have_a_sidecar_is_an_error(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compiled(**changes)
