"""Resolve, check, connect to what was checked: nothing outside the zone sees a connection (S4-25, S4-33 … S4-37)."""

import contextlib
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support import claims
from tests.support.pki import Authority
from tests.support.proxy_claims import claim, plaintext_endpoint, private_endpoint, provider
from tests.wire.client import head
from tests.wire.counting import CountingUpstream, streams_until
from tests.wire.guard_bench import (
    ALSO_INSIDE,
    CHAT,
    INSIDE,
    NAME,
    OUTSIDE,
    VENDOR,
    Bench,
    caller_token,
    running_guard,
    tls_upstream,
)

pytestmark = pytest.mark.wire

OWN = Authority("the endpoint's CA")
DENIED = (502, "zone_denied")
EVERYWHERE = (
    INSIDE,
    ALSO_INSIDE,
    OUTSIDE,
    "127.0.0.1",
    "169.254.169.254",
    "100.100.100.200",
    "9.9.9.9",
    "2002:a4d:1::1",
    "fd12::1",
    "fd13::1",
    "::1",
)


@pytest.fixture(scope="module")
def bench(image_haproxy_binary: str, folder: Path) -> Iterator[Bench]:
    found = claim(
        {
            "narrow": private_endpoint(f"https://{NAME}:8443/v1"),
            "declared": private_endpoint(
                f"https://{NAME}:8443/v1", networkProfile={**claims.private_tls("lan", "lan-ca"), "address": INSIDE}
            ),
            "other-name": private_endpoint(
                "https://other.lan.test:8443/v1",
                networkProfile={**claims.private_tls("lan", "lan-ca"), "address": INSIDE},
            ),
            "plain": plaintext_endpoint(f"http://{NAME}:11434/v1"),
        },
        providers=[provider()],
        cidrs=("10.77.0.0/24", "fd12::/64"),
    )
    environment = {
        "ENDPOINT_CREDENTIAL_NARROW": "narrow-credential",
        "ENDPOINT_CREDENTIAL_DECLARED": "declared-credential",
        "ENDPOINT_CREDENTIAL_OTHER_NAME": "other-credential",
        "LLM_PROVIDER_KEY_vendor_api_key": "vendor-key",
    }
    with running_guard(
        image_haproxy_binary, folder, found, authority=OWN, public=OWN, environment=environment
    ) as running:
        yield running


@pytest.fixture(scope="module")
def everywhere(folder: Path, network: None) -> Iterator[dict[str, CountingUpstream]]:
    """The same server, with the same valid certificate, on every address of the namespace."""
    with contextlib.ExitStack() as stack:
        yield {
            address: stack.enter_context(
                tls_upstream(OWN, folder, address, NAME, VENDOR, port=443 if address == "9.9.9.9" else 8443)
            )
            for address in EVERYWHERE
        }


@pytest.fixture
def listeners(everywhere: dict[str, CountingUpstream]) -> dict[str, CountingUpstream]:
    for listener in everywhere.values():
        listener.reset()
    return everywhere


def reached(listeners: dict[str, CountingUpstream]) -> set[str]:
    return {address for address, listener in listeners.items() if listener.connections}


@pytest.mark.parametrize("address", [INSIDE, ALSO_INSIDE, "fd12::1"])
def test_an_address_of_the_zone_is_connected_to(
    bench: Bench, listeners: dict[str, CountingUpstream], address: str
) -> None:
    bench.dns.names[NAME] = [address]
    before = len(bench.haproxy.log())
    assert bench.post("endpoint-narrow").status == 200
    assert reached(listeners) == {address}
    bench.haproxy.lines(
        1, after=before, upstream="endpoint-narrow", resolved=address, peer=address, status=200, code="-"
    )


@pytest.mark.parametrize("answer", [None, [], [ALSO_INSIDE], [OUTSIDE]])
def test_a_declared_address_is_connected_to_whatever_a_name_server_says(
    bench: Bench, listeners: dict[str, CountingUpstream], answer: list[str] | None
) -> None:
    bench.dns.names.pop(NAME, None)
    if answer is not None:
        bench.dns.names[NAME] = answer
    asked = bench.dns.queries
    assert bench.post("endpoint-declared").status == 200
    assert bench.dns.queries == asked
    assert reached(listeners) == {INSIDE}
    (request,) = listeners[INSIDE].requests
    assert request.header("host") == f"{NAME}:8443"


