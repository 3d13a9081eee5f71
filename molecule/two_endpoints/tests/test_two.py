"""Two endpoints on one host are two ports, two runtimes, two tokens and two certificates."""

import contextlib
import dataclasses
import os
import subprocess

import pytest

from tests.support.edge import CHAT, EdgeHost, Endpoint, play
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


def test_an_endpoint_that_left_the_inventory_leaves_the_host(edge_host: EdgeHost) -> None:
    first, second = edge_host.sidecars
    play("playbooks/edge.yml", "-e", '{"hearth_endpoints": ["first"]}')
    assert first.get("/sidecar/health").status == 200
    with pytest.raises(OSError):  # noqa: PT011 - refused or dropped
        second.server().connect(3)
    left = edge_host.run("ls /etc/systemd/system /etc/hearth/sidecar /etc/hearth/llama-cpp")
    assert "second" not in left
    assert "first" in left
    assert "changed=0" in play("playbooks/edge.yml", "-e", '{"hearth_endpoints": ["first"]}').stdout
    play("playbooks/edge.yml")
    assert second.get("/sidecar/health").status == 200


def test_a_model_server_that_is_there_already_is_used_as_it_is(edge_host: EdgeHost) -> None:
    """The runtimes go on under units that the roles know nothing about (S1-10)."""
    for name in ("first", "second"):
        edge_host.run(f"cp /etc/systemd/system/hearth-llama-cpp-{name}.service /etc/systemd/system/own-{name}.service")
        edge_host.run(f"cp -p /etc/hearth/llama-cpp/{name}.key /root/{name}.key && chmod 711 /root")
        edge_host.run(f"sed -i s,/etc/hearth/llama-cpp/,/root/, /etc/systemd/system/own-{name}.service")
        edge_host.run(
            f"systemctl disable --now hearth-llama-cpp-{name} && systemctl daemon-reload && systemctl start own-{name}"
        )
    shown = play("playbooks/edge.yml", "-e", "hearth_existing_runtime=true").stdout
    assert "the digests of its models" in " ".join(shown.split())
    assert edge_host.run("ls /etc/systemd/system/ | grep llama-cpp || true") == ""
    for endpoint in edge_host.sidecars:
        with endpoint.client() as client:
            assert client.chat.completions.create(model="gemma3-270m", messages=PROMPT, max_tokens=2).choices  # type: ignore[arg-type]
    assert "changed=0" in play("playbooks/edge.yml", "-e", "hearth_existing_runtime=true").stdout
    edge_host.run(
        "systemctl stop own-first own-second && rm /etc/systemd/system/own-* /root/*.key && systemctl daemon-reload"
    )
    play("playbooks/edge.yml")


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
