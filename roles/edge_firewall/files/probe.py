"""probe.py SOURCE... -- SSH_SOURCE...: what the rules have to go by, one finding a line. Reads only.

SOURCE is a range of any rule, SSH_SOURCE one that SSH connections may come from.

bad=RANGE                            a range that is none
foreign=NAME                         another firewall with a default of its own
client=ADDRESS, locked=ADDRESS       where this connection comes from; no SSH_SOURCE holds it
ssh=PORT                             a port that sshd listens on
listening=PROTOCOL PORT PROGRAM      what else listens for the network
table=hearth_edge                    the role's own table is there
open=PROTOCOL PORT                   a port that this table lets in
"""

import ipaddress
import os
import re
import shutil
import subprocess
import sys


def said(*command: str) -> str:
    """Return what a program prints, or nothing when it is missing or fails."""
    try:
        found = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except OSError:
        return ""
    return found.stdout if found.returncode == 0 else ""


def networks(ranges: list[str]) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    """Read the ranges, and name those that are none."""
    found = []
    for one in ranges:
        try:
            found.append(ipaddress.ip_network(one, strict=False))
        except ValueError:
            print(f"bad={one}")
    return found


def client() -> str:
    """Say where the SSH connection comes from; sudo drops the variable, but not from the processes above."""
    process = os.getpid()
    while process > 1:
        try:
            with open(f"/proc/{process}/environ", "rb") as file:
                found = re.search(rb"(?:^|\0)SSH_CONNECTION=([^ \0%]+)", file.read())
            if found:
                return found[1].decode()
            with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
                process = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            break
    return ""


def foreign() -> list[str]:
    """Name the firewall beside which the rules would not decide."""
    found = []
    if "Status: active" in said("ufw", "status"):
        found.append("ufw")
    if said("systemctl", "is-active", "firewalld").strip() == "active":
        found.append("firewalld")
    if found:
        return found
    chain = "whose input chain drops what it does not know,"
    table = ""
    # a packet has to pass every chain, so that one of them with this policy drops what this role's lets in
    for line in said("nft", "list", "chains").splitlines():
        if line.startswith("table "):
            table = line.removeprefix("table ").rstrip(" {")
        if " hook input " in line and "policy drop" in line and table != "inet hearth_edge":
            found.append(f"the nftables table {table}, {chain}")
    for program in ("iptables", "ip6tables") if not shutil.which("nft") else ():
        if said(program, "-S", "INPUT").startswith("-P INPUT DROP"):
            found.append(f"{program}, {chain}")
    return found


def listeners() -> list[tuple[str, int, str, str]]:
    """Return protocol, port, program and unit of everything that listens beyond loopback."""
    found = []
    for line in said("ss", "-Hltunp").splitlines():
        protocol, _, _, _, local, *rest = line.split()
        address, _, port = local.rpartition(":")
        if re.match(r"127\.|\[::1\]|\[::ffff:127\.", address) or address.endswith("%lo"):
            continue
        owner = re.search(r'\(\("([^"]+)",pid=(\d+)', " ".join(rest))
        unit = ""
        if owner:
            try:
                with open(f"/proc/{owner[2]}/cgroup", encoding="utf-8") as file:
                    units = re.findall(r"/([^/\n]+\.service)", file.read())
                unit = units[0] if units else ""
            except OSError:
                pass
        found.append((protocol, int(port), owner[1] if owner else "", unit))
    return found


def ssh_ports(listening: list[tuple[str, int, str, str]]) -> set[int]:
    """Return the ports that SSH is served on, whoever is logged in."""
    ports = {port for protocol, port, program, _ in listening if protocol == "tcp" and program == "sshd"}
    # systemd listens in place of sshd until somebody connects
    for unit in ("ssh.socket", "sshd.socket"):
        if said("systemctl", "is-active", unit).strip() == "active":
            streams = re.findall(r"(\d+) \(Stream\)", said("systemctl", "show", "--property=Listen", unit))
            ports |= {int(port) for port in streams}
    return ports


def served(protocol: str, port: int, program: str, unit: str, ephemeral: range) -> bool:
    """Whether the rules would shut something out that is meant to be reached."""
    if unit.startswith("hearth-") or program == "docker-proxy":
        return False  # the roles' own, and what never passes an input chain
    if protocol == "udp":
        # answers come to ports of the ephemeral range; the kernel's own sockets there are services (WireGuard)
        return port not in (68, 546) and not (program and port in ephemeral)
    return True


def own_table() -> list[str]:
    """Say whether the role's own table is there, and what it lets in."""
    rules = said("nft", "--numeric", "list", "table", "inet", "hearth_edge")
    accepted = re.findall(r"\b(tcp|udp) dport (\d+) accept$", rules, re.MULTILINE)
    return (["table=hearth_edge"] if rules else []) + [f"open={protocol} {port}" for protocol, port in accepted]


def main() -> None:
    """Print the findings."""
    split = sys.argv.index("--")
    networks(sys.argv[1:split])
    ranges = sys.argv[split + 1 :]
    allowed = networks(ranges)
    for name in foreign():
        print(f"foreign={name}")
    if source := client():
        print(f"client={source}")
        if ranges and not any(ipaddress.ip_address(source) in one for one in allowed):
            print(f"locked={source}")
    listening = listeners()
    ssh = ssh_ports(listening)
    for port in sorted(ssh):
        print(f"ssh={port}")
    for line in own_table():
        print(line)
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="utf-8") as file:
        low, high = file.read().split()
    for protocol, port, program, unit in sorted(set(listening)):
        if not (protocol == "tcp" and port in ssh) and served(
            protocol, port, program, unit, range(int(low), int(high) + 1)
        ):
            print(f"listening={protocol} {port} {program or 'the kernel'}")


main()
