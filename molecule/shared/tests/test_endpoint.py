"""What every endpoint behind a sidecar must do, seen from outside over the network (issue 4)."""

import asyncio
import hashlib
import json
import socket
import ssl
import time

import openai
import pytest

from tests.support.edge import CHAT, EdgeHost, Endpoint, ephemeral, trust_context
from tests.wire.client import wait_for

PROMPT = [{"role": "user", "content": "Write one short sentence about the sea."}]


def test_a_chat_completion(endpoint: Endpoint, edge_model: str) -> None:
    with endpoint.client() as client:
        answer = client.chat.completions.create(model=edge_model, messages=PROMPT, max_tokens=12)  # type: ignore[arg-type]
    assert answer.usage is not None
    assert answer.usage.completion_tokens > 1
    assert answer.choices[0].message.content


def test_a_stream_arrives_piece_by_piece(endpoint: Endpoint, edge_model: str) -> None:
    with endpoint.client() as client:
        times = [
            time.monotonic()
            for event in client.chat.completions.create(  # type: ignore[call-overload]
                model=edge_model, messages=PROMPT, max_tokens=12, stream=True
            )
            if event.choices and event.choices[0].delta.content
        ]
    assert len(times) > 3
    assert times[-1] - times[0] > 0.02, "all pieces came at once: something buffers"


def test_a_client_that_leaves_frees_its_place(endpoint: Endpoint, edge_model: str) -> None:
    """More abandoned streams than there are places; a leaked one would end in 429 (S4-116)."""
    with endpoint.client() as client:
        for _ in range(6):
            stream = client.chat.completions.create(  # type: ignore[call-overload]
                model=edge_model, messages=PROMPT, max_tokens=400, stream=True
            )
            next(iter(stream))
            stream.close()
        answer = client.chat.completions.create(model=edge_model, messages=PROMPT, max_tokens=2)  # type: ignore[arg-type]
    assert answer.choices


@pytest.mark.parametrize("token", ["x" * 43, "", "digest"])
def test_another_credential_is_refused(endpoint: Endpoint, token: str) -> None:
    if token == "digest":
        token = hashlib.sha256(endpoint.token.encode()).hexdigest()
    answer = endpoint.server().request("POST", CHAT, b"{}", {"Authorization": f"Bearer {token}"} if token else {})
    assert answer.status == 401
    with pytest.raises(openai.AuthenticationError), endpoint.client(token="y" * 43) as client:
        client.chat.completions.create(model="m", messages=PROMPT, max_tokens=2)  # type: ignore[arg-type]


def test_the_identity_is_what_was_declared(endpoint: Endpoint) -> None:
    identity = endpoint.get("/sidecar/identity").json()
    assert identity["configSha256"] == endpoint.config_sha256
    with endpoint.server().connect() as connection:
        certificate = connection.getpeercert(binary_form=True)  # type: ignore[attr-defined]
    assert identity["certificate"]["sha256"] == hashlib.sha256(certificate).hexdigest()
    assert endpoint.get("/sidecar/health").status == 200


def test_only_tls_1_2_and_later_and_no_plain_http(endpoint: Endpoint) -> None:
    assert endpoint.server().__class__(endpoint.address, endpoint.port).request("GET", "/sidecar/health").status == 0, (
        "the TLS port answered plain HTTP"
    )
    old = trust_context()
    old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1  # must be refused
    old.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.raises((ssl.SSLError, ConnectionError)):
        endpoint.server(old).connect()


def test_http_2_is_not_spoken(endpoint: Endpoint) -> None:
    context = trust_context()
    context.set_alpn_protocols(["h2", "http/1.1"])
    with endpoint.server(context).connect() as connection:
        assert connection.selected_alpn_protocol() == "http/1.1"  # type: ignore[attr-defined]
        connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
        connection.settimeout(10)
        answer = connection.recv(4096)
    assert answer[:9] != b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
    assert not answer or answer.startswith((b"HTTP/1.1 400", b"HTTP/1.0 400"))


def test_a_certificate_of_another_authority_is_noticed(endpoint: Endpoint) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        endpoint.server(ssl.create_default_context()).connect()


async def _open(address: str, port: int, gate: asyncio.Semaphore) -> int | None:
    async with gate:
        try:
            _, writer = await asyncio.wait_for(asyncio.open_connection(address, port), 2)
        except (OSError, TimeoutError):
            return None
        writer.close()
        return port


