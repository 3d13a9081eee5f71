"""Rotation by file and reload: tokens, certificates and CAs change while a stream runs (S4-58, S4-62, S4-84)."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.pki import Authority
from tests.support.proxy_claims import claim, sidecar_endpoint
from tests.wire.client import Server, head, wait_for
from tests.wire.counting import Connection, Request, answer_ok
from tests.wire.sidecar_bench import CHAT, ENDPOINT, NAME, OTHER_TOKEN, TOKEN, Bench, client_context, running_sidecar

pytestmark = pytest.mark.wire

NEW_TOKEN = "canary-new-token-0123456789abcdefghijklmnopqrs"


@pytest.fixture
def bench(haproxy_binary: str, tmp_path: Path) -> Iterator[Bench]:
    found = claim({ENDPOINT: sidecar_endpoint()})
    with running_sidecar(haproxy_binary, tmp_path, found, master=True) as running:
        yield running


class LongStream:
    """A stream that lasts until the test ends it."""

    def __init__(self, bench: Bench) -> None:
        self._finish = threading.Event()
        self._sent = 0
        bench.upstream.behaviour = self._serve
        self._connection = bench.server.connect()
        self._connection.sendall(head("POST", CHAT, {"Authorization": f"Bearer {TOKEN}"}, b"{}") + b"{}")
        assert wait_for(lambda: self._sent > 2)
        bench.upstream.behaviour = answer_ok

    def _serve(self, connection: Connection, _: Request) -> None:
        connection.start_stream()
        while not self._finish.wait(0.02):
            connection.chunk(b"data: x\n\n")
            self._sent += 1
        connection.end_stream()

    def finish(self) -> bool:
        """End it and return whether every event and the end arrived."""
        self._finish.set()
        received = b""
        while not received.endswith(b"0\r\n\r\n"):
            piece = self._connection.recv(65_536)
            if not piece:
                return False
            received += piece
        self._connection.close()
        return received.count(b"data: x") == self._sent


def status_with(bench: Bench, token: str, server: Server | None = None) -> int:
    headers = {"Authorization": f"Bearer {token}"}
    return (server or bench.server).request("POST", CHAT, b"{}", headers).status


def test_tokens_overlap_and_then_the_old_one_is_gone(bench: Bench) -> None:
    stream = LongStream(bench)
    bench.write_tokens(TOKEN, OTHER_TOKEN, NEW_TOKEN)
    assert bench.haproxy.reload()
    assert wait_for(lambda: status_with(bench, NEW_TOKEN) == 200)
    assert status_with(bench, TOKEN) == 200
    bench.write_tokens(NEW_TOKEN)
    assert bench.haproxy.reload()
    assert wait_for(lambda: status_with(bench, TOKEN) == 401)
    assert status_with(bench, NEW_TOKEN) == 200
    assert stream.finish()


def test_a_certificate_of_another_ca_takes_over(bench: Bench) -> None:
    before = bench.get("/sidecar/identity").json()["certificate"]["sha256"]
    other = Authority("another CA")
    both = Server("127.0.0.1", 8443, client_context(bench.authority, other), NAME)
    only_new = Server("127.0.0.1", 8443, client_context(other), NAME)
    stream = LongStream(bench)
    bench.write_certificate(other)
    assert bench.haproxy.reload()

    def identity() -> str:
        answer = both.request("GET", "/sidecar/identity", None, {"Authorization": f"Bearer {TOKEN}"})
        return str(answer.json()["certificate"]["sha256"])

    assert wait_for(lambda: identity() != before)
    assert status_with(bench, TOKEN, only_new) == 200
    assert stream.finish()


def test_a_broken_certificate_leaves_the_old_process_serving(bench: Bench) -> None:
    (bench.folder / "tls.crt").write_text("not a certificate")
    assert not bench.haproxy.reload()
    assert status_with(bench, TOKEN) == 200
