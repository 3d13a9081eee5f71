"""A model server and its sidecar in one Pod (S4-146)."""

import json
from typing import Any

import pytest

from hearth.claim.claim import Claim
from hearth.claim.problems import ClaimError
from hearth.compile.manifests.common import Manifest
from hearth.compile.manifests.model import library_manifest
from tests.unit.compile.manifests.samples import claim_of, container, containers, grouped, one, values, variants


def made(claim: Claim | None = None) -> list[Manifest]:
    return grouped(claim or variants()["local"])["runtimes"]


def template(claim: Claim | None = None) -> dict[str, Any]:
    found: dict[str, Any] = one(made(claim), "Deployment")["spec"]["template"]
    return found


def environment(entry: dict[str, Any]) -> dict[str, Any]:
    return {item["name"]: item.get("value", item.get("valueFrom")) for item in entry.get("env", [])}


def mounts(entry: dict[str, Any]) -> dict[str, str]:
    return {mount["name"]: mount["mountPath"] for mount in entry.get("volumeMounts", [])}


def after(arguments: list[str], flag: str) -> str:
    return arguments[arguments.index(flag) + 1]


def runtime(claim: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = claim["endpoints"]["gemma"]["runtime"]
    return found


def test_the_only_open_port_is_the_sidecars() -> None:
    for variant in ("local", "ollama"):
        ports = {port["name"] for entry in containers(template(variants()[variant])) for port in entry.get("ports", [])}
        assert ports == {"https", "probe"}
        assert one(made(variants()[variant]), "Service")["spec"]["ports"] == [
            {"name": "https", "port": 8443, "targetPort": "https", "protocol": "TCP"}
        ]


def test_the_runtime_listens_on_loopback() -> None:
    arguments = container(template(), "runtime")["args"]
    assert (after(arguments, "--host"), after(arguments, "--port")) == ("127.0.0.1", "8081")
    assert environment(container(template(variants()["ollama"]), "runtime"))["OLLAMA_HOST"] == "127.0.0.1:8081"


def test_nothing_else_is_in_the_pod() -> None:
    assert [entry["name"] for entry in template()["spec"]["containers"]] == ["sidecar"]
    assert [entry["name"] for entry in template()["spec"]["initContainers"]] == ["copy-0", "fetch-0", "runtime"]
    staying = [entry["name"] for entry in template()["spec"]["initContainers"] if entry.get("restartPolicy")]
    assert staying == ["runtime"]
    assert "shareProcessNamespace" not in template()["spec"]


def test_the_runtimes_key_is_a_file_that_the_caller_never_has() -> None:
    arguments = container(template(), "runtime")["args"]
    assert after(arguments, "--api-key-file") == "/etc/runtime-secret/runtime-key"
    volumes = {volume["name"]: volume for volume in template()["spec"]["volumes"]}
    keys = {
        name: [item["key"] for item in volumes[name]["secret"]["items"]]
        for name in ("runtime-secret", "sidecar-secret", "sidecar-tls")
    }
    assert keys == {
        "runtime-secret": ["runtime-key"],
        "sidecar-secret": ["tokens.map", "runtime.map"],
        "sidecar-tls": ["tls.crt", "tls.key"],
    }
    assert set(mounts(container(template(), "runtime"))) == {"models", "runtime-secret", "tmp"}
    assert set(mounts(container(template(), "sidecar"))) == {"sidecar", "sidecar-secret", "sidecar-tls"}


def test_capacity_is_what_the_claim_declares() -> None:
    claim = values()
    claim["endpoints"]["gemma"]["runtimeCapacity"]["maxParallelRequests"] = 3
    runtime(claim).update(contextTokens=2048, threads=2, memory="3Gi")
    entry = container(template(claim_of(claim)), "runtime")
    assert after(entry["args"], "--parallel") == "3"
    assert after(entry["args"], "--ctx-size") == "6144"
    assert after(entry["args"], "--threads") == "2"
    assert after(entry["args"], "--alias") == "gemma3-270m"
    assert entry["resources"]["limits"]["memory"] == entry["resources"]["requests"]["memory"] == "3Gi"
    assert entry["resources"]["requests"]["cpu"] == "1000m"


def test_embeddings_alone_make_an_embedding_server() -> None:
    claim = values()
    assert "--embedding" not in container(template(), "runtime")["args"]
    claim["endpoints"]["gemma"]["protocol"] = "openai_embeddings"
    claim["deployments"]["gemma-local"].update(operations=["embedding"], embeddingSpace="s-1")
    runtime(claim).pop("chatTemplate", None)
    runtime(claim).update(pooling="cls", contextTokens=2048)
    arguments = container(template(claim_of(claim)), "runtime")["args"]
    assert "--embedding" in arguments
    # An input of the whole context is computed at once.
    assert [after(arguments, flag) for flag in ("--batch-size", "--ubatch-size", "--pooling")] == [
        "2048",
        "2048",
        "cls",
    ]


def test_the_published_server_is_told_to_stay_small_and_closed() -> None:
    arguments = container(template(variants()["hugging-face"]), "runtime")["args"]
    assert {"--offline", "--no-webui", "--no-slots"} <= set(arguments)
    assert after(arguments, "--cache-ram") == "0"


def test_a_model_is_checked_in_another_image_than_its_own() -> None:
    copy, fetch = container(template(), "copy-0"), container(template(), "fetch-0")
    assert copy["image"] == "localhost/hearth/model-gemma3-270m:1.0.0-local1"
    assert copy["command"] + copy["args"] == ["cp", "/model/model.gguf", "/models/0.gguf.part"]
    assert fetch["image"] == container(template(), "runtime")["image"]
    assert environment(fetch) == {
        "MODEL": "/models/0.gguf",
        "SHA256": "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    }
    assert after(container(template(), "runtime")["args"], "--model") == "/models/0.gguf"
    (models,) = [m for m in container(template(), "runtime")["volumeMounts"] if m["name"] == "models"]
    assert models["readOnly"] is True


def test_a_hub_model_is_fetched_at_its_commit_with_an_optional_token() -> None:
    found = template(variants()["hugging-face"])
    fetch = container(found, "fetch-0")
    assert environment(fetch)["URL"] == f"https://huggingface.co/google/gemma/resolve/{'a' * 40}/g.gguf"
    assert mounts(fetch)["hub"] == "/etc/hub-credentials"
    hub = next(volume for volume in found["spec"]["volumes"] if volume["name"] == "hub")
    assert (hub["secret"]["secretName"], hub["secret"]["optional"]) == ("vllm-hf-token", True)
    assert not [entry for entry in containers(found) if entry["name"].startswith("copy")]
    spec = one(made(variants()["hugging-face"]), "Deployment")["spec"]
    assert spec["progressDeadlineSeconds"] > one(made(), "Deployment")["spec"]["progressDeadlineSeconds"]


def test_an_address_needs_no_token() -> None:
    claim = values()
    runtime(claim)["models"][0]["source"] = {"url": "https://models.example/g.gguf"}
    found = template(claim_of(claim))
    assert environment(container(found, "fetch-0"))["URL"] == "https://models.example/g.gguf"
    assert "hub" not in {volume["name"] for volume in found["spec"]["volumes"]}


def test_ollama_imports_what_was_checked() -> None:
    found = template(variants()["ollama"])
    names = [entry["name"] for entry in found["spec"]["initContainers"]]
    assert names == ["copy-0", "fetch-0", "import-0", "runtime"]
    imported = environment(container(found, "import-0"))
    assert (imported["MODEL_NAME"], imported["MODEL_FILE"]) == ("gemma3-270m", "/models/0.gguf")
    assert "SHA256" not in imported


def test_ollama_pulls_from_its_library_and_checks_the_manifest() -> None:
    found = template(variants()["ollama-library"])
    assert [entry["name"] for entry in found["spec"]["initContainers"]] == ["import-0", "runtime"]
    imported = environment(container(found, "import-0"))
    assert imported["MODEL_NAME"] == "gemma3:270m"
    assert imported["MANIFEST"] == "registry.ollama.ai/library/gemma3/270m"
    assert imported["SHA256"] == "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("gemma3", "registry.ollama.ai/library/gemma3/latest"),
        ("someone/gemma3:1b", "registry.ollama.ai/someone/gemma3/1b"),
        ("hf.co/someone/gemma3:q4", "hf.co/someone/gemma3/q4"),
    ],
)
def test_where_ollama_keeps_a_manifest(name: str, path: str) -> None:
    assert library_manifest(name) == path


