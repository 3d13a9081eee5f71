"""What only the host itself can have wrong: who connects to it, who else filters, and what was done to its units."""

from collections.abc import Iterator

import pytest

from tests.support.edge import EdgeHost, play
from tests.support.hostile import refused, undone

RUNTIME = "hearth-llama-cpp-llama-debian12"


@pytest.fixture
def as_operator(edge_host: EdgeHost) -> Iterator[tuple[str, ...]]:
    """The arguments of an operator who is not root and has sudo, as on any host that forbids root's logins."""
    edge_host.run(
        "useradd --create-home operator && printf 'operator ALL=(ALL) NOPASSWD: ALL\\n' >/etc/sudoers.d/operator "
        "&& install -d -o operator -m 700 /home/operator/.ssh "
        "&& install -o operator -m 600 /root/.ssh/authorized_keys /home/operator/.ssh/authorized_keys"
    )
    yield ("-e", "ansible_user=operator")
    edge_host.run("pkill -u operator; userdel --remove operator; rm /etc/sudoers.d/operator")


def test_an_operator_with_sudo_is_not_shut_out_either(edge_host: EdgeHost, as_operator: tuple[str, ...]) -> None:
    message = refused(edge_host, *as_operator, "-e", '{edge_firewall_ssh_sources: ["203.0.113.0/24"]}')
    assert "edge_firewall_ssh_sources does not hold" in message
    assert play("playbooks/edge.yml", *as_operator).stdout.count("changed=0") == 1
    assert " dport 0 " not in edge_host.run("cat /etc/hearth/firewall.nft")


def test_a_range_that_is_none(edge_host: EdgeHost) -> None:
    message = refused(edge_host, "-e", '{edge_firewall_ssh_sources: ["192.168.1.0/33"]}')
    assert "192.168.1.0/33 is no address range" in message


def test_somebody_elses_rules_that_drop_by_default(edge_host: EdgeHost) -> None:
    chain = "type filter hook input priority 0; policy drop; accept"
    with undone(
        edge_host,
        f"nft 'table inet own {{ chain input {{ {chain}; }} }}'",
        "nft delete table inet own",
    ):
        message = refused(edge_host)
    assert "the nftables table inet own" in message
    assert "edge_firewall_enabled: false" in message
