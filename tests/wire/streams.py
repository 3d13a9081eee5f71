"""A stream that a test makes event by event."""

import queue
import socket
import threading

from tests.wire.client import head
from tests.wire.counting import Connection, Request
from tests.wire.sidecar_bench import CHAT, TOKEN

ASK = head("POST", CHAT, {"Authorization": f"Bearer {TOKEN}"}, b"{}") + b"{}"


class Stream:
    """A behaviour that sends the events the test puts in, and says when the other side has closed."""

    def __init__(self) -> None:
        self.events: queue.Queue[bytes | None] = queue.Queue()
        self.started = threading.Event()
        self.broken = threading.Event()

    def __call__(self, connection: Connection, _: Request) -> None:
        try:
            connection.start_stream()
            self.started.set()
            while True:
                try:
                    event = self.events.get(timeout=0.05)
                except queue.Empty:
                    if connection.wait_closed(0.01):
                        raise ConnectionResetError from None
                    continue
                if event is None:
                    break
                connection.chunk(event)
            connection.end_stream()
        except OSError:
            self.broken.set()
            raise


def read_until(connection: socket.socket, wanted: bytes) -> bytes:
    received = b""
    while wanted not in received:
        piece = connection.recv(65_536)
        assert piece, f"closed after {received!r}"
        received += piece
    return received