def test_a_declared_address_whose_certificate_has_another_name_gets_no_request(
    bench: Bench, listeners: dict[str, CountingUpstream]
) -> None:
    answer = bench.post("endpoint-other-name")
    assert (answer.status, answer.code) == (502, "upstream_certificate_failed")
    assert listeners[INSIDE].requests == []


@pytest.mark.parametrize(
    "address",
    [
        OUTSIDE,
        "127.0.0.1",
        "::1",
        "169.254.169.254",
        "100.100.100.200",
        "9.9.9.9",
        "0.0.0.0",
        "255.255.255.255",
        "224.0.0.1",
        "fd13::1",
        "fe80::1",
        "ff02::1",
        "2620:fe::9",
        # IPv6 spellings of an address that is in the zone.
        "2002:a4d:1::1",
        "::ffff:10.77.0.1",
        "64:ff9b::a4d:1",
        "::10.77.0.1",
    ],
)
def test_an_address_outside_the_zone_sees_no_connection(
    bench: Bench, listeners: dict[str, CountingUpstream], address: str
) -> None:
    bench.dns.names[NAME] = [address]
    before = len(bench.haproxy.log())
    answer = bench.post("endpoint-narrow")
    assert (answer.status, answer.code) == DENIED
    assert reached(listeners) == set()
    bench.haproxy.lines(1, after=before, upstream="endpoint-narrow", peer="-", status=502, code="zone_denied")


def test_a_name_that_moves_outside_is_refused_from_the_next_request(
    bench: Bench, listeners: dict[str, CountingUpstream]
) -> None:
    bench.dns.names[NAME] = [INSIDE]
    assert bench.post("endpoint-narrow").status == 200
    bench.dns.names[NAME] = [OUTSIDE]
    answer = bench.post("endpoint-narrow")
    assert (answer.status, answer.code) == DENIED
    bench.dns.names[NAME] = [ALSO_INSIDE]
    assert bench.post("endpoint-narrow").status == 200
    assert reached(listeners) == {INSIDE, ALSO_INSIDE}


def test_an_answer_that_changes_with_every_query_never_leads_outside(
    bench: Bench, listeners: dict[str, CountingUpstream]
) -> None:
    turns = iter(range(10**6))
    bench.dns.names[NAME] = lambda: [INSIDE if next(turns) % 2 else OUTSIDE]
    with ThreadPoolExecutor(4) as pool:
        statuses = [answer.status for answer in pool.map(lambda _: bench.post("endpoint-narrow"), range(80))]
    assert set(statuses) <= {200, 429, 502}
    assert {200, 502} <= set(statuses)
    assert reached(listeners) == {INSIDE}
    assert listeners[INSIDE].connections == statuses.count(200)


@pytest.mark.parametrize("answer", [[INSIDE, OUTSIDE], [OUTSIDE, INSIDE]])
def test_an_answer_with_several_addresses_leads_to_one_that_was_checked(
    bench: Bench, listeners: dict[str, CountingUpstream], answer: Sequence[str]
) -> None:
    bench.dns.names[NAME] = list(answer)
    statuses = {bench.post("endpoint-narrow").status for _ in range(10)}
    assert statuses <= {200, 502}
    assert reached(listeners) <= {INSIDE}


def test_a_checked_address_that_does_not_answer_leads_nowhere_else(
    bench: Bench, listeners: dict[str, CountingUpstream]
) -> None:
    bench.dns.names[NAME] = ["10.77.0.9", OUTSIDE]
    statuses = {bench.post("endpoint-narrow").status for _ in range(4)}
    assert statuses <= {502, 503}
    assert reached(listeners) == set()


def test_a_name_without_an_address_is_unresolved(bench: Bench, listeners: dict[str, CountingUpstream]) -> None:
    for entry in ([], None):
        if entry is None:
            bench.dns.names.pop(NAME)
        else:
            bench.dns.names[NAME] = entry
        answer = bench.post("endpoint-narrow")
        assert (answer.status, answer.code) == (503, "name_unresolved")
    assert reached(listeners) == set()


def test_a_silent_name_server_is_an_error_and_not_the_last_answer(
    bench: Bench, listeners: dict[str, CountingUpstream]
) -> None:
    bench.dns.names[NAME] = [INSIDE]
    assert bench.post("endpoint-narrow").status == 200
    bench.dns.silent = True
    try:
        answer = bench.post("endpoint-narrow")
        assert (answer.status, answer.code) == (503, "name_unresolved")
        assert listeners[INSIDE].connections == 1
    finally:
        bench.dns.silent = False


