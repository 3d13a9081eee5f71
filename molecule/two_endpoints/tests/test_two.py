"""Two endpoints on one host are two ports, two runtimes, two tokens and two certificates."""

import contextlib
import dataclasses
import os
import subprocess

from tests.support.edge import CHAT, EdgeHost, Endpoint
from tests.wire.client import wait_for

PROMPT = [{"role": "user", "content": "Hello"}]


def test_each_answers_with_its_own_token_alone(edge_host: EdgeHost) -> None:
    first, second = edge_host.sidecars
    assert (first.port, second.port) == (8443, 8444)
    for endpoint, other in ((first, second), (second, first)):
        with endpoint.client() as client:
            answer = client.chat.completions.create(model="gemma3-270m", messages=PROMPT, max_tokens=2)  # type: ignore[arg-type]
        assert answer.choices
        refused = endpoint.server().request("POST", CHAT, b"{}", {"Authorization": f"Bearer {other.token}"})
        assert refused.status == 401


def test_each_has_a_runtime_of_its_own(edge_host: EdgeHost) -> None:
    """Stopping one leaves the other alone."""
    first, second = edge_host.sidecars
    identities = [endpoint.get("/sidecar/identity").json() for endpoint in (first, second)]
    assert identities[0]["physicalRuntimeId"] != identities[1]["physicalRuntimeId"]
    edge_host.run("systemctl stop hearth-llama-cpp-second")
    try:
        answer = second.server().request("POST", CHAT, b"{}", {"Authorization": f"Bearer {second.token}"})
        assert answer.status == 503
        with first.client() as client:
            assert client.chat.completions.create(model="gemma3-270m", messages=PROMPT, max_tokens=2).choices  # type: ignore[arg-type]
    finally:
        edge_host.run("systemctl start hearth-llama-cpp-second")


def test_both_raw_ports_are_shut(edge_host: EdgeHost) -> None:
    assert edge_host.plan.closed_ports == (8081, 8082)
    rules = edge_host.run("nft list chain inet hearth_edge input")
    assert "tcp dport { 8081-8082 } reject" in rules or "tcp dport { 8081, 8082 } reject" in rules


def test_everything_is_back_after_a_reboot(edge_host: EdgeHost) -> None:
    """The last test: the container may get another address."""
    container = f"hearth-edge-{os.environ.get('MOLECULE_SCENARIO_NAME', 'two_endpoints')}-debian13"
    address = '{{(index .NetworkSettings.Networks "hearth-edge").IPAddress}}'
    subprocess.run(["podman", "restart", "--time", "30", container], check=True, capture_output=True)
    found = subprocess.run(
        ["podman", "inspect", "--format", address, container], check=True, capture_output=True, text=True
    )
    for endpoint in edge_host.sidecars:
        back = dataclasses.replace(endpoint, address=found.stdout.strip())

        def healthy(back: Endpoint = back) -> bool:
            with contextlib.suppress(OSError):
                return back.get("/sidecar/health").status == 200
            return False

        assert wait_for(healthy, 120)
        with back.client() as client:
            assert client.chat.completions.create(model="gemma3-270m", messages=PROMPT, max_tokens=2).choices  # type: ignore[arg-type]
    rules = subprocess.run(
        ["podman", "exec", container, "nft", "list", "table", "inet", "hearth_edge"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert "policy drop" in rules.stdout
