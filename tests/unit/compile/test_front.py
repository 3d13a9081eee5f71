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


def test_two_ports_of_the_pod_are_bound_and_one_on_loopback() -> None:
    binds = re.findall(r"^ +bind (.*)$", compile_front(resolve(claim())).files["front.cfg"], re.MULTILINE)
    assert binds == [":4000 proto h1", ":8406", "127.0.0.1:4001 proto h1"]


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
    (line,) = re.findall(r"^ +(log-format .*)$", compile_front(resolve(claim())).files["front.cfg"], re.MULTILINE)
    (text,) = shlex.split(line)[1:]
    assert json.loads(re.sub(r"%(\[[^]]*\]|\w+)", "1", text))["proxy"] == "front"
    assert not re.search(r"%HU|%HP|%HQ|%r|%hr|%hs|req\.|res\.|url|path", text)
