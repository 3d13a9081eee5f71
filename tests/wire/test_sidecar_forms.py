"""The forms that a sidecar takes: other credentials, other loopbacks, other engines, and a bare-metal host."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from tests.support.compiling import host_layout
from tests.support.proxy_claims import claim, sidecar_endpoint
from tests.wire.client import Answer
from tests.wire.sidecar_bench import CHAT, ENDPOINT, RUNTIME_KEY, TOKEN, Bench, running_sidecar

pytestmark = pytest.mark.wire


def ask(bench: Bench, headers: dict[str, str]) -> Answer:
    return bench.server.request("POST", CHAT, b"{}", headers)


def runtime(**changes: Any) -> dict[str, Any]:
    return {**sidecar_endpoint()["runtime"], **changes}


def test_an_api_key_is_read_from_its_own_header(haproxy_binary: str, tmp_path: Path) -> None:
    auth = {"mode": "api_key", "header": "x-api-key", "credentialRef": "credential://llama/workload"}
    found = claim({ENDPOINT: sidecar_endpoint(endpointAuth=auth)})
    with running_sidecar(haproxy_binary, tmp_path, found, credential={"X-Api-Key": TOKEN}) as bench:
        assert ask(bench, {"X-Api-Key": TOKEN}).status == 200
        assert bench.upstream.requests[0].names.isdisjoint({"x-api-key"})
        assert ask(bench, {"Authorization": f"Bearer {TOKEN}"}).status == 401
        assert ask(bench, {"X-Api-Key": f"{TOKEN},x"}).status == 400
        assert len(bench.upstream.requests) == 1


def test_an_api_key_may_be_the_whole_authorization_header(haproxy_binary: str, tmp_path: Path) -> None:
    auth = {"mode": "api_key", "header": "authorization", "credentialRef": "credential://llama/workload"}
    found = claim({ENDPOINT: sidecar_endpoint(endpointAuth=auth)})
    with running_sidecar(haproxy_binary, tmp_path, found, credential={"Authorization": TOKEN}) as bench:
        assert ask(bench, {"Authorization": TOKEN}).status == 200
        assert ask(bench, {"Authorization": f"Bearer {TOKEN}"}).status == 401


@pytest.mark.parametrize(
    ("loopback", "address", "host"),
    [
        ("http://[::1]:8081", "::1", "[::1]:8081"),
        ("http://localhost:8081", "127.0.0.1", "127.0.0.1:8081"),
    ],
)
def test_every_spelling_of_loopback_works(
    haproxy_binary: str, tmp_path: Path, loopback: str, address: str, host: str
) -> None:
    found = claim({ENDPOINT: sidecar_endpoint(runtime=runtime(loopback=loopback))})
    with running_sidecar(haproxy_binary, tmp_path, found, address=address) as bench:
        assert bench.post().status == 200
        assert bench.upstream.requests[0].header("host") == host


def test_ollama_gets_no_credential_and_a_host_that_it_accepts(haproxy_binary: str, tmp_path: Path) -> None:
    found = claim({ENDPOINT: sidecar_endpoint(runtime=runtime(engine="ollama"))})
    with running_sidecar(haproxy_binary, tmp_path, found) as bench:
        assert bench.post().status == 200
        (request,) = bench.upstream.requests
        assert "authorization" not in request.names
        assert request.header("host") == "127.0.0.1:8081"


def test_a_host_has_the_sidecars_port_alone(haproxy_binary: str, tmp_path: Path) -> None:
    found = claim({ENDPOINT: sidecar_endpoint(runtime=runtime(placement="host", credentialRef="credential://a/b"))})
    with running_sidecar(haproxy_binary, tmp_path, found, layout=host_layout(found, ENDPOINT)) as bench:
        assert bench.post().status == 200
        assert bench.upstream.requests[0].header("authorization") == f"Bearer {RUNTIME_KEY}"
        with pytest.raises(ConnectionRefusedError):
            dataclasses.replace(bench.server, port=8405).connect()
