"""Approved plaintext on a home LAN: open to the zone alone, and never without saying so (S4-11, S4-150)."""

import httpx

from tests.support.edge import EdgeHost, hosts, play

QUESTION = {"model": "gemma3-270m", "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 2}


def serving() -> EdgeHost:
    return next(host for host in hosts() if host.name.startswith("debian13"))


def outsider() -> EdgeHost:
    return next(host for host in hosts() if host.name.startswith("debian12"))


def test_the_zone_is_served() -> None:
    answer = httpx.post(f"http://{serving().address}:8080/v1/chat/completions", json=QUESTION, timeout=60)
    assert answer.json()["choices"]


def test_a_neighbour_outside_the_zone_is_not() -> None:
    reach = f"import socket; socket.create_connection(('{serving().address}', 8080), 4)"
    found = outsider().inside.run("python3 -c %s", reach)
    assert found.rc != 0
    assert "timed out" in found.stderr


def test_there_is_no_sidecar_and_nothing_else_is_open() -> None:
    assert serving().run("systemctl list-units --plain --no-legend 'hearth-sidecar-*'") == ""
    rules = serving().run("nft list chain inet hearth_edge input")
    assert "tcp dport 8443" not in rules
    assert "tcp dport 8080 accept" in rules


def test_every_run_warns() -> None:
    for arguments in ((), ("--check",)):
        shown = " ".join(play("playbooks/edge.yml", *arguments).stdout.split())
        assert "WARNING debian13.edge.test: plain: prompts, answers and vectors cross the network unencrypted" in shown