async def _scan(address: str, ports: set[int]) -> set[int]:
    gate = asyncio.Semaphore(1000)
    found = await asyncio.gather(*(_open(address, port, gate) for port in ports))
    return {port for port in found if port is not None}


def test_only_the_declared_ports_are_open_from_outside(edge_host: EdgeHost) -> None:
    """Every well-known port, and every port that something listens on inside, whatever its address (S4-88, S4-93)."""
    listening = {int(line.rsplit(":", 1)[1]) for line in edge_host.run("ss -Hltn | awk '{print $4}'").splitlines()}
    plan = edge_host.plan
    for runtime in plan.runtimes:
        assert runtime.port in listening, "the runtime does not listen at all, so that its silence proves nothing"
    ports = {*range(1, 1025), *range(2000, 2400), *range(8000, 8500), 11434, *listening}
    assert asyncio.run(_scan(edge_host.address, ports)) == {22, *(one.port for one in plan.open_ports)}


def test_a_runtime_that_listens_everywhere_is_still_shut(edge_host: EdgeHost) -> None:
    """The firewall does not rely on the runtime's own binding."""
    port = edge_host.plan.runtimes[0].port
    server = f"python3 -m http.server --bind {edge_host.address} {port}"
    edge_host.run(f"systemd-run --quiet --unit=misbound {server}")
    try:
        assert wait_for(lambda: edge_host.inside.socket(f"tcp://{edge_host.address}:{port}").is_listening)
        with pytest.raises(OSError), socket.create_connection((edge_host.address, port), 3):  # noqa: PT011
            pass
    finally:
        edge_host.run("systemctl stop misbound.service")


def test_a_body_above_the_bound_is_refused_and_one_at_the_bound_is_read(endpoint: Endpoint) -> None:
    credential = {"Authorization": f"Bearer {endpoint.token}"}
    assert endpoint.server().request("POST", CHAT, b" " * 1_048_577, credential).status == 413
    at_the_bound = endpoint.server().request("POST", CHAT, b" " * 1_048_576, credential, timeout=60)
    assert at_the_bound.status in (400, 500), "the runtime, not the sidecar, must judge a body of permitted length"
    assert at_the_bound.code != "request_too_large"


def test_no_secret_lies_on_the_host(edge_host: EdgeHost) -> None:
    """Tokens only as digests, and no prompt in the log (S4-78)."""
    for endpoint in edge_host.sidecars:
        marker = "canary-prompt-5e1f0a"
        endpoint.server().request(
            "POST", CHAT, json.dumps({"q": marker}).encode(), {"Authorization": f"Bearer {endpoint.token}"}
        )
        for secret in (endpoint.token, marker):
            found = edge_host.inside.run(
                "grep -rlF -e %s /etc /var/log /var/lib/hearth /opt/hearth/lib /run/systemd /root /tmp 2>/dev/null",
                secret,
            )
            assert found.stdout == "", secret
            assert edge_host.inside.run("journalctl --no-pager | grep -F -e %s", secret).stdout == ""
        keys = list((ephemeral() / "state/ca").rglob("ca.key"))
        assert keys
        assert all("ENCRYPTED" in file.read_text() for file in keys)


def test_the_processes_are_separate_and_hardened(edge_host: EdgeHost) -> None:
    """Different users, no capability, a read-only system (S4-147)."""
    users = set()
    units = [
        line.split()[0]
        for line in edge_host.run("systemctl list-units --plain --no-legend 'hearth-*.service'").splitlines()
    ]
    for unit in units:
        if unit == "hearth-firewall.service":
            continue
        pid = edge_host.run(f"systemctl show -P MainPID {unit}")
        status = dict(
            line.split(":\t", 1) for line in edge_host.run(f"cat /proc/{pid}/status").splitlines() if ":\t" in line
        )
        assert int(status["CapEff"], 16) == 0, unit
        assert status["NoNewPrivs"] == "1", unit
        assert status["Seccomp"] == "2", unit
        assert status["Uid"].split()[0] != "0", unit
        users.add(status["Uid"].split()[0])
        # what the process itself sees: a read-only system
        assert " / / ro" in edge_host.run(f'awk \'{{print " " $4 " " $5 " " $6}}\' /proc/{pid}/mountinfo').replace(
            ",", " "
        ), unit
    assert len(users) >= 2
