"""The front's configuration."""

import json
import re
import shlex

from hearth.compile.front import compile_front
from hearth.topology.resolve import resolve
from tests.support.proxy_claims import capacity, claim, private_endpoint, provider, sidecar_endpoint


def test_equal_claims_give_equal_bytes() -> None:
    assert compile_front(resolve(claim())).digest == compile_front(resolve(claim())).digest


def test_it_waits_as_long_as_the_slowest_deployment_may_take_and_a_little() -> None:
    endpoints = {
        name: private_endpoint(f"https://{name}.lan.test:8443/v1", runtimeCapacity=capacity(request_ms=ms))
        for name, ms in (("a", 40_000), ("b", 50_000))
    }
    assert "timeout server 60000ms" in compile_front(resolve(claim(endpoints))).files["front.cfg"]
    assert "timeout server 130000ms" in compile_front(resolve(claim(providers=[provider()]))).files["front.cfg"]
    assert "timeout server 10000ms" in compile_front(resolve(claim())).files["front.cfg"]


def test_a_larger_sidecar_raises_the_bound_of_a_body() -> None:
    larger = sidecar_endpoint(sidecar={"maxRequestBytes": 33_554_432})
    assert "req.body_size gt 33554432" in compile_front(resolve(claim({"llama": larger}))).files["front.cfg"]
    assert (
        "req.body_size gt 16777216" in compile_front(resolve(claim({"llama": sidecar_endpoint()}))).files["front.cfg"]
    )


def test_two_ports_of_the_pod_are_bound_and_two_on_loopback() -> None:
    binds = re.findall(r"^ +bind (.*)$", compile_front(resolve(claim())).files["front.cfg"], re.MULTILINE)
    assert binds == [":4000 proto h1", ":8406", "127.0.0.1:4001 proto h1", "127.0.0.1:4002 proto h1"]


def test_clients_reach_the_intake_and_port_forward_reaches_past_it() -> None:
    text = compile_front(resolve(claim())).files["front.cfg"]
    sections = re.split(r"\n(?=(?:frontend|backend) )", text)
    named = {" ".join(section.split()[:2]): section for section in sections}
    assert "server litellm unix@/run/hearth/client.sock check" in named["backend litellm"]
    assert "server litellm unix@/run/hearth/management.sock" in named["backend management_door"]
    assert [name for name, lines in named.items() if "default_backend management_door" in lines] == [
        "frontend management"
    ]


def test_log_lines_are_json_without_target_or_header() -> None:
    lines = re.findall(r"^ +(log-format .*)$", compile_front(resolve(claim())).files["front.cfg"], re.MULTILINE)
    texts = [shlex.split(line)[1] for line in lines]
    filled = [json.loads(re.sub(r"%(\[[^]]*\]|\w+)", "1", text)) for text in texts]
    assert [entry["proxy"] for entry in filled] == ["front", "guard_door"]
    for text in texts:
        assert not re.search(r"%HU|%HP|%HQ|%r(?!c)|%hr|%hs|req\.|res\.|url|path", text)


def guards(count: int) -> dict[str, list[str]]:
    """The servers of each part of the way to the guard, with the words that say what they are for."""
    text = compile_front(resolve(claim(llm={"guard": {"replicas": count}}))).files["front.cfg"]
    parts = re.split(r"\n(?=backend )", text)[1:]
    return {
        part.split()[1]: re.findall(r"^ +server (\S+) .*?( backup)?$", part, re.MULTILINE)
        for part in parts
        if part.startswith("backend guard_")
    }


def test_each_guard_is_a_home_and_the_backup_of_the_other() -> None:
    first, second = "llm-guard-0", "llm-guard-1"
    assert guards(2) == {
        "guard_0": [(first, ""), (second, " backup")],
        "guard_1": [(second, ""), (first, " backup")],
    }
    assert guards(1) == {"guard_0": [(first, "")]}


def test_every_connection_to_a_guard_verifies_its_chain_and_name() -> None:
    text = compile_front(resolve(claim())).files["front.cfg"]
    for line in re.findall(r"^ +server (llm-guard.*)$", text, re.MULTILINE):
        host = f"{line.split()[0]}.system-llm.svc.cluster.local"
        assert line.split()[1] == f"{host}:8443"
        assert " ssl verify required ca-file /etc/haproxy-guard/ca.pem " in line
        assert f" sni str({host}) check-sni {host} verifyhost {host} alpn http/1.1" in line


def test_an_upstream_keeps_its_home_whatever_comes_beside_it() -> None:
    def homes(*names: str) -> dict[str, str]:
        endpoints = {name: private_endpoint(f"https://{name}.lan.test:8443/v1") for name in names}
        lines = compile_front(resolve(claim(endpoints))).files["homes.map"].splitlines()
        return dict(line.split() for line in lines)  # type: ignore[misc]

    names = tuple(f"gpu-{number}" for number in range(16))
    assert set(homes(*names).values()) == {"0", "1"}
    assert homes(*names[:5]).items() <= homes(*names).items()


def test_an_endpoint_that_moves_changes_nothing_in_the_gateway() -> None:
    def front(host: str) -> str:
        return compile_front(resolve(claim({"gpu": private_endpoint(f"https://{host}:8443/v1")}))).digest

    assert front("old.lan.test") == front("new.lan.test")
