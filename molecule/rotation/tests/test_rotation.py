"""rotate.yml under a bounded load of short and streaming requests: nothing fails, nothing breaks off (S4-58).

A paced server stands where the runtimes were: a stream is in flight at every moment, and costs no processor.
"""

import contextlib
import hashlib
import re
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.edge import CHAT, Endpoint, ephemeral, hosts, play, trust_context
from tests.support.edge_runtimes import paced_runtime

PROMPT = [{"role": "user", "content": "Count from one to one hundred in words."}]


class Load(threading.Thread):
    """One short request after the other, or one stream after the other, as a gateway sends them to one endpoint."""

    def __init__(self, endpoint: Endpoint, stream: bool) -> None:
        super().__init__(daemon=True)
        self.endpoint, self.stream = endpoint, stream
        self.context, self.token = trust_context(), endpoint.token
        self.done, self.failures = 0, list[str]()
        self.stopping = threading.Event()

    def run(self) -> None:
        while not self.stopping.is_set():
            try:
                # a connection of its own for each request, so that each one sees what is new
                with self.endpoint.client(self.context, self.token) as client:
                    self._ask(client)
                self.done += 1
            except Exception as error:
                self.failures.append(f"{error!r} because of {error.__cause__!r}")
            if not self.stream:
                time.sleep(1)  # bounded: the playbooks share the processor with it

    def _ask(self, client: object) -> None:
        answer = client.chat.completions.create(  # type: ignore[attr-defined]
            model="gemma3-270m", messages=PROMPT, stream=self.stream
        )
        if self.stream:
            reasons = [event.choices[0].finish_reason for event in answer if event.choices]
            if reasons[-1] not in ("length", "stop"):
                raise AssertionError(f"the stream broke off after {len(reasons)} events")


@pytest.fixture(scope="module")
def load() -> Iterator[list[Load]]:
    """Load on every endpoint, from before the first step until after the last."""
    threads = [Load(sidecar, stream) for host in hosts() for sidecar in host.sidecars for stream in (False, True)]
    with contextlib.ExitStack() as runtimes:
        for host in hosts():
            runtimes.enter_context(paced_runtime(host))
        for thread in threads:
            thread.start()
        yield threads
        for thread in threads:
            thread.stopping.set()
        for thread in threads:
            thread.join(120)


def settle(load: list[Load]) -> None:
    """Let every thread finish two more requests, then say that none ever failed."""
    marks = [thread.done for thread in load]
    end = time.monotonic() + 120
    while time.monotonic() < end and any(thread.done < mark + 2 for thread, mark in zip(load, marks, strict=True)):
        time.sleep(0.2)
    assert all(thread.done >= mark + 2 for thread, mark in zip(load, marks, strict=True)), [
        thread.failures for thread in load
    ]
    assert [thread.failures for thread in load] == [[] for _ in load]


def fingerprints() -> list[str]:
    found = []
    for host in hosts():
        for sidecar in host.sidecars:
            with sidecar.server(trust_context()).connect() as connection:
                certificate = connection.getpeercert(binary_form=True)  # type: ignore[attr-defined]
            found.append(hashlib.sha256(certificate).hexdigest())
    return found


def bundle(version: int) -> Path:
    return ephemeral() / f"site/trust/edge-ca.v{version}.pem"


def publish(version: int) -> None:
    """What the operator does: name the new version of the bundle in the claim."""
    claim = ephemeral() / "site/stacks/Pulumi.edge.yaml"
    sha256 = hashlib.sha256(bundle(version).read_bytes()).hexdigest()
    line = f"edge-ca: {{version: {version}, file: trust/{bundle(version).name}, sha256: {sha256}}}"
    claim.write_text(re.sub(r"edge-ca: \{version.*\}", line, claim.read_text()))


def refused_finish(behind: list[str], *arguments: str) -> None:
    """See ca-finish refuse while endpoints need the old authority, or while it cannot be seen that they do not."""
    found = play("playbooks/rotate.yml", "-e", "hearth_rotate=ca-finish", *arguments, check=False)
    assert found.returncode != 0
    said = " ".join(found.stdout.split())
    assert f"is still needed: {', '.join(sorted(behind))} has no certificate of the newest one yet" in said, said[
        -2000:
    ]
    assert not bundle(3).exists()


