"""The way from LiteLLM to an upstream: two gateways' fronts, two guards, and who may ask what (ADR 30)."""

import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from hearth.compile.front import GuardServer
from hearth.compile.guard import DnsSettings, compile_guard
from hearth.compile.names import home
from hearth.topology.resolve import resolve
from tests.support.pki import Authority
from tests.support.proxy_claims import capacity, claim, private_endpoint
from tests.wire.client import Answer, Server, head, wait_for
from tests.wire.counting import Connection, CountingUpstream, Gate, Request, answers, streams_until
from tests.wire.dns_stub import DnsStub
from tests.wire.front_bench import front_files
from tests.wire.guard_bench import (
    DNS_PORT,
    INSIDE,
    NAME,
    Upstream,
    caller_token,
    guard_secret,
    leaf,
    tls_upstream,
    trusting,
)
from tests.wire.haproxy import Haproxy

pytestmark = pytest.mark.wire


ENDPOINTS = Authority("the endpoint's CA")
IN_CLUSTER = Authority("the cluster's CA")
HOSTS = [f"llm-guard-{number}.system-llm.svc.cluster.local" for number in (0, 1)]
PORTS = (9443, 9444)
# Longer than anything that a test waits for, also on a loaded machine.
BOUNDS = capacity(1, 8, request_ms=120_000, setup_ms=90_000)
TOPOLOGY = resolve(
    claim(
        {
            name: private_endpoint(f"https://{NAME}:8443/v1", runtimeCapacity=BOUNDS, headers={"x-upstream": name})
            for name in ("one", "two", "three", "four")
        }
    )
)
CREDENTIALS = {f"ENDPOINT_CREDENTIAL_{name}": "endpoint-credential" for name in ("ONE", "TWO", "THREE", "FOUR")}
ONE = "endpoint-one"
HOME = home(next(upstream for upstream in TOPOLOGY.upstreams if upstream.name == ONE), 2)
CHAT = f"/u/{ONE}/chat/completions"


@contextlib.contextmanager
def guard(binary: str, folder: Path, number: int, *, authority: Authority = IN_CLUSTER) -> Iterator[Haproxy]:
    """Run one replica of the guard."""
    folder = folder / f"guard-{number}"
    folder.mkdir(exist_ok=True)
    files = compile_guard(
        TOPOLOGY,
        listen=f"127.0.0.1:{PORTS[number]}",
        config_directory=str(folder),
        secret_directory=str(folder / "secret"),
        haproxy_ca_directory=str(folder),
        public_ca=str(folder / "lan-ca.pem"),
        dns=DnsSettings((f"127.0.0.1:{DNS_PORT}",)),
        probe=f"127.0.0.1:{8410 + number}",
    ).files
    for name, text in {**files, "lan-ca.pem": ENDPOINTS.pem}.items():
        (folder / name).write_text(text)
    guard_secret(folder / "secret", authority, HOSTS[number], [upstream.name for upstream in TOPOLOGY.upstreams])
    with Haproxy(binary, folder, [folder / "guard.cfg"], [PORTS[number]], environment=CREDENTIALS) as running:
        yield running


@contextlib.contextmanager
def front(binary: str, folder: Path, number: int) -> Iterator[Server]:
    """Run the front of one gateway; return LiteLLM's way out."""
    folder = folder / f"front-{number}"
    folder.mkdir(exist_ok=True)
    base = 4000 + 100 * number
    guards = [
        GuardServer(f"llm-guard-{index}", host, f"127.0.0.1:{port}")
        for index, (host, port) in enumerate(zip(HOSTS, PORTS, strict=True))
    ]
    files = front_files(
        TOPOLOGY,
        folder,
        guards=guards,
        authority=IN_CLUSTER,
        listen=f"127.0.0.1:{base}",
        probe=f"127.0.0.1:{base + 6}",
        litellm=f"127.0.0.1:{base + 1}",
        management=f"127.0.0.1:{base + 2}",
        management_door=f"127.0.0.1:{base + 3}",
        guard_door=f"127.0.0.1:{base + 4}",
    )
    for name, text in files.items():
        (folder / name).write_text(text)
    with Haproxy(binary, folder, [folder / "front.cfg"], [base, base + 4]):
        yield Server("127.0.0.1", base + 4)


@dataclass
class Site:
    """Two gateways before two guards; a guard can be taken away and put back."""

    binary: str
    folder: Path
    doors: list[Server]
    guards: dict[int, Haproxy]

    def ask(self, gateway: int = 0, target: str = CHAT) -> Answer:
        """Ask as LiteLLM does: with a credential that means nothing."""
        placeholder = {"Authorization": "Bearer placeholder"}
        return self.doors[gateway].request("POST", target, b"{}", placeholder)

    def asked_through(self, number: int) -> int:
        """How many requests a guard has passed on."""
        return len([line for line in self.guards[number].log() if line["upstream"] == ONE])


