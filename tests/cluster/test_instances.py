"""The Pod of a vLLM instance, run: its files, folders, key, closed routes, volume and end (S3-84 … S3-88, S4-5, S4-6).

No GPU is at hand: a node says that it has two, and a mock (`tests/support/mock_vllm`) stands in vLLM's place. All
else is what Hearth deploys, in a namespace of its own with the policies of `system-llm`.
"""

import copy
import hashlib
import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from hearth.claim.claim import Claim
from hearth.compile import images
from hearth.compile.manifests.common import Manifest
from hearth.compile.manifests.credentials import SecretNames, endpoint_contents
from hearth.compile.manifests.groups import groups
from hearth.compile.manifests.vllm import arguments
from hearth.topology.resolve import resolve
from hearth.versions import versions
from tests.cluster.conftest import client_pod
from tests.cluster.kube import Kube, eventually
from tests.cluster.stack import ROOT
from tests.support import claims, pki
from tests.support.compiling import compile_claim

pytestmark = [pytest.mark.cluster, pytest.mark.apart]

NAMESPACE = "vllm-test"
ENDPOINT = "vllm-tiny"
ENGINE = "localhost/hearth/mock-vllm:test"
FILES = {"config.json": b"{}", "model.safetensors": b"no weights" * 500, "sub/vocabulary.json": b"[]"}
TOKEN, KEY = "token-of-the-guard-0123456789abcdef", "key-of-the-engine-0123456789abcdef"

CALL = """
import json, ssl, sys, urllib.error, urllib.request
url, body, token = sys.argv[1:4]
context = ssl.create_default_context(cadata=sys.argv[4])
headers = {"Content-Type": "application/json", **({"Authorization": "Bearer " + token} if token else {})}
try:
    request = urllib.request.Request(url, body.encode() if body else None, headers)
    with urllib.request.urlopen(request, timeout=120, context=context) as answer:
        if "print-lines" in sys.argv:
            for line in answer:
                print(line.decode().strip(), flush=True)
        else:
            print(json.dumps([answer.status, answer.read().decode()]))
except urllib.error.HTTPError as error:
    print(json.dumps([error.code, error.read().decode()]))
except OSError as error:
    print(json.dumps([0, type(error).__name__]))
"""
LOCAL = """
import json, sys, urllib.request
print(urllib.request.urlopen(sys.argv[1], timeout=10).read().decode())
"""


@dataclass
class Instance:
    """The instance under test."""

    kube: Kube
    service: str
    arguments: list[str]
    authority: pki.Authority
    port: int

    @property
    def pod(self) -> str:
        return self.kube.pod_names(NAMESPACE, f"hearth.dev/endpoint={ENDPOINT}")[0]

    def url(self, path: str) -> str:
        return f"https://{self.service}.{NAMESPACE}.svc.cluster.local:8443{path}"

    def call(self, path: str, body: object = None, token: str = TOKEN, caller: str = "guard") -> tuple[int, str]:
        text = "" if body is None else json.dumps(body)
        said = self.kube.python(NAMESPACE, caller, CALL, self.url(path), text, token, self.authority.pem)
        status, answer = json.loads(said)
        return status, answer

    def seen(self) -> dict[str, Any]:
        """What the engine saw of its surroundings."""
        url = f"http://127.0.0.1:{self.port}/seen"
        said = self.kube.execute(NAMESPACE, self.pod, "python3", "-", url, stdin=LOCAL, container="runtime")
        found: dict[str, Any] = json.loads(said)
        return found

    def rolled_out(self) -> None:
        self.kube.run("-n", NAMESPACE, "rollout", "status", f"deployment/{self.service}", "--timeout=300s")


def claim() -> Claim:
    files = {path: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)} for path, data in FILES.items()}
    instance = claims.instance(
        "tiny",
        files=files,
        source={"image": {"ref": ENGINE, "path": "/weights"}},
        memory="192Mi",
        modelCacheSize="1Gi",
    )
    values = {"llm": {"gpuAcceleration": True, "instances": [instance]}, "policy": {"images": "localBuild"}}
    return Claim.model_validate_json(json.dumps(claims.overlay(claims.BASE, values)))


def build(environment: dict[str, str], folder: Path) -> None:
    """Make the engine's image, and load it."""
    for name in ("Containerfile", "vllm"):
        content = (ROOT / "tests/support/mock_vllm" / name).read_bytes()
        (folder / name).write_bytes(content)
    (folder / "vllm").chmod(0o755)
    (flags,) = (ROOT / "tests/data").glob("vllm-*-flags.txt")
    (folder / "flags.txt").write_bytes(flags.read_bytes())
    for path, data in FILES.items():
        file = folder / "weights" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    script = (
        ". local/lib.sh && . local/podman.sh && . local/branch.sh && choose_branch && "
        'arguments=() && { [ "$HEARTH_ENGINE" != podman ] || arguments=(--isolation=chroot); } && '
        '"$HEARTH_ENGINE" build --quiet --no-cache "${arguments[@]}" --build-arg "ROOT=$1" -t "$2" "$3"'
    )
    command = ["bash", "-c", script, "build", versions()["IMAGE_CLIENT"], ENGINE, str(folder)]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    subprocess.run(["bash", "local/load-images.sh", ENGINE], cwd=ROOT, env=environment, check=True, capture_output=True)


