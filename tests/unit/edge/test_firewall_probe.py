"""What roles/edge_firewall finds out about a host, with stand-ins for the programs that it asks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROBE = (Path(__file__).parents[3] / "roles/edge_firewall/files/probe.py").read_text(encoding="utf-8")
SSHD = 'tcp LISTEN 0 128 0.0.0.0:22 0.0.0.0:* users:(("sshd",pid=999999,fd=7))'


class Host:
    """A PATH of stand-ins, and the probe run below processes of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.says("ss", SSHD)

    def says(self, program: str, text: str, status: int = 0) -> None:
        file = self.folder / program
        file.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit {status}\n")
        file.chmod(0o755)

    def probe(self, *arguments: str, connection: str = "") -> list[str]:
        """Run it as sudo does: without SSH_CONNECTION, which a process above has."""
        above = f'env -i PATH={self.folder}:/bin:/usr/bin {sys.executable} -I -c "$0" "$@"; exit $?'
        environment = {"PATH": os.environ["PATH"], **({"SSH_CONNECTION": connection} if connection else {})}
        found = subprocess.run(
            ["sh", "-c", above, PROBE, *arguments], env=environment, capture_output=True, text=True, check=True
        )
        return found.stdout.splitlines()


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_sudo_does_not_hide_where_the_connection_comes_from(host: Host) -> None:
    connection = "192.168.1.7 40000 192.168.1.20 22"
    found = host.probe("--", "203.0.113.0/24", connection=connection)
    assert found[:2] == ["client=192.168.1.7", "locked=192.168.1.7"]
    assert "locked=192.168.1.7" not in host.probe("--", "192.168.1.0/24", connection=connection)
    assert "client=fe80::7" in host.probe("--", "fe80::/10", connection="fe80::7%eth0 40000 fe80::1%eth0 22")


def test_no_connection_is_no_port_and_no_client(host: Host) -> None:
    assert host.probe("--") == ["ssh=22"]


def test_a_range_that_is_none_is_named(host: Host) -> None:
    found = host.probe("10.0.0.0/8", "office", "--", "192.168.1.0/33", "10.0.0.5/8")
    assert [line for line in found if line.startswith("bad=")] == ["bad=office", "bad=192.168.1.0/33"]


def test_the_ports_of_ssh_are_those_that_sshd_listens_on(host: Host) -> None:
    """Not those of whoever is logged in, and not what a session forwards on loopback."""
    host.says(
        "ss",
        'tcp LISTEN 0 128 [::]:2222 [::]:* users:(("sshd",pid=999999,fd=7))\n'
        'tcp LISTEN 0 128 127.0.0.1:6010 0.0.0.0:* users:(("sshd",pid=999998,fd=7))',
    )
    assert host.probe("--") == ["ssh=2222"]


def test_systemd_listens_in_place_of_sshd(host: Host) -> None:
    host.says("ss", 'tcp LISTEN 0 128 *:22 *:* users:(("systemd",pid=1,fd=70))')
    host.says("systemctl", "")
    assert "ssh=22" not in host.probe("--")
    host.folder.joinpath("systemctl").write_text(
        '#!/bin/sh\ncase "$*" in\n'
        '"is-active ssh.socket") echo active ;;\n*Listen*) echo "Listen=[::]:22 (Stream)" ;;\nesac\n'
    )
    assert host.probe("--") == ["ssh=22"]


def test_other_services_are_named(host: Host) -> None:
    host.says(
        "ss",
        SSHD + "\n"
        'tcp LISTEN 0 5 0.0.0.0:9100 0.0.0.0:* users:(("node_exporter",pid=999997,fd=3))\n'
        'tcp LISTEN 0 5 [::]:9100 [::]:* users:(("node_exporter",pid=999997,fd=4))\n'
        'tcp LISTEN 0 5 127.0.0.1:5432 0.0.0.0:* users:(("postgres",pid=999996,fd=3))\n'
        'tcp LISTEN 0 5 0.0.0.0:80 0.0.0.0:* users:(("docker-proxy",pid=999995,fd=3))\n'
        'udp UNCONN 0 0 127.0.0.53%lo:53 0.0.0.0:* users:(("systemd-resolve",pid=999994,fd=3))\n'
        'udp UNCONN 0 0 10.0.0.5%eth0:68 0.0.0.0:* users:(("dhclient",pid=999993,fd=3))\n'
        'udp UNCONN 0 0 0.0.0.0:40001 0.0.0.0:* users:(("a-client",pid=999992,fd=3))\n'
        "udp UNCONN 0 0 0.0.0.0:51820 0.0.0.0:*",
    )
    assert host.probe("--") == ["ssh=22", "listening=tcp 9100 node_exporter", "listening=udp 51820 the kernel"]


CHAINS = """\
table inet hearth_edge {
\tchain input {
\t\ttype filter hook input priority filter - 10; policy drop;
\t}
}
table ip filter {
\tchain INPUT {
\t\ttype filter hook input priority filter; policy %s;
\t}
\tchain FORWARD {
\t\ttype filter hook forward priority filter; policy drop;
\t}
}"""


def test_another_table_that_drops_is_another_firewall(host: Host) -> None:
    host.says("nft", CHAINS % "accept")
    assert not [line for line in host.probe("--") if line.startswith("foreign=")]
    host.says("nft", CHAINS % "drop")
    found = host.probe("--")
    assert found[0] == "foreign=the nftables table ip filter, whose input chain drops what it does not know,"
    host.says("ufw", "Status: active")
    assert [line for line in host.probe("--") if line.startswith("foreign=")] == ["foreign=ufw"]


def test_the_roles_own_table_says_what_it_lets_in(host: Host) -> None:
    host.says(
        "nft",
        "table inet hearth_edge {\n\tchain input {\n\t\ttcp dport { 8081-8082 } reject with tcp reset\n"
        "\t\tudp sport 67 udp dport 68 accept\n\t\ttcp dport 22 accept\n"
        "\t\tip saddr { 10.0.0.0/8 } tcp dport 8443 accept\n\t}\n}",
    )
    found = host.probe("--")
    assert [line for line in found if "=" in line and not line.startswith("ssh=")] == [
        "table=hearth_edge",
        "open=udp 68",
        "open=tcp 22",
        "open=tcp 8443",
    ]