def test_1_leaf(load: list[Load]) -> None:
    before = fingerprints()
    shown = " ".join(play("playbooks/rotate.yml", "-e", "hearth_rotate=leaf").stdout.split())
    assert "sidecar.yml for debian12.edge.test, debian13.edge.test" in shown, "the hosts were taken one after the other"
    assert not set(before) & set(fingerprints())
    settle(load)


def test_2_token(load: list[Load]) -> None:
    endpoints = [sidecar for host in hosts() for sidecar in host.sidecars]
    old = {endpoint.name: endpoint.token for endpoint in endpoints}
    early = play("playbooks/rotate.yml", "-e", "hearth_rotate=token-finish", check=False)
    assert early.returncode != 0
    assert "begin with -e hearth_rotate=token-begin" in early.stdout

    check = play("playbooks/rotate.yml", "-e", "hearth_rotate=token-begin", "--check")
    assert "would make a second token of" in check.stdout
    assert "Give it to" not in check.stdout
    assert not list((ephemeral() / "state/credentials").glob("*.next"))
    play("playbooks/rotate.yml", "-e", "hearth_rotate=token-begin")
    settle(load)
    for thread in load:  # the gateway is given the new token
        file = ephemeral() / "state/credentials" / f"{thread.endpoint.name}.workload.next"
        thread.token = file.read_text().strip()
        assert thread.token != old[thread.endpoint.name]
    settle(load)
    one = endpoints[0]
    file = ephemeral() / "state/credentials" / f"{one.name}.workload.next"
    text = file.read_text()
    file.write_text("n" * 43)  # as if token-begin had not come to its hosts
    early = play("playbooks/rotate.yml", "-e", "hearth_rotate=token-finish", "--limit", one.host, check=False)
    assert f"{one.name} does not accept the second one yet" in " ".join(early.stdout.split())
    assert one.token == old[one.name], "the old token is lost"
    file.write_text(text)
    play("playbooks/rotate.yml", "-e", "hearth_rotate=token-finish")
    settle(load)
    for endpoint in endpoints:
        assert endpoint.token != old[endpoint.name]
        refused = endpoint.server().request("POST", CHAT, b"{}", {"Authorization": f"Bearer {old[endpoint.name]}"})
        assert refused.status == 401


def test_3_authority(load: list[Load]) -> None:
    early = play("playbooks/rotate.yml", "-e", "hearth_rotate=ca-leafs", "--check")
    assert "changed=0" in early.stdout
    check = play("playbooks/rotate.yml", "-e", "hearth_rotate=ca-begin", "--check").stdout
    assert "would make the authority edge-ca 2" in check
    assert not bundle(2).exists()
    play("playbooks/rotate.yml", "-e", "hearth_rotate=ca-begin")
    assert bundle(2).read_text().count("BEGIN CERTIFICATE") == 2
    early = play("playbooks/rotate.yml", "-e", "hearth_rotate=ca-leafs", check=False)
    assert "is not in the version of the bundle that the claim names" in early.stdout
    publish(2)
    again = play("playbooks/rotate.yml", "-e", "hearth_rotate=ca-begin")
    assert not bundle(3).exists(), again.stdout
    for thread in load:  # the gateways read the bundle of both
        thread.context = trust_context(bundle(2))
    settle(load)

    before = fingerprints()
    all_hosts = hosts()
    refused_finish([sidecar.name for host in all_hosts for sidecar in host.sidecars])
    play("playbooks/rotate.yml", "-e", "hearth_rotate=ca-leafs")
    assert not set(before) & set(fingerprints())
    settle(load)
    refused_finish([sidecar.name for sidecar in all_hosts[1].sidecars], "--limit", all_hosts[0].name)

    play("playbooks/rotate.yml", "-e", "hearth_rotate=ca-finish")
    publish(3)
    for thread in load:
        thread.context = trust_context(bundle(3))
    settle(load)
    for host in hosts():
        for sidecar in host.sidecars:
            with pytest.raises(ssl.SSLCertVerificationError):
                sidecar.server(trust_context(bundle(1))).connect()


def test_4_the_load_was_real(load: list[Load]) -> None:
    assert all(thread.done > 20 for thread in load), [thread.done for thread in load]
    print("requests:", [(thread.endpoint.name, "stream" if thread.stream else "short", thread.done) for thread in load])
