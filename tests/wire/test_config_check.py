"""Every compiled configuration is one that HAProxy accepts, without a warning: front and guard those of the images, a
sidecar those of the hosts too. Nothing is started here.
"""

import dataclasses
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from cryptography import x509
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hearth.claim.claim import Claim
from hearth.claim.loader import load_claim_file
from hearth.compile.front import GuardServer, guard_servers
from hearth.compile.guard import compile_guard
from hearth.compile.sidecar import POD_LAYOUT
from hearth.topology.resolve import resolve
from tests.support.compiling import compile_sidecar, host_layout
from tests.support.pki import Authority
from tests.support.proxy_claims import claim, plaintext_endpoint, private_endpoint, provider, sidecar_endpoint
from tests.wire.front_bench import front_files
from tests.wire.guard_bench import GUARD_HOST, guard_secret

pytestmark = pytest.mark.wire

PROJECT = Path(__file__).resolve().parents[2]
STACKS = sorted(path.name.split(".")[1] for path in (PROJECT / "stacks").glob("Pulumi.*.yaml"))
AUTHORITY = Authority("any CA")


def check(binary: str, configurations: Iterable[Path]) -> None:
    arguments = [binary, "-c", "-dW"]
    for configuration in configurations:
        arguments += ["-f", str(configuration)]
    done = subprocess.run(arguments, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def check_gateway(binary: str, found: Claim, folder: Path) -> None:
    topology = resolve(found)
    guard = compile_guard(
        topology,
        config_directory=str(folder),
        secret_directory=str(folder / "secret"),
        haproxy_ca_directory=str(folder),
        public_ca=str(folder / "public.pem"),
    )
    guards = [
        GuardServer(server.name, server.host, "127.0.0.1:8443") for server in guard_servers(topology)
    ]  # no name is looked up
    for name, text in {**guard.files, **front_files(topology, folder, guards=guards)}.items():
        (folder / name).write_text(text)
    guard_secret(folder / "secret", AUTHORITY, GUARD_HOST, [upstream.name for upstream in topology.upstreams])
    for bundle in ("in-cluster", "public", *found.trust_bundles):
        (folder / f"{bundle}.pem").write_text(AUTHORITY.pem)
    check(binary, [folder / "guard.cfg"])
    check(binary, [folder / "front.cfg"])


def check_sidecar(binary: str, found: Claim, endpoint_id: str, folder: Path) -> None:
    runtime = found.endpoints[endpoint_id].runtime
    on_host = runtime is not None and runtime.placement == "host"
    layout = host_layout(found, endpoint_id) if on_host else POD_LAYOUT
    certificate, key = AUTHORITY.issue(x509.DNSName("any"))
    for name, text in {
        **compile_sidecar(
            found,
            endpoint_id,
            dataclasses.replace(
                layout,
                config_directory=str(folder),
                secret_directory=str(folder),
                certificate=str(folder / "tls.crt"),
            ),
        ).files,
        "tls.crt": certificate,
        "tls.key": key,
        "tokens.map": f"{'0' * 64} gateway\n",
        "runtime.map": "",
    }.items():
        (folder / name).write_text(text)
    check(binary, [folder / "sidecar.cfg"])


@pytest.mark.parametrize("stack", STACKS)
def test_the_example_stacks_have_good_fronts_and_guards(image_haproxy_program: str, tmp_path: Path, stack: str) -> None:
    check_gateway(image_haproxy_program, load_claim_file(PROJECT / "stacks" / f"Pulumi.{stack}.yaml").claim, tmp_path)


def test_the_sidecars_of_the_example_stacks_are_good(haproxy_program: str, tmp_path: Path) -> None:
    checked = 0
    for stack in STACKS:
        found = load_claim_file(PROJECT / "stacks" / f"Pulumi.{stack}.yaml").claim
        for endpoint_id, endpoint in found.endpoints.items():
            if endpoint.sidecar is not None:
                check_sidecar(haproxy_program, found, endpoint_id, tmp_path)
                checked += 1
    assert checked > 0


def test_a_claim_without_upstreams_compiles_to_a_good_configuration(image_haproxy_program: str, tmp_path: Path) -> None:
    check_gateway(image_haproxy_program, claim(), tmp_path)


def test_forty_upstreams_of_every_kind_compile_to_a_good_configuration(
    image_haproxy_program: str, tmp_path: Path
) -> None:
    kinds = (
        private_endpoint("https://gpu.lan.test:8443/v1"),
        private_endpoint("https://10.77.0.1:8443"),
        private_endpoint("https://[fd12::1]:8443/a/b"),
        plaintext_endpoint("http://gpu.lan.test:11434/v1"),
        sidecar_endpoint(),
    )
    endpoints = {f"{'e' * 30}-{index}": kinds[index % len(kinds)] for index in range(40)}
    found = claim(
        endpoints,
        operations=("chat", "completion", "embedding", "responses"),
        providers=[provider(), provider("another")],
        cidrs=("0.0.0.0/0", "fd12::/64"),
    )
    check_gateway(image_haproxy_program, found, tmp_path)


@pytest.mark.parametrize("engine", ["ollama", "llamaCpp", "vllm"])
@pytest.mark.parametrize("loopback", ["http://127.0.0.1:8081", "http://[::1]:8081", "http://localhost:8081"])
def test_every_sidecar_is_good(haproxy_program: str, tmp_path: Path, engine: str, loopback: str) -> None:
    runtime = {**sidecar_endpoint()["runtime"], "engine": engine, "loopback": loopback}
    largest = {"maxRequestBytes": 67_108_864, "maxResponseBytes": 268_435_456}
    check_sidecar(
        haproxy_program, claim({"llama": sidecar_endpoint(runtime=runtime, sidecar=largest)}), "llama", tmp_path
    )


PRINTABLE = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zs", "Zl", "Zp"]), min_size=1, max_size=200)


def written_by_somebody(value: str, runtime_id: str) -> Claim:
    capacity = {**sidecar_endpoint()["runtimeCapacity"], "physicalRuntimeId": runtime_id}
    return claim({"llama": sidecar_endpoint(headers={"x-team": value}, runtimeCapacity=capacity)})


any_text = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
HOSTILE_TEXTS = ("'\"\\ %[env(HOME)] ${HOME} #", "'\"\\ %[env(HOME)] ${HOME} #"), ("%", "%%")


@any_text
@given(PRINTABLE, PRINTABLE)
@example(*HOSTILE_TEXTS[0])
@example(*HOSTILE_TEXTS[1])
def test_no_text_of_the_claim_breaks_front_or_guard(
    image_haproxy_program: str, tmp_path: Path, value: str, runtime_id: str
) -> None:
    check_gateway(image_haproxy_program, written_by_somebody(value, runtime_id), tmp_path)


@any_text
@given(PRINTABLE, PRINTABLE)
@example(*HOSTILE_TEXTS[0])
@example(*HOSTILE_TEXTS[1])
def test_no_text_of_the_claim_breaks_a_sidecar(
    haproxy_program: str, tmp_path: Path, value: str, runtime_id: str
) -> None:
    check_sidecar(haproxy_program, written_by_somebody(value, runtime_id), "llama", tmp_path)