def moved(manifest: Manifest) -> Manifest:
    """Return a manifest of `system-llm` for the namespace of this test."""
    made = copy.deepcopy(manifest)
    if made["kind"] == "Namespace":
        made["metadata"]["name"] = NAMESPACE
    else:
        made["metadata"]["namespace"] = NAMESPACE
    if made["kind"] == "Deployment":
        for container in made["spec"]["template"]["spec"]["initContainers"]:
            # The nodes of this cluster have two processors in all.
            container["resources"]["requests"]["cpu"] = "50m"
    return made


def with_gpus(kube: Kube, number: int) -> str:
    """Let a node say that it has GPUs, as a device plugin would."""
    node = next(
        found["metadata"]["name"] for found in kube.json("get", "nodes")["items"] if not found["spec"].get("taints")
    )
    kube.run("label", "node", node, "nvidia.com/gpu.present=true", "--overwrite")
    patch = [{"op": "add", "path": "/status/capacity/nvidia.com~1gpu", "value": str(number)}]
    kube.run("patch", "node", node, "--subresource=status", "--type=json", f"--patch={json.dumps(patch)}")
    return str(node)


@pytest.fixture(scope="module")
def instance(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    build(environment, tmp_path_factory.mktemp("mock-vllm"))
    kube, declared = Kube(environment), claim()
    kube.run("delete", "namespace", NAMESPACE, "--ignore-not-found", "--wait=true")
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(images._LOCAL, "vllm", images.ImageProfile(ENGINE, 65532, 65532, ("vllm", "serve")))
        topology = resolve(declared)
        found = groups(
            topology, compile_claim(declared, bundles={}), SecretNames.by_reference(topology), addresses=None
        )
    deployed = {
        group.name: [moved(each.manifest) for each in group.objects]
        for group in found
        if group.name in ("namespace", "instances")
    }
    upstream = topology.endpoint(ENDPOINT)
    assert upstream.runtime is not None
    assert upstream.runtime.instance is not None
    authority = pki.Authority("in-cluster CA of the test")
    certificate, key = authority.issue(x509.DNSName(f"{upstream.service}.{NAMESPACE}.svc.cluster.local"))
    contents = endpoint_contents(token=TOKEN, runtime_key=KEY, certificate=certificate, private_key=key)
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": f"llm-endpoint-{ENDPOINT}", "namespace": NAMESPACE},
        "stringData": contents,
    }
    node = with_gpus(kube, 2)
    guard, neighbour = client_pod(NAMESPACE, "guard"), client_pod(NAMESPACE, "neighbour")
    guard["metadata"]["labels"]["hearth.dev/role"] = "guard"
    kube.apply(*deployed["namespace"])
    kube.apply(secret, *deployed["instances"], guard, neighbour)
    made = Instance(
        kube,
        upstream.service,
        arguments(upstream, upstream.runtime, upstream.runtime.instance),
        authority,
        upstream.runtime.loopback.port,
    )
    kube.run("-n", NAMESPACE, "wait", "--for=condition=Ready", "pod/guard", "pod/neighbour", "--timeout=120s")
    made.rolled_out()
    yield made
    kube.run("delete", "namespace", NAMESPACE, "--wait=false")
    kube.run("label", "node", node, "nvidia.com/gpu.present-")
    patch = [{"op": "remove", "path": "/status/capacity/nvidia.com~1gpu"}]
    kube.run("patch", "node", node, "--subresource=status", "--type=json", f"--patch={json.dumps(patch)}")


CHAT = {"messages": [{"role": "user", "content": "hello"}], "max_tokens": 3}


def chat(instance: Instance, **changes: Any) -> dict[str, Any]:
    """A chat with the model under the name that the engine got."""
    name = instance.arguments[instance.arguments.index("--served-model-name") + 1]
    return {**CHAT, "model": name, **changes}


def test_the_engine_gets_its_arguments_its_files_and_its_folders(instance: Instance) -> None:
    seen = instance.seen()
    assert seen["argv"] == ["serve", *instance.arguments]
    assert seen["files"] == sorted(FILES)
    assert seen["model_writable"] is False
    assert seen["unwritable"] == []
    assert seen["offline"] == "1"
    assert seen["user"] == 65532
    pod = instance.kube.json("-n", NAMESPACE, "get", "pod", instance.pod)
    (runtime,) = [found for found in pod["spec"]["initContainers"] if found["name"] == "runtime"]
    assert runtime["resources"]["limits"]["nvidia.com/gpu"] == "1"