def test_a_name_server_that_loses_five_queries_fails_no_request(
    bench: Bench, listeners: dict[str, CountingUpstream]
) -> None:
    bench.dns.names[NAME] = [INSIDE]
    bench.dns.lost = 5
    assert bench.post("endpoint-narrow").status == 200
    assert bench.dns.lost == 0
    assert reached(listeners) == {INSIDE}


def test_ipv4_is_preferred_and_ipv6_serves_when_there_is_no_other(
    bench: Bench, listeners: dict[str, CountingUpstream]
) -> None:
    bench.dns.names[NAME] = ["fd12::1", INSIDE]
    assert bench.post("endpoint-narrow").status == 200
    assert reached(listeners) == {INSIDE}
    bench.dns.names[NAME] = ["fd12::1"]
    assert bench.post("endpoint-narrow").status == 200
    assert reached(listeners) == {INSIDE, "fd12::1"}


@pytest.mark.parametrize(
    "address", [INSIDE, "127.0.0.1", "169.254.169.254", "100.100.100.200", "fd12::1", "::1", "::ffff:9.9.9.9"]
)
def test_a_vendor_may_not_resolve_to_an_address_that_is_not_public(
    bench: Bench, listeners: dict[str, CountingUpstream], address: str
) -> None:
    bench.dns.names[VENDOR] = [address]
    answer = bench.post("provider-vendor")
    assert (answer.status, answer.code) == DENIED
    assert reached(listeners) == set()


def test_a_vendor_is_reached_at_public_addresses(bench: Bench, listeners: dict[str, CountingUpstream]) -> None:
    bench.dns.names[VENDOR] = ["9.9.9.9"]
    assert bench.post("provider-vendor").status == 200
    assert reached(listeners) == {"9.9.9.9"}


def test_a_name_that_is_an_alias_is_judged_by_its_address(bench: Bench, listeners: dict[str, CountingUpstream]) -> None:
    bench.dns.aliases.update({VENDOR: "edge.cdn.example", "edge.cdn.example": "node.cdn.example"})
    try:
        bench.dns.names["node.cdn.example"] = ["9.9.9.9"]
        assert bench.post("provider-vendor").status == 200
        assert reached(listeners) == {"9.9.9.9"}
        bench.dns.names["node.cdn.example"] = [INSIDE]
        answer = bench.post("provider-vendor")
        assert (answer.status, answer.code) == DENIED
        assert reached(listeners) == {"9.9.9.9"}
    finally:
        bench.dns.aliases.clear()


def test_plaintext_is_held_to_its_zone_too(bench: Bench) -> None:
    bench.dns.names[NAME] = [OUTSIDE]
    with CountingUpstream(OUTSIDE, 11434) as outside:
        answer = bench.post("endpoint-plain")
        assert (answer.status, answer.code) == DENIED
        assert outside.connections == 0


def test_the_caller_chooses_neither_host_nor_address(bench: Bench, listeners: dict[str, CountingUpstream]) -> None:
    bench.dns.names.update({NAME: [INSIDE], "evil.test": [OUTSIDE]})
    assert bench.post("endpoint-narrow", headers={"Host": "evil.test:8443"}).status == 200
    own = {"Authorization": f"Bearer {caller_token('endpoint-narrow')}"}
    absolute = head("POST", "http://test/u/endpoint-narrow/chat/completions", own, b"{}") + b"{}"
    assert bench.servers["endpoint-narrow"].send(absolute).status == 200
    assert {request.header("host") for request in listeners[INSIDE].requests} == {f"{NAME}:8443"}
    assert {request.line for request in listeners[INSIDE].requests} == {"POST /v1/chat/completions HTTP/1.1"}
    assert reached(listeners) == {INSIDE}


def test_a_stream_survives_a_change_of_the_name(bench: Bench, listeners: dict[str, CountingUpstream]) -> None:
    finish = threading.Event()
    listeners[INSIDE].behaviour = streams_until(finish)
    bench.dns.names[NAME] = [INSIDE]
    server = bench.servers["endpoint-narrow"]
    with server.connect() as connection:
        connection.sendall(server.head("POST", CHAT, None, b"{}") + b"{}")
        received = connection.recv(65_536)
        while b"first" not in received:
            received += connection.recv(65_536)
        bench.dns.names[NAME] = [OUTSIDE]
        assert bench.post("endpoint-narrow").status == 502
        finish.set()
        while b"0\r\n\r\n" not in received:
            received += connection.recv(65_536)
        assert b"last" in received
