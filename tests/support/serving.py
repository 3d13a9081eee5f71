"""A server of the standard library for as long as a test needs it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import BaseServer

NOTICED_SECONDS = 0.02
"""How long a server takes to see that it is to end; half a second by itself, which every test would wait for."""


@contextmanager
def serving[S: BaseServer](server: S) -> Iterator[S]:
    """Let a server answer in a thread of its own; it is closed at the end, and the thread has ended."""
    thread = threading.Thread(target=server.serve_forever, args=(NOTICED_SECONDS,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