def test_its_key_stands_in_no_argument_and_no_file(instance: Instance) -> None:
    look = "cat /proc/[0-9]*/cmdline | tr '\\0' '\\n'; cat /models/config.json"
    said = instance.kube.execute(NAMESPACE, instance.pod, "sh", "-c", look, container="runtime")
    assert "--served-model-name" in said
    assert KEY not in said
    assert KEY not in json.dumps(instance.kube.json("-n", NAMESPACE, "get", "pod", instance.pod))


def test_the_guard_is_answered_through_the_sidecar(instance: Instance) -> None:
    status, said = instance.call("/v1/chat/completions", chat(instance))
    assert status == 200, said
    assert json.loads(said)["choices"][0]["message"]["content"] == "word word word "
    assert instance.call("/v1/chat/completions", chat(instance), token="")[0] == 401
    # The engine's own key opens nothing from outside.
    assert instance.call("/v1/chat/completions", chat(instance), token=KEY)[0] == 401


@pytest.mark.parametrize("path", ["/invocations", "/tokenize", "/metrics", "/load", "/seen", "/v1/models"])
def test_routes_that_the_engine_leaves_open_are_closed(instance: Instance, path: str) -> None:
    assert instance.call(path)[0] == 404
    assert instance.call(path, {})[0] == 404


def test_nobody_else_reaches_it(instance: Instance) -> None:
    assert instance.call("/v1/chat/completions", chat(instance), caller="neighbour")[0] == 0
    address = instance.kube.json("-n", NAMESPACE, "get", "pod", instance.pod)["status"]["podIP"]
    program = "import socket, sys; print(socket.socket().connect_ex((sys.argv[1], int(sys.argv[2]))))"
    for caller in ("guard", "neighbour"):
        bounded = f"import socket; socket.setdefaulttimeout(4); {program}"
        said = instance.kube.python(NAMESPACE, caller, bounded, address, str(instance.port))
        assert said.strip() != "0", f"{caller} reaches the engine past its sidecar"


def test_a_stream_outlives_a_restart_and_the_files_are_not_copied_again(instance: Instance) -> None:
    """S3-85: the next Pod takes the volume as it is; what is being answered is finished first."""
    kube, before = instance.kube, instance.pod
    volume = kube.json("-n", NAMESPACE, "get", "pvc")["items"][0]["metadata"]["uid"]

    def inode() -> str:
        command = ("stat", "-c", "%i", "/models/model.safetensors")
        return kube.execute(NAMESPACE, instance.pod, *command, container="runtime")

    files = inode()
    words = 70  # longer than the sidecar waits before it drains
    body = json.dumps(chat(instance, stream=True, max_tokens=words))
    stream = kube.start(
        NAMESPACE, "guard", "python3", "-c", CALL, instance.url("/v1/chat/completions"), body, TOKEN,
        instance.authority.pem, "print-lines",
    )  # fmt: skip
    assert stream.stdout is not None
    assert '"0 "' in stream.stdout.readline()
    kube.run("-n", NAMESPACE, "rollout", "restart", f"deployment/{instance.service}")
    lines = [line for line in stream.communicate(timeout=120)[0].splitlines() if line]
    assert lines[-1] == "data: [DONE]"
    assert len(lines) == words, "the stream lost words"

    eventually("another Pod", lambda: before not in kube.pod_names(NAMESPACE, f"hearth.dev/endpoint={ENDPOINT}"))
    instance.rolled_out()
    assert instance.seen()["files"] == sorted(FILES)
    assert kube.json("-n", NAMESPACE, "get", "pvc")["items"][0]["metadata"]["uid"] == volume
    assert inode() == files


def test_an_instance_that_asks_for_more_gpus_than_there_are_waits(instance: Instance) -> None:
    """It holds up nobody, and says why."""
    kube = instance.kube
    patch = {"spec": {"template": {"spec": {"nodeSelector": {"nvidia.com/gpu.product": "none"}}}}}
    kube.run("-n", NAMESPACE, "patch", f"deployment/{instance.service}", f"--patch={json.dumps(patch)}")

    def unschedulable() -> bool:
        pods = kube.pods(NAMESPACE, f"hearth.dev/endpoint={ENDPOINT}")
        conditions = [found for pod in pods for found in pod["status"].get("conditions", [])]
        return any(found.get("reason") == "Unschedulable" for found in conditions)

    eventually("a Pod that waits for a node", unschedulable)
    kube.run("-n", NAMESPACE, "rollout", "undo", f"deployment/{instance.service}")
    instance.rolled_out()
    assert instance.call("/v1/chat/completions", chat(instance))[0] == 200
