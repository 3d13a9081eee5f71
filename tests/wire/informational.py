"""Answers with parts that no rule for headers sees: informational ones, and trailers. For guard and sidecar alike."""

import threading

from tests.wire.counting import Behaviour, Connection, Request

OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
CHUNKED = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n"
SPOILT = b"X-Refusal: zone_denied\r\nX-Spoilt: 1\r\n"
INFORMATIONAL = {
    "100": [b"HTTP/1.1 100 Continue\r\n\r\n" + OK],
    "102": [b"HTTP/1.1 102 Processing\r\n" + SPOILT + b"\r\n" + OK],
    "103": [b"HTTP/1.1 103 Early Hints\r\n" + SPOILT + b"\r\n" + OK],
    "103 alone at first": [b"HTTP/1.1 103 Early Hints\r\n" + SPOILT + b"\r\n", OK],
    "199": [b"HTTP/1.1 199 Unheard Of\r\n\r\n" + OK],
}
"""Pieces of answers that begin with an informational one."""
TRAILERS = {
    "at once": [CHUNKED + b"0\r\n" + SPOILT + b"\r\n"],
    "later": [CHUNKED, b"0\r\n" + SPOILT + b"\r\n"],
    "in two pieces": [CHUNKED, b"0\r\nX-Refusal: zone", b"_denied\r\nX-Spoilt: 1\r\n\r\n"],
    "the shortest": [CHUNKED + b"0\r\na:\r\n\r\n"],
}
"""Pieces of answers with trailers."""
PLAIN = {
    "chunked": [CHUNKED + b"0\r\n\r\n"],
    "chunked, its end later": [CHUNKED, b"0\r\n\r\n"],
    "with a length": [OK],
    "with a length, in two pieces": [OK[:-1], OK[-1:]],
}
"""Pieces of answers with neither."""
PAUSE = 0.1


def in_pieces(pieces: list[bytes]) -> Behaviour:
    """Return a behaviour that sends pieces with a pause between them, and closes."""

    def behave(connection: Connection, _: Request) -> None:
        for place, piece in enumerate(pieces):
            if place:
                threading.Event().wait(PAUSE)
            connection.send(piece)
        connection.socket.close()

    return behave


class Processing:
    """A behaviour that answers 102 every 100 ms, and nothing else, until its connection is closed or 20 s are over."""

    def __init__(self) -> None:
        self.closed = threading.Event()

    def __call__(self, connection: Connection, _: Request) -> None:
        for _ in range(200):
            try:
                connection.send(b"HTTP/1.1 102 Processing\r\n\r\n")
            except OSError:
                self.closed.set()
                return
            threading.Event().wait(PAUSE)