def test_ollama_is_bounded_and_sends_nothing_to_a_cloud() -> None:
    assert environment(container(template(variants()["ollama"]), "runtime")) == {
        "HOME": "/tmp",
        "OLLAMA_HOST": "127.0.0.1:8081",
        "OLLAMA_MODELS": "/library",
        "OLLAMA_NO_CLOUD": "1",
        "OLLAMA_NUM_PARALLEL": "2",
        "OLLAMA_MAX_QUEUE": "4",
        "OLLAMA_KEEP_ALIVE": "86400s",
        "OLLAMA_CONTEXT_LENGTH": "4096",
        "OLLAMA_LOAD_TIMEOUT": "300s",
    }


def test_a_warm_model_is_loaded_before_the_pod_is_ready_and_a_cold_one_is_not() -> None:
    warm = container(template(variants()["ollama"]), "runtime")["startupProbe"]
    assert warm["exec"]["command"][-1] == "gemma3-270m"
    assert warm["timeoutSeconds"] == 300
    assert warm["exec"]["command"][2] == '/bin/ollama run "$0" "" </dev/null >/dev/null'
    claim = json.loads(json.dumps(values()))
    claim["policy"]["images"] = "pinned"
    runtime(claim).update(engine="ollama")
    runtime(claim)["models"][0]["source"] = {"url": "https://models.example/g.gguf"}
    claim["endpoints"]["gemma"]["runtimeCapacity"]["readinessPolicy"] = "on_demand"
    cold = container(template(claim_of(claim)), "runtime")["startupProbe"]
    assert cold["exec"]["command"] == ["/bin/ollama", "list"]


