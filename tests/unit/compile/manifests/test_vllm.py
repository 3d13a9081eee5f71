"""vLLM in a Pod (S3-84 … S3-88, S4-5, S4-6)."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hearth.claim.instances import Instance
from hearth.claim.vllm import OPTIONS
from hearth.compile.manifests.common import Manifest
from hearth.compile.manifests.vllm import arguments, vllm
from hearth.compile.sidecar import POD_LAYOUT
from hearth.topology.resolve import resolve
from hearth.versions import versions
from tests.support import claims
from tests.support.compiling import compile_sidecar
from tests.unit.compile.manifests.samples import claim_of, container, found_groups, grouped, one, values

DATA = Path(__file__).resolve().parents[3] / "data"


def claim(**changes: Any) -> Any:
    made = values("production")
    made["llm"].update(gpuAcceleration=True, instances=[{**claims.instance("qwen"), **changes}])
    return claim_of(made)


def made(**changes: Any) -> list[Manifest]:
    return grouped(claim(**changes))["instances"]


def pod(**changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = one(made(**changes), "Deployment")["spec"]["template"]["spec"]
    return found


def argv(**changes: Any) -> list[str]:
    upstream = resolve(claim(**changes)).endpoint("vllm-qwen")
    assert upstream.runtime is not None
    assert upstream.runtime.instance is not None
    return arguments(upstream, upstream.runtime, upstream.runtime.instance)


def real_flags() -> set[str]:
    version = re.search(r":v([0-9.]+)@", versions()["PINNED_VLLM"])
    assert version is not None
    text = (DATA / f"vllm-{version[1]}-flags.txt").read_text(encoding="utf-8")
    return {line for line in text.splitlines() if line.startswith("--")}


def flags(arguments: list[str]) -> set[str]:
    return {entry for entry in arguments if entry.startswith("--")}


def test_every_flag_is_one_of_the_pinned_vllm() -> None:
    """S4-6: a flag that vLLM does not have would stop it at its start."""
    known = real_flags()
    assert len(known) > 250
    everything = argv(quantization="fp8", toolCallParser="hermes") + argv(
        operations=["embedding"], embeddingSpace="e/1", kvCacheDtype="fp8"
    )
    assert flags(everything) <= known
    assert {f"--{name}" for name in OPTIONS} <= known


def test_nothing_that_may_be_set_is_set_by_hearth_or_opens_anything() -> None:
    own = flags(argv(quantization="fp8", toolCallParser="hermes"))
    assert not {f"--{name}" for name in OPTIONS} & own
    words = (
        "path",
        "plugin",
        "middleware",
        "host",
        "port",
        "key",
        "file",
        "dir",
        "domain",
        "trust",
        "remote",
        "worker-c",
    )
    assert not [name for name in OPTIONS for word in words if word in name]


def test_the_arguments() -> None:
    assert argv(maxNumSeqs=8, gpus=2, gpuMemoryUtilization="0.85", options={"enforce-eager": True, "seed": 7}) == [
        "/models",
        *("--host", "127.0.0.1", "--port", "8000"),
        *("--served-model-name", "qwen-qwen2.5-7b-instruct"),
        *("--max-model-len", "8192", "--max-num-seqs", "8"),
        *("--gpu-memory-utilization", "0.85", "--tensor-parallel-size", "2"),
        *("--generation-config", "vllm", "--kv-cache-dtype", "auto", "--shutdown-timeout", "15"),
        *("--allowed-media-domains", "none.invalid"),
        *("--disable-fastapi-docs", "--disable-uvicorn-access-log"),
        *("--enforce-eager", "--seed", "7"),
    ]
    assert "--no-enable-prefix-caching" in argv(options={"enable-prefix-caching": False})


def test_the_server_has_its_gpus_and_nothing_leaves_it() -> None:
    server = container({"spec": pod(gpus=4, gpuMemory="80Gi")}, "runtime")
    assert server["command"] == ["vllm", "serve"]
    assert server["resources"]["limits"]["nvidia.com/gpu"] == 4
    assert server["resources"]["requests"]["cpu"] == "8"
    # The largest file with a fifth more, 16 GiB of shared memory and 8 GiB.
    assert server["resources"]["limits"]["memory"] == "33Gi"
    environment = {entry["name"]: entry.get("value", entry.get("valueFrom")) for entry in server["env"]}
    assert {environment[name] for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "VLLM_NO_USAGE_STATS")} == {"1"}
    assert environment["VLLM_API_KEY"]["secretKeyRef"]["key"] == "runtime-key"
    writable = {mount["mountPath"] for mount in server["volumeMounts"] if not mount.get("readOnly")}
    assert writable == {"/cache", "/dev/shm", "/tmp"}
    folders = [value for value in environment.values() if isinstance(value, str) and value.startswith("/")]
    assert len(folders) >= 10
    assert all(value.startswith(("/cache/", "/tmp")) for value in folders)


def test_the_model_is_read_only_and_a_part_of_its_volume() -> None:
    mounts = {mount["mountPath"]: mount for mount in container({"spec": pod()}, "runtime")["volumeMounts"]}
    assert mounts["/models"]["readOnly"] is True
    assert re.fullmatch(r"snapshots/[0-9a-f]{10}", mounts["/models"]["subPath"])
    assert mounts["/cache"]["subPath"] == "cache"
    other = {**claims.instance("qwen")["files"], "more.json": claims.model_file("more")}
    changed = {m["mountPath"]: m for m in container({"spec": pod(files=other)}, "runtime")["volumeMounts"]}
    assert changed["/models"]["subPath"] != mounts["/models"]["subPath"]


def test_its_volume_stays_and_is_not_protected() -> None:
    """S3-85: the weights are picked up again; they can be fetched again too."""
    found = one(made(storageClass="fast", accessMode="ReadWriteMany"), "PersistentVolumeClaim")
    assert found["metadata"]["name"] == "vllm-qwen-models"
    assert found["spec"] == {
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": "60Gi"}},
        "storageClassName": "fast",
    }
    (group,) = [group for group in found_groups(claim()) if group.name == "instances"]
    (kept,) = [each for each in group.objects if each.kind == "PersistentVolumeClaim"]
    assert kept.fetched_again
    assert "storageClassName" not in one(made(), "PersistentVolumeClaim")["spec"]


def test_a_change_never_needs_a_second_set_of_gpus() -> None:
    spec = one(made(), "Deployment")["spec"]
    assert spec["strategy"] == {"type": "Recreate"}
    assert spec["replicas"] == 1
    # 15 GB at 20 MB/s, the shortest start, and five minutes.
    assert spec["progressDeadlineSeconds"] == 762 + 600 + 300
    probe = container(spec["template"], "runtime")["startupProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] == 600
    # Ten seconds until nobody comes any more, the longest request, and a margin.
    assert spec["template"]["spec"]["terminationGracePeriodSeconds"] == 10 + 120 + 20


def test_it_runs_where_gpus_are() -> None:
    assert pod()["nodeSelector"] == {"nvidia.com/gpu.present": "true"}
    assert pod()["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    asked = {
        "nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-L4"},
        "tolerations": [{"key": "team", "value": "ml", "effect": "NoExecute"}, {"key": "spot"}],
        "runtimeClass": "nvidia",
        "priorityClass": "models",
    }
    found = pod(scheduling=asked)
    assert found["nodeSelector"] == {"nvidia.com/gpu.present": "true", "nvidia.com/gpu.product": "NVIDIA-L4"}
    assert found["tolerations"][1:] == [
        {"key": "team", "operator": "Equal", "value": "ml", "effect": "NoExecute"},
        {"key": "spot", "operator": "Exists"},
    ]
    assert (found["runtimeClassName"], found["priorityClassName"]) == ("nvidia", "models")


def test_the_files_are_listed_with_digest_and_size() -> None:
    listing = one(made(), "ConfigMap", "vllm-qwen-inference-files")["data"]["files"]
    files = claims.instance("qwen")["files"]
    assert listing.splitlines() == [f"{files[path]['sha256']} {files[path]['bytes']} {path}" for path in sorted(files)]
    fetch = container({"spec": pod()}, "fetch")
    environment = {entry["name"]: entry["value"] for entry in fetch["env"]}
    assert environment["BASE_URL"] == f"https://huggingface.co/Qwen/Qwen2.5-7B-Instruct/resolve/{'a' * 40}"
    assert "COPIED" not in environment


def test_files_out_of_an_image_are_copied_and_checked_elsewhere() -> None:
    reference = f"registry.example/qwen@sha256:{'c' * 64}"
    found = pod(source={"image": {"ref": reference, "path": "/models/qwen"}})
    assert [entry["name"] for entry in found["initContainers"]] == ["copy", "fetch", "runtime"]
    copy, fetch = found["initContainers"][:2]
    assert copy["image"] == reference
    snapshot = container({"spec": pod()}, "runtime")["volumeMounts"][0]["subPath"].removeprefix("snapshots/")
    assert copy["args"] == [f"/copied/{snapshot}", "/models/qwen", "/copied/files"]
    # The image could say anything, so it sees nothing that was checked.
    assert [entry.get("subPath") for entry in copy["volumeMounts"]] == ["copied"]
    environment = {entry["name"]: entry["value"] for entry in fetch["env"]}
    assert environment["COPIED"] == "/volume/copied"
    assert "BASE_URL" not in environment
    assert fetch["image"] != reference
    policies = grouped(claim(source={"image": {"ref": reference, "path": "/models/qwen"}}))["namespace"]
    assert "llm-runtime-vllm-qwen-model" not in {each["metadata"]["name"] for each in policies}
    assert "llm-runtime-vllm-qwen-model" in {each["metadata"]["name"] for each in grouped(claim())["namespace"]}


@pytest.mark.parametrize("path", ["/invocations", "/tokenize", "/detokenize", "/metrics", "/load", "/version", "/ping"])
def test_routes_that_ask_for_no_key_are_closed_by_the_sidecar(path: str) -> None:
    text = compile_sidecar(claim(), "vllm-qwen", POD_LAYOUT).files["sidecar.cfg"]
    assert path not in text
    assert "/v1/chat/completions" in text


def test_nothing_waits_for_an_instance() -> None:
    found = found_groups(claim())
    assert [group.name for group in found if "instances" in group.needs] == []
    (group,) = [group for group in found if group.name == "instances"]
    assert group.needs == ("namespace", "trust", "secrets", "nodePools")
    assert {each.kind for each in group.objects} >= {"Deployment", "Service", "PersistentVolumeClaim", "ServiceAccount"}


def test_an_instance_is_what_the_claim_says() -> None:
    topology = resolve(claim_of(values("local")))
    with pytest.raises(ValueError, match="is no instance"):
        vllm(topology, topology.pods[0], (), "secret")
    assert Instance.model_validate_json(json.dumps(claims.instance("a"))).total_bytes == 15_238_304_196
