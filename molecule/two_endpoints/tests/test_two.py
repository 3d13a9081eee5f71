"""Two endpoints on one host are two ports, runtimes, tokens and certificates. Each test begins where the last ended."""

import dataclasses
import os
import re
import subprocess

import pytest

from tests.support.edge import CHAT, EdgeHost, ephemeral, play
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
    again = play("playbooks/edge.yml", "-e", "hearth_existing_runtime=true", "-e", "hearth_full=true")
    assert "changed=0" in again.stdout
    edge_host.run(
        "systemctl stop own-first own-second && rm /etc/systemd/system/own-* /root/*.key && systemctl daemon-reload"
    )


def test_an_endpoint_that_left_the_inventory_leaves_the_host(edge_host: EdgeHost) -> None:
    """The runtimes of the test before were somebody else's, so that they are installed anew here."""
    first, second = edge_host.sidecars
    play("playbooks/edge.yml", "-e", '{"hearth_endpoints": ["first"]}')
    assert first.is_healthy()
    with pytest.raises(OSError):  # noqa: PT011 - refused or dropped
        second.server().connect(3)
    left = edge_host.run("ls /etc/systemd/system /etc/hearth/sidecar /etc/hearth/llama-cpp")
    assert "second" not in left
    assert "first" in left
    again = play("playbooks/edge.yml", "-e", '{"hearth_endpoints": ["first"], "hearth_full": true}')
    assert "changed=0" in again.stdout
    play("playbooks/edge.yml")
    assert second.is_healthy()


@pytest.fixture(scope="module")
def renamed_host(edge_host: EdgeHost) -> EdgeHost:
    """The host, whose second endpoint has another name in claim and inventory from now on."""
    claim = ephemeral() / "site/stacks/Pulumi.edge.yaml"
    claim.write_text(re.sub(r"\bsecond\b", "renamed", claim.read_text()))
    return EdgeHost(edge_host.name, {**edge_host.variables, "hearth_endpoints": ["first", "renamed"]})


def test_a_renamed_endpoint_takes_the_ports_of_the_older_one(renamed_host: EdgeHost) -> None:
    """Its older units make way just before the new ones start."""
    arguments = ("-e", '{"hearth_endpoints": ["first", "renamed"]}')
    play("playbooks/edge.yml", *arguments)
    _, renamed = renamed_host.sidecars
    assert (renamed.name, renamed.port) == ("renamed", 8444)
    assert renamed.is_healthy()
    assert "second" not in renamed_host.run("ls /etc/systemd/system /etc/hearth/sidecar /etc/hearth/llama-cpp")
    assert "changed=0" in play("playbooks/edge.yml", *arguments, "-e", "hearth_full=true").stdout


def test_everything_is_back_after_a_reboot(renamed_host: EdgeHost) -> None:
    """The last test: the container may get another address. What says that it is healthy answers (S4-85)."""
    container = f"hearth-edge-{os.environ.get('MOLECULE_SCENARIO_NAME', 'two_endpoints')}-debian13"
    address = '{{(index .NetworkSettings.Networks "hearth-edge").IPAddress}}'
    subprocess.run(["podman", "restart", "--time", "30", container], check=True, capture_output=True)
    found = subprocess.run(
        ["podman", "inspect", "--format", address, container], check=True, capture_output=True, text=True
    ).stdout.strip()
    # for whoever reads the inventory from now on, such as the fixture that shows a journal
    inventory = ephemeral() / "inventory/ansible_inventory.yml"
    inventory.write_text(re.sub(rf"\b{re.escape(renamed_host.address)}\b", found, inventory.read_text()))
    for endpoint in renamed_host.sidecars:
        back = dataclasses.replace(endpoint, address=found)
        assert wait_for(back.is_healthy, 120)
        with back.client() as client:
            assert client.chat.completions.create(model="gemma3-270m", messages=PROMPT, max_tokens=2).choices  # type: ignore[arg-type]
    rules = subprocess.run(
        ["podman", "exec", container, "nft", "list", "table", "inet", "hearth_edge"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert "policy drop" in rules.stdout
