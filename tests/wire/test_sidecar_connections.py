"""Connections that never become a request hold their places for seconds alone, whoever opens them."""

import contextlib
import re
import socket
from pathlib import Path

import pytest

from tests.support.proxy_claims import claim, sidecar_endpoint
from tests.wire.client import wait_for
from tests.wire.sidecar_bench import ENDPOINT, Bench, running_sidecar

pytestmark = pytest.mark.wire

HANDSHAKE = {"timeout client-hs 5s": "timeout client-hs 1s"}
SILENCE = {"timeout client 30000ms": "timeout client 1s"}
"""What ends a handshake where HAProxy has no time of its own for it."""


def is_served(bench: Bench) -> bool:
    try:
        return bench.get("/sidecar/health").status == 200
    except OSError:
        return False


def test_half_open_connections_give_their_places_back(haproxy_binary: str, tmp_path: Path) -> None:
    """As many as one address may have; they are still open on their side when the sidecar serves again."""
    shorter = SILENCE if "haproxy-2.6" in haproxy_binary else HANDSHAKE
    found = claim({ENDPOINT: sidecar_endpoint()})
    with (
        running_sidecar(haproxy_binary, tmp_path, found, shorter=shorter) as bench,
        contextlib.ExitStack() as held,
    ):
        [places] = re.findall(r"sc0_conn_cur gt (\d+)", bench.config.files["sidecar.cfg"])
        for _ in range(int(places)):
            held.enter_context(socket.create_connection(("127.0.0.1", 8443), 5))
        assert not is_served(bench)
        # half of what the silence of a client would take
        assert wait_for(lambda: is_served(bench), 15)
