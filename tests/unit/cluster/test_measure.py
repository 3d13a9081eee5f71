"""The runner begins when the way to the endpoint is open, and not before."""

import socket
import threading
import time
from typing import Any

import pytest

from hearth.cli.measure import wait_for_the_way
from hearth.compile.digests import expected_evidence
from hearth.probe.target import Target, target_of
from hearth.topology.resolve import resolve
from tests.unit.compile.manifests.samples import loaded


def target(port: int) -> Target:
    topology = resolve(loaded("local").claim)
    made = target_of(
        topology.endpoint("gemma"), expected_evidence(topology)["gemma"], authorities="", credential="Bearer x"
    )
    return Target(
        **{**{name: getattr(made, name) for name in made.__dataclass_fields__}, "host": "127.0.0.1", "port": port}
    )


def test_a_way_that_opens_later_is_waited_for() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        opened = threading.Timer(0.3, listener.listen)
        opened.start()
        wait_for_the_way(target(listener.getsockname()[1]), tries=200, pause_seconds=0.02)
        # It has come back, so somebody connected.
        accepted, _ = listener.accept()
        accepted.close()
        opened.join()


def test_a_way_that_stays_closed_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[Any] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        wait_for_the_way(target(listener.getsockname()[1]), tries=5)
    assert len(pauses) == 5