@pytest.fixture(scope="module")
def dns(network: None) -> Iterator[DnsStub]:
    with DnsStub(DNS_PORT) as found:
        found.names[NAME] = [INSIDE]
        yield found


@pytest.fixture
def site(image_haproxy_binary: str, dns: DnsStub, tmp_path: Path) -> Iterator[Site]:
    with contextlib.ExitStack() as running:
        guards = {number: running.enter_context(guard(image_haproxy_binary, tmp_path, number)) for number in (0, 1)}
        doors = [running.enter_context(front(image_haproxy_binary, tmp_path, number)) for number in (0, 1)]
        yield Site(image_haproxy_binary, tmp_path, doors, guards)


@pytest.fixture
def upstream(folder: Path, network: None) -> Iterator[CountingUpstream]:
    with tls_upstream(ENDPOINTS, folder, INSIDE, NAME) as found:
        yield found


def test_a_request_goes_through_its_home_and_carries_no_credential_but_the_endpoints(
    site: Site, upstream: CountingUpstream
) -> None:
    assert [site.ask(gateway).status for gateway in (0, 1)] == [200, 200]
    assert site.guards[HOME].lines(2, upstream=ONE, operation="chat", status=200)
    assert site.asked_through(1 - HOME) == 0
    for request in upstream.requests:
        assert request.line == "POST /v1/chat/completions HTTP/1.1"
        assert request.header("authorization") == "Bearer endpoint-credential"
        assert not [value for _, value in request.headers if "placeholder" in value or "caller-of" in value]


def test_every_upstream_is_asked_for_by_its_own_path(site: Site, upstream: CountingUpstream) -> None:
    for name in ("one", "two", "three", "four"):
        assert site.ask(target=f"/u/endpoint-{name}/chat/completions").status == 200
        assert upstream.requests[-1].header("x-upstream") == name


@pytest.mark.parametrize("target", ["/u/endpoint-nobody/chat/completions", "/chat/completions", f"/v/{ONE}/chat", "/"])
def test_what_is_no_upstream_goes_nowhere(site: Site, upstream: CountingUpstream, target: str) -> None:
    answer = site.ask(target=target)
    assert (answer.status, answer.code, answer.headers["x-refusal"]) == (503, "upstream_unknown", "upstream_unknown")
    assert upstream.connections == 0


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "Bearer placeholder",
        f"Bearer {caller_token('endpoint-two')}",
        f"Basic {caller_token(ONE)}",
        f"Bearer {caller_token(ONE)} ",
    ],
)
def test_only_the_credential_of_an_upstream_opens_it(
    site: Site, upstream: CountingUpstream, authorization: str | None
) -> None:
    server = Server("127.0.0.1", PORTS[HOME], trusting(IN_CLUSTER), HOSTS[HOME])
    answer = server.request("POST", CHAT, b"{}", {"Authorization": authorization} if authorization else {})
    expected = (200, None) if authorization == f"Bearer {caller_token(ONE)} " else (401, "invalid_api_key")
    assert (answer.status, answer.code) == expected
    assert upstream.connections == (1 if expected[0] == 200 else 0)


def test_two_credentials_at_once_are_refused(site: Site, upstream: CountingUpstream) -> None:
    server = Server("127.0.0.1", PORTS[HOME], trusting(IN_CLUSTER), HOSTS[HOME])
    both = {"Authorization": f"Bearer {caller_token(ONE)}", "authorization": f"Bearer {caller_token('endpoint-two')}"}
    assert server.send(head("POST", CHAT, both, b"{}") + b"{}").code == "bad_request"
    assert upstream.connections == 0


def test_the_guard_speaks_tls_alone(site: Site, upstream: CountingUpstream) -> None:
    own = {"Authorization": f"Bearer {caller_token(ONE)}"}
    assert Server("127.0.0.1", PORTS[HOME]).request("POST", CHAT, b"{}", own).status == 0
    assert upstream.connections == 0


def test_a_code_of_the_guard_arrives_and_one_of_an_upstream_does_not(site: Site, upstream: CountingUpstream) -> None:
    upstream.behaviour = answers(500, ("x-refusal", "zone_denied"))
    answer = site.ask()
    assert answer.status == 500
    assert "x-refusal" not in answer.headers
    upstream.behaviour = answers(302, ("location", "https://elsewhere.example/"), ("x-refusal", "queue_full"))
    assert site.ask().headers["x-refusal"] == "redirect_refused"


