"""What reaches a runtime through its sidecar, and what does not: a counting server stands in its place (issue 4)."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.edge import CHAT, EdgeHost
from tests.support.edge_runtimes import CountingRuntime, counting_runtime
from tests.wire.client import wait_for
from tests.wire.test_sidecar_framing import SMUGGLED
from tests.wire.test_sidecar_targets import WRONG_METHODS, WRONG_TARGETS


@pytest.fixture(scope="module")
def counted(edge_host: EdgeHost) -> Iterator[CountingRuntime]:
    with counting_runtime(edge_host) as runtime:
        yield runtime


def test_nothing_but_the_operations_reaches_the_runtime(edge_host: EdgeHost, counted: CountingRuntime) -> None:
    """Methods, targets, framing and upgrades that must not cross: none opens a connection (S4-68 … S4-73, U-18)."""
    endpoint = edge_host.sidecars[0]
    server, credential = endpoint.server(), {"Authorization": f"Bearer {endpoint.token}"}
    fixed = {"Host": "a", **credential, "Content-Type": "application/json"}
    head = f"POST {CHAT} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fixed.items())
    declared = {"/v1/completions"} if "completion" in edge_host.plan.sidecars[0].operations else set()
    for target in [*WRONG_TARGETS, "/v1/embeddings"]:
        if target not in declared:
            assert server.request("POST", target, b"{}", credential).status == 404, target
    for method in WRONG_METHODS:
        assert server.request(method, CHAT, b"{}", credential).status in (400, 404), method
    for lines, body in FRAMING:
        answer = server.send(f"{head}{lines}\r\n".encode("latin-1") + body)
        assert answer.status in (0, 400, 411, 413, 415, 422, 501, 505), lines
    smuggled = f"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: {len(SMUGGLED)}\r\n\r\n".encode() + SMUGGLED
    assert server.send(smuggled).status == 404
    assert counted.seen()["connections"] == 0, counted.seen()
    added = {**credential, "Cookie": "a=b", "X-Forwarded-For": "1.2.3.4"}
    assert server.request("POST", CHAT, b'{"a": 1}', added).status == 200
    ((line, headers),) = counted.seen()["requests"]  # type: ignore[misc]
    assert line == f"POST {CHAT} HTTP/1.1"
    passed = {"accept-encoding", "authorization", "connection", "content-length", "content-type", "host"}
    assert {name for name, _ in headers} <= passed
    assert endpoint.token not in json.dumps(headers)


def test_a_burst_gets_the_declared_places_and_the_rest_is_told_at_once(
    edge_host: EdgeHost, counted: CountingRuntime
) -> None:
    """Two at once and two waiting; the others are refused while those still wait (S4-113, S4-116)."""
    endpoint = edge_host.sidecars[0]
    server, credential = endpoint.server(), {"Authorization": f"Bearer {endpoint.token}"}
    counted.hold()
    with ThreadPoolExecutor(12) as pool:
        asked = [pool.submit(server.request, "POST", CHAT, b"{}", credential, 120) for _ in range(12)]
        try:
            assert wait_for(lambda: sum(one.done() for one in asked) == 8, 60)
            refused = [one.result() for one in asked if one.done()]
            assert wait_for(lambda: counted.seen()["active"] == 2)
        finally:
            counted.release()
        answers = [one.result().status for one in asked]
    assert {(answer.status, answer.code) for answer in refused} == {(429, "queue_full")}
    assert all("retry-after" in answer.headers for answer in refused)
    assert answers.count(200) == 4


FRAMING = [
    ("Transfer-Encoding: chunked\r\n", b"2\r\n{}\r\n0\r\n\r\n"),
    ("Transfer-Encoding: chunked\r\n", b"2\r\n{}\r\n0\r\nauthorization: Bearer x\r\n\r\n"),
    ("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", b"2\r\n{}\r\n0\r\n\r\n"),
    ("Transfer-Encoding: xchunked\r\n", b"2\r\n{}\r\n0\r\n\r\n"),
    ("Content-Length: 2\r\nContent-Length: 3\r\n", b"{} "),
    ("Content-Length: +2\r\n", b"{}"),
    ("Content-Length:\r\n", b""),
    ("Content-Length: 1048577\r\n", b"{}"),
    (
        "Content-Length: 2\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABk\r\n",
        b"{}",
    ),
    ("Content-Length: 2\r\nAuthorization: Bearer other\r\n", b"{}"),
]
"""Framing lines after a right head, and what follows: chunks, trailers, lengths, an upgrade, two credentials."""