def test_every_model_is_warmed_and_one_that_embeds_with_a_text() -> None:
    """Ollama takes no empty text to a model that embeds: its Pod would never start."""
    claim = json.loads(json.dumps(values()))
    claim["policy"]["images"] = "pinned"
    digest = f"sha256:{'0' * 64}"
    models = [{"source": {"ollama": name}, "digest": digest} for name in ("gemma3:270m", "nomic-embed-text")]
    runtime(claim).update(engine="ollama", models=models)
    runtime(claim).pop("chatTemplate", None)
    claim["deployments"]["gemma-local"]["model"] = "gemma3:270m"
    vectors = {"operations": ["embedding"], "embeddingSpace": "s-1", "model": "nomic-embed-text:latest"}
    claim["deployments"]["vectors"] = {**claim["deployments"]["gemma-local"], **vectors}
    probe = container(template(Claim.model_validate_json(json.dumps(claim))), "runtime")["startupProbe"]
    assert probe["exec"]["command"][2:] == [
        '/bin/ollama run "$0" "" </dev/null >/dev/null && /bin/ollama run "$1" warm </dev/null >/dev/null',
        "gemma3:270m",
        "nomic-embed-text",
    ]


def test_a_start_may_take_as_long_as_declared_and_never_less_than_ten_minutes() -> None:
    claim = values()
    probe = container(template(), "runtime")["startupProbe"]
    assert probe["failureThreshold"] * probe["periodSeconds"] == 600
    claim["endpoints"]["gemma"]["runtimeCapacity"]["coldStartTimeoutMs"] = 1_800_000
    spec = one(made(claim_of(claim)), "Deployment")["spec"]
    probe = container(spec["template"], "runtime")["startupProbe"]
    assert probe["failureThreshold"] * probe["periodSeconds"] == 1800
    assert spec["progressDeadlineSeconds"] == 2100


def test_it_drains_for_its_longest_request_and_never_runs_twice() -> None:
    spec = one(made(), "Deployment")["spec"]
    assert spec["strategy"] == {"type": "Recreate"}
    assert spec["template"]["spec"]["terminationGracePeriodSeconds"] == 330
    assert container(spec["template"], "sidecar")["lifecycle"] == {"preStop": {"sleep": {"seconds": 10}}}