def test_the_declared_parallelism_holds_for_all_gateways_together(site: Site, upstream: CountingUpstream) -> None:
    gate = upstream.behaviour = Gate()
    with ThreadPoolExecutor(12) as pool:
        found = [pool.submit(site.ask, number % 2) for number in range(12)]
        assert wait_for(lambda: sum(answer.done() for answer in found) == 3, 60)
        assert gate.held == 1
        gate.open()
        results = [answer.result() for answer in found]
    assert sorted(answer.status for answer in results) == [200] * 9 + [429] * 3
    assert {answer.headers["x-refusal"] for answer in results if answer.status == 429} == {"queue_full"}
    assert gate.most_held == 1
    assert len(upstream.requests) == 9


def test_a_guard_that_died_is_replaced_by_the_other_and_no_request_is_lost(
    site: Site, upstream: CountingUpstream
) -> None:
    most, active, lock = [0], [0], threading.Lock()

    def counted(connection: Connection, _: Request) -> None:
        with lock:
            active[0] += 1
            most[0] = max(most[0], active[0])
        with lock:
            active[0] -= 1
        connection.json(200, {})

    upstream.behaviour = counted
    assert site.ask().status == 200
    site.guards[HOME].kill()
    with ThreadPoolExecutor(4) as pool:
        found = [pool.submit(site.ask, number % 2) for number in range(8)]
        assert {answer.result().status for answer in found} == {200}
    assert len(upstream.requests) == 9
    assert most[0] == 1
    with guard(site.binary, site.folder, HOME) as again:
        site.guards[HOME] = again

        def is_home() -> bool:
            assert site.ask().status == 200
            return site.asked_through(HOME) > 0

        assert wait_for(is_home)


def test_what_a_guard_had_begun_when_it_died_is_not_sent_again(site: Site, upstream: CountingUpstream) -> None:
    gate = upstream.behaviour = Gate()
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(site.ask)
        assert wait_for(lambda: gate.held == 1)
        site.guards[HOME].kill()
        answer = found.result()
        gate.open()
    assert answer.status == 502
    assert answer.headers["x-refusal"] == "bad_response"
    assert len(upstream.requests) == 1


def test_a_guard_that_drains_ends_its_streams_and_takes_nothing_new(site: Site, upstream: CountingUpstream) -> None:
    finish = threading.Event()
    upstream.behaviour = streams_until(finish)
    with site.doors[0].connect() as connection:
        connection.sendall(head("POST", CHAT, None, b"{}") + b"{}")
        received = b""
        while b"first" not in received:
            received += connection.recv(65_536)
        site.guards[HOME].drain()
        upstream.behaviour = answers(200)
        assert {site.ask(number % 2).status for number in range(10)} == {200}
        assert len(site.guards[1 - HOME].lines(10, upstream=ONE, status=200)) == 10
        finish.set()
        while b"0\r\n\r\n" not in received:
            piece = connection.recv(65_536)
            assert piece
            received += piece
    assert b"last" in received


@pytest.mark.parametrize(
    ("authority", "host"),
    [(Authority("another CA"), HOSTS[0]), (IN_CLUSTER, "llm-gemma.system-llm.svc.cluster.local")],
    ids=["another CA", "another name"],
)
def test_what_is_not_the_guard_sees_no_request(
    image_haproxy_binary: str, tmp_path: Path, authority: Authority, host: str
) -> None:
    certificate = leaf(authority, tmp_path / "impostor", host)
    with (
        CountingUpstream("127.0.0.1", PORTS[0], tls=certificate) as first,
        CountingUpstream("127.0.0.1", PORTS[1], tls=certificate) as second,
        front(image_haproxy_binary, tmp_path, 0) as door,
    ):
        answer = door.request("POST", CHAT, b"{}")
        assert (answer.status, answer.headers["x-refusal"]) == (503, "unavailable")
        assert first.requests + second.requests == []


def test_each_of_two_gateways_finds_the_guard_by_itself(site: Site, upstream: CountingUpstream) -> None:
    """`Upstream` is what the guard's own tests ask with; a gateway's front does the same."""
    own = Upstream("127.0.0.1", PORTS[HOME], trusting(IN_CLUSTER), HOSTS[HOME], ONE)
    assert own.request("POST", "/chat/completions", b"{}").status == site.ask().status == site.ask(1).status == 200
    assert len({tuple(sorted(request.headers)) for request in upstream.requests}) == 1
