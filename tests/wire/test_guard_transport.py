"""The guard's TLS: chain, name and dates of every connection, with the upstream's own CA (S4-42 … S4-44, U-16)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.pki import Authority
from tests.support.proxy_claims import capacity, claim, plaintext_endpoint, private_endpoint, provider
from tests.wire.counting import Connection, CountingUpstream, Request, answer_ok, answers
from tests.wire.guard_bench import (
    ALSO_INSIDE,
    INSIDE,
    NAME,
    VENDOR,
    Bench,
    Kept,
    running_guard,
    tls_upstream,
)

pytestmark = pytest.mark.wire

OWN = Authority("the endpoint's CA")
OTHER = Authority("another CA")
PUBLIC = Authority("a public CA")
FAILED = (502, "upstream_certificate_failed")


@pytest.fixture(scope="module")
def bench(image_haproxy_binary: str, folder: Path) -> Iterator[Bench]:
    found = claim(
        {
            "named": private_endpoint(f"https://{NAME}:8443/v1", runtimeCapacity=capacity(setup_ms=1_000)),
            "address": private_endpoint(f"https://{INSIDE}:8443/v1"),
            "six": plaintext_endpoint("http://[fd12::1]:11434/v1"),
            "plain": plaintext_endpoint(f"http://{NAME}:11434/v1"),
            "dead": private_endpoint("https://dead.lan.test:9/v1", runtimeCapacity=capacity(setup_ms=300)),
        },
        providers=[provider()],
        cidrs=("10.77.0.0/24", "fd12::/64"),
    )
    environment = {
        "HTTP_PROXY": f"http://{ALSO_INSIDE}:3128",
        "HTTPS_PROXY": f"http://{ALSO_INSIDE}:3128",
        "ALL_PROXY": f"http://{ALSO_INSIDE}:3128",
        "ENDPOINT_CREDENTIAL_NAMED": "named-credential",
        "ENDPOINT_CREDENTIAL_ADDRESS": "address-credential",
        "ENDPOINT_CREDENTIAL_DEAD": "dead-credential",
        "LLM_PROVIDER_KEY_vendor_api_key": "vendor-credential",
    }
    with running_guard(
        image_haproxy_binary, folder, found, authority=OWN, public=PUBLIC, environment=environment
    ) as running:
        running.dns.names.update({NAME: [INSIDE], VENDOR: ["9.9.9.9"], "dead.lan.test": [ALSO_INSIDE]})
        yield running


def test_the_right_name_and_the_right_ca_pass(bench: Bench, tmp_path: Path) -> None:
    with tls_upstream(OWN, tmp_path, INSIDE, NAME) as upstream:
        assert bench.post("endpoint-named").status == 200
        (request,) = upstream.requests
        assert request.header("host") == f"{NAME}:8443"
        assert request.header("authorization") == "Bearer named-credential"


def test_one_of_several_names_is_enough(bench: Bench, tmp_path: Path) -> None:
    with tls_upstream(OWN, tmp_path, INSIDE, "other.lan.test", NAME):
        assert bench.post("endpoint-named").status == 200


@pytest.mark.parametrize(
    ("authority", "names", "issue"),
    [
        pytest.param(OWN, ["other.lan.test"], {}, id="wrong name"),
        pytest.param(OWN, [f"sub.{NAME}"], {}, id="name below"),
        pytest.param(OWN, ["*.test"], {}, id="wildcard of another level"),
        pytest.param(OWN, [INSIDE], {}, id="address in place of the name"),
        pytest.param(OWN, [NAME], {"days": -1.0}, id="expired"),
        pytest.param(OTHER, [NAME], {}, id="another CA"),
        pytest.param(PUBLIC, [NAME], {}, id="a public CA"),
    ],
)
def test_a_certificate_that_is_wrong_sees_no_request(
    bench: Bench, tmp_path: Path, authority: Authority, names: list[str], issue: dict[str, float]
) -> None:
    before = len(bench.haproxy.log())
    with tls_upstream(authority, tmp_path, INSIDE, *names, **issue) as upstream:
        answer = bench.post("endpoint-named")
        assert (answer.status, answer.code) == FAILED
        assert "retry-after" not in answer.headers
        assert upstream.connections == 1, "no second attempt"
        assert upstream.requests == []
    (line,) = bench.haproxy.lines(1, after=before, upstream="endpoint-named", status=502, code=FAILED[1])
    assert "certificate verify failed" in line["tls_err"]
    assert line["srv_err"] != "-"


def test_an_address_needs_a_certificate_for_the_address(bench: Bench, tmp_path: Path) -> None:
    with tls_upstream(OWN, tmp_path / "right", INSIDE, INSIDE, common_name=INSIDE) as upstream:
        assert bench.post("endpoint-address").status == 200
        assert upstream.requests[0].header("host") == f"{INSIDE}:8443"
    with tls_upstream(OWN, tmp_path / "wrong", INSIDE, NAME, common_name=NAME) as upstream:
        answer = bench.post("endpoint-address")
        assert (answer.status, answer.code) == FAILED
        assert upstream.requests == []
    with tls_upstream(OWN, tmp_path / "other", INSIDE, ALSO_INSIDE, common_name=ALSO_INSIDE) as upstream:
        assert bench.post("endpoint-address").status == 502
        assert upstream.requests == []


def test_an_address_in_the_san_alone_is_not_enough(bench: Bench, tmp_path: Path) -> None:
    """HAProxy compares names alone: for an address the certificate needs it as its common name as well."""
    with tls_upstream(OWN, tmp_path, INSIDE, INSIDE) as upstream:
        assert bench.post("endpoint-address").status == 502
        assert upstream.requests == []


def test_a_vendor_is_verified_with_the_public_cas_alone(bench: Bench, tmp_path: Path) -> None:
    with tls_upstream(PUBLIC, tmp_path / "public", "9.9.9.9", VENDOR, port=443) as upstream:
        assert bench.post("provider-vendor").status == 200
        (request,) = upstream.requests
        assert request.header("host") == VENDOR
        assert request.header("authorization") == "Bearer vendor-credential"
    with tls_upstream(OWN, tmp_path / "own", "9.9.9.9", VENDOR, port=443) as upstream:
        answer = bench.post("provider-vendor")
        assert (answer.status, answer.code) == FAILED
        assert upstream.requests == []


def test_cleartext_where_tls_is_expected_sees_no_request(bench: Bench) -> None:
    with CountingUpstream(INSIDE, 8443) as upstream:
        answer = bench.post("endpoint-named")
        assert (answer.status, answer.code) == (503, "upstream_failed")
        assert upstream.requests == []


def test_a_plaintext_upstream_is_spoken_to_in_cleartext(bench: Bench) -> None:
    with CountingUpstream(INSIDE, 11434) as upstream:
        assert bench.post("endpoint-plain").status == 200
        (request,) = upstream.requests
        assert request.header("host") == f"{NAME}:11434"
        assert "authorization" not in request.names


def test_an_ipv6_address_is_connected_to_without_a_look_up(bench: Bench) -> None:
    queries = bench.dns.queries
    with CountingUpstream("fd12::1", 11434) as upstream:
        assert bench.post("endpoint-six").status == 200
        assert upstream.requests[0].header("host") == "[fd12::1]:11434"
    assert bench.dns.queries == queries


def test_an_upstream_that_is_away_is_another_code(bench: Bench) -> None:
    answer = bench.post("endpoint-dead")
    assert (answer.status, answer.code) == (503, "upstream_failed")
    assert answer.headers["retry-after"] == "2"


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed_and_not_passed_on(bench: Bench, tmp_path: Path, status: int) -> None:
    with (
        tls_upstream(OWN, tmp_path / "a", INSIDE, NAME) as upstream,
        tls_upstream(OWN, tmp_path / "b", ALSO_INSIDE, NAME) as target,
    ):
        upstream.behaviour = answers(status, ("location", f"https://{ALSO_INSIDE}:8443/v1/chat/completions"))
        answer = bench.post("endpoint-named")
        assert (answer.status, answer.code) == (502, "redirect_refused")
        assert "location" not in answer.headers
        assert len(upstream.requests) == 1
        assert target.connections == 0


def test_proxy_variables_of_the_environment_are_ignored(bench: Bench, tmp_path: Path) -> None:
    with tls_upstream(OWN, tmp_path, INSIDE, NAME), CountingUpstream(ALSO_INSIDE, 3128) as proxy:
        assert bench.post("endpoint-named").status == 200
        assert proxy.connections == 0


def test_every_request_has_a_connection_of_its_own(bench: Bench, tmp_path: Path) -> None:
    with tls_upstream(OWN, tmp_path, INSIDE, NAME) as upstream:
        for _ in range(5):
            assert bench.post("endpoint-named").status == 200
        assert upstream.connections == 5


def test_requests_on_one_kept_connection_have_connections_of_their_own(bench: Bench, tmp_path: Path) -> None:
    with tls_upstream(OWN, tmp_path, INSIDE, NAME) as upstream, Kept(bench, "endpoint-named") as client:
        queries = bench.dns.queries
        assert [client.post().status for _ in range(5)] == [200] * 5
        assert upstream.connections == 5
        assert bench.dns.queries > queries


def test_a_certificate_that_ended_stops_the_next_request_of_a_kept_connection(bench: Bench, tmp_path: Path) -> None:
    with Kept(bench, "endpoint-named") as client:
        with tls_upstream(OWN, tmp_path / "valid", INSIDE, NAME):
            assert client.post().status == 200
        with tls_upstream(OWN, tmp_path / "ended", INSIDE, NAME, days=-1.0) as upstream:
            answer = client.post()
            assert (answer.status, answer.code) == FAILED
            assert upstream.requests == []


def test_an_upstream_that_closes_when_idle_loses_no_request(bench: Bench, tmp_path: Path) -> None:
    def once(connection: Connection, request: Request) -> None:
        if len(connection.requests) > 1:
            # The idle time is over just as the next request arrives.
            connection.socket.close()
        else:
            answer_ok(connection, request)

    with tls_upstream(OWN, tmp_path, INSIDE, NAME) as upstream, Kept(bench, "endpoint-named") as client:
        upstream.behaviour = once
        assert [client.post().status for _ in range(10)] == [200] * 10


@pytest.mark.parametrize("encoding", ["gzip", "br", "GZIP", "identity, gzip"])
def test_an_encoded_answer_is_refused(bench: Bench, tmp_path: Path, encoding: str) -> None:
    with tls_upstream(OWN, tmp_path, INSIDE, NAME) as upstream:
        upstream.behaviour = answers(200, ("content-encoding", encoding))
        answer = bench.post("endpoint-named")
        assert (answer.status, answer.code) == (502, "encoding_refused")
        assert upstream.requests[0].header("accept-encoding") == "identity"
        upstream.behaviour = answers(200, ("content-encoding", encoding), ("content-encoding", "identity"))
        assert bench.post("endpoint-named").code == "encoding_refused"


def test_an_answer_that_says_it_is_plain_passes(bench: Bench, tmp_path: Path) -> None:
    with tls_upstream(OWN, tmp_path, INSIDE, NAME) as upstream:
        upstream.behaviour = answers(200, ("content-encoding", "identity"))
        assert bench.post("endpoint-named").status == 200


@pytest.mark.parametrize("status", [600, 799, 999])
def test_a_status_that_http_does_not_have_is_refused(bench: Bench, tmp_path: Path, status: int) -> None:
    with tls_upstream(OWN, tmp_path, INSIDE, NAME) as upstream:
        upstream.behaviour = answers(status)
        answer = bench.post("endpoint-named")
        assert (answer.status, answer.code) == (502, "bad_response")