def test_liveness_of_the_sidecar_does_not_depend_on_the_runtime() -> None:
    entry = container(template(), "sidecar")
    assert entry["livenessProbe"]["tcpSocket"] == {"port": "probe"}
    assert entry["readinessProbe"]["httpGet"] == {"path": "/healthz", "port": "probe"}


def test_its_pods_carry_the_endpoints_id() -> None:
    assert template()["metadata"]["labels"]["hearth.dev/endpoint"] == "gemma"
    assert template()["metadata"]["labels"]["hearth.dev/role"] == "runtime"


def _file(claim: dict[str, Any]) -> None:
    runtime(claim)["models"][0]["source"] = {"file": "/models/g.gguf"}


def _library(claim: dict[str, Any]) -> None:
    runtime(claim)["models"][0]["source"] = {"ollama": "gemma3"}


def _two(claim: dict[str, Any]) -> None:
    runtime(claim)["models"] *= 2


def _two_names(claim: dict[str, Any]) -> None:
    claim["deployments"]["other"] = {**claim["deployments"]["gemma-local"], "model": "other"}


def _vllm(claim: dict[str, Any]) -> None:
    runtime(claim)["engine"] = "vllm"


def _local_ollama(claim: dict[str, Any]) -> None:
    runtime(claim)["engine"] = "ollama"


def _another_name(claim: dict[str, Any]) -> None:
    claim["policy"]["images"] = "pinned"
    runtime(claim).update(engine="ollama")
    runtime(claim)["models"][0]["source"] = {"ollama": "gemma3:270m"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_another_name, "hearth:endpoints.gemma.runtime.models: 1 model name(s) of deployments and 0 source(s)"),
        (_file, "hearth:endpoints.gemma.runtime.models[0].source.file: a Pod sees no files of its host"),
        (_library, "hearth:endpoints.gemma.runtime.models[0].source.ollama: only Ollama has that library"),
        (_two, "hearth:endpoints.gemma.runtime.models: llama.cpp serves one model"),
        (_two_names, "hearth:endpoints.gemma.runtime.models: 2 model name(s) of deployments and 1 source(s)"),
        (_vllm, "hearth:endpoints.gemma.runtime.engine: vllm is not supported yet here"),
        (_local_ollama, "hearth:policy.images: the local build has no image of ollama"),
    ],
)
def test_what_cannot_run_in_a_pod_is_refused(change: Any, message: str) -> None:
    claim = values()
    change(claim)
    with pytest.raises(ClaimError) as refused:
        made(claim_of(claim))
    assert str(refused.value).startswith(message)


def test_two_endpoints_share_one_copy_of_the_scripts() -> None:
    claim = values()
    second = json.loads(json.dumps(claim["endpoints"]["gemma"]).replace("llm-gemma", "llm-gemma-two"))
    second["runtimeCapacity"]["physicalRuntimeId"] = "other"
    claim["endpoints"]["gemma-two"] = second
    names = [manifest["metadata"]["name"] for manifest in made(claim_of(claim))]
    assert len(names) == len(set(names)) + 2  # a Service and its Deployment have one name
    assert sum(name.startswith("llm-model-scripts") for name in names) == 1


def test_a_model_name_means_itself_and_no_variable() -> None:
    claim = values()
    claim["deployments"]["gemma-local"]["model"] = "$(HOME) $x"
    arguments = container(template(claim_of(claim)), "runtime")["args"]
    # Kubernetes makes one dollar of two, and reads no name behind them.
    assert after(arguments, "--alias") == "$$(HOME) $$x"


def test_the_tag_latest_may_be_left_out() -> None:
    claim = values()
    claim["policy"]["images"] = "pinned"
    runtime(claim)["engine"] = "ollama"
    runtime(claim)["models"] = [{"source": {"ollama": "gemma3"}, "digest": f"sha256:{'0' * 64}"}]
    claim["deployments"]["gemma-local"]["model"] = "gemma3:latest"
    assert environment(container(template(claim_of(claim)), "import-0"))["MODEL_NAME"] == "gemma3"
