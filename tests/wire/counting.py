"""A counting upstream: a scripted HTTP server that remembers every connection, request head and byte.

It stands for a model runtime or a vendor where a test has to know what did *not* arrive, or has to misbehave on
purpose. It is not a model server.
"""

import json
import socket
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.wire.client import wait_for

HEALTH = ("GET /health ", "GET /health/liveliness ", "GET /api/version ")


@dataclass
class Request:
    """One request as it arrived."""

    line: str
    headers: list[tuple[str, str]]
    body: bytes
    """As it came: with the frames of its chunks, where it was chunked."""

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)

    @property
    def names(self) -> set[str]:
        return {key for key, _ in self.headers}


@dataclass
class Connection:
    """One accepted connection and what came over it."""

    socket: socket.socket
    requests: list[Request] = field(default_factory=list)
    closed_at: float | None = None
    ended: bool = False

    @property
    def is_undecided(self) -> bool:
        """Whether nothing tells yet if this is a health check."""
        return not self.requests and not self.ended

    @property
    def is_health_check(self) -> bool:
        return bool(self.requests) and all(request.line.startswith(HEALTH) for request in self.requests)

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def json(self, status: int, payload: object, *headers: tuple[str, str]) -> None:
        body = json.dumps(payload).encode()
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
        head = f"HTTP/1.1 {status} OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n{lines}\r\n"
        self.send(head.encode() + body)

    def start_stream(self) -> None:
        self.send(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")

    def chunk(self, data: bytes) -> None:
        self.send(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def end_stream(self) -> None:
        self.send(b"0\r\n\r\n")

    def wait_closed(self, seconds: float) -> bool:
        """Return whether the other side closed within the given time."""
        self.socket.settimeout(seconds)
        try:
            closed = self.socket.recv(1) == b""
        except TimeoutError:
            return False
        except OSError:
            closed = True
        self.closed_at = time.monotonic()
        return closed


def answer_ok(connection: Connection, request: Request) -> None:
    connection.json(200, {"ok": True, "path": request.line.split()[1]})


Behaviour = Callable[[Connection, Request], None]


class CountingUpstream:
    """A server on one address; `behaviour` answers what is not a health check and may be changed at any time."""

    def __init__(self, address: str, port: int, *, tls: tuple[Path, Path] | None = None) -> None:
        self.behaviour: Behaviour = answer_ok
        self.healthy = True
        self.checks_answered = threading.Event()
        """Health checks are answered while it is set; until then they wait."""
        self.checks_answered.set()
        self._lock = threading.Lock()
        self._connections: list[Connection] = []
        self._active = 0
        self._context: ssl.SSLContext | None = None
        if tls is not None:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(*tls)
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._server = socket.create_server((address, port), family=family, backlog=256)
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def __enter__(self) -> "CountingUpstream":
        return self

    def __exit__(self, *_: object) -> None:
        if self._server.fileno() == -1:
            return
        self._server.shutdown(socket.SHUT_RDWR)  # wakes the thread in accept(), which keeps the port otherwise
        self._server.close()
        self._thread.join()
        with self._lock:
            for connection in self._connections:
                connection.socket.close()

    def reset(self) -> None:
        """Forget what has arrived, and answer plainly again."""
        with self._lock:
            self._connections = []
            self.behaviour = answer_ok
        self.healthy = True

    @property
    def connections(self) -> int:
        """TCP connections that were accepted, health checks left out. A silent one counts, after a while."""
        wait_for(lambda: not any(connection.is_undecided for connection in list(self._connections)), 5)
        with self._lock:
            return sum(not connection.is_health_check for connection in self._connections)

    @property
    def checks(self) -> int:
        """TCP connections over which nothing but health checks came."""
        with self._lock:
            return sum(connection.is_health_check for connection in self._connections)

    @property
    def requests(self) -> list[Request]:
        """Requests that arrived whole, health checks left out."""
        with self._lock:
            return [
                request
                for connection in self._connections
                for request in connection.requests
                if not request.line.startswith(HEALTH)
            ]

    @property
    def active(self) -> int:
        """Requests that are being answered."""
        return self._active

    def _accept(self) -> None:
        while True:
            try:
                accepted, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(accepted,), daemon=True).start()

    def _serve(self, accepted: socket.socket) -> None:
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = Connection(accepted)
        with self._lock:
            self._connections.append(connection)
        try:
            if self._context is not None:
                connection.socket = self._context.wrap_socket(accepted, server_side=True)
            while (request := _read_request(connection.socket)) is not None:
                connection.requests.append(request)
                self._answer(connection, request)
        except OSError:
            pass
        finally:
            connection.ended = True
            connection.socket.close()

    def _answer(self, connection: Connection, request: Request) -> None:
        if request.line.startswith(HEALTH):
            if not self.checks_answered.wait(30):
                raise TimeoutError("the test never let a health check be answered")
            connection.json(200 if self.healthy else 503, {})
            return
        with self._lock:
            self._active += 1
        try:
            self.behaviour(connection, request)
        finally:
            with self._lock:
                self._active -= 1


def _read_request(source: socket.socket) -> Request | None:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = source.recv(65_536)
        if not piece:
            return None
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    line, *rest = head.decode("latin-1").split("\r\n")
    headers = [(name.lower(), value.strip()) for name, _, value in (entry.partition(":") for entry in rest)]
    chunked = ("transfer-encoding", "chunked") in headers
    length = int(next((value for name, value in headers if name == "content-length"), "0"))
    while not body.endswith(b"0\r\n\r\n") if chunked else len(body) < length:
        piece = source.recv(65_536)
        if not piece:
            return None
        body += piece
    return Request(line, headers, body)


def streams_until(finish: threading.Event) -> Behaviour:
    """Return a behaviour whose stream begins with `first`, and ends with `last` once the event is set."""

    def behaviour(connection: Connection, _: Request) -> None:
        connection.start_stream()
        connection.chunk(b"first")
        finish.wait(20)
        connection.chunk(b"last")
        connection.end_stream()

    return behaviour


def answers(status: int, *headers: tuple[str, str], payload: Any = None) -> Behaviour:
    """Return a behaviour that always gives one answer."""

    def behave(connection: Connection, _: Request) -> None:
        connection.json(status, payload if payload is not None else {}, *headers)

    return behave


def says(data: bytes) -> Behaviour:
    """Return a behaviour that sends raw bytes and closes."""

    def behave(connection: Connection, _: Request) -> None:
        connection.send(data)
        connection.socket.close()

    return behave


class Gate:
    """A behaviour that holds every request until the test lets it go."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self._lock = threading.Lock()
        self.held = 0
        self.most_held = 0

    def open(self) -> None:
        self._open.set()

    def wait(self) -> None:
        if not self._open.wait(30):
            raise TimeoutError("the test never opened the gate")

    def __call__(self, connection: Connection, request: Request) -> None:
        with self._lock:
            self.held += 1
            self.most_held = max(self.most_held, self.held)
        try:
            self.wait()
        finally:
            with self._lock:
                self.held -= 1  # before the answer, upon which the proxy sends the next request
        answer_ok(connection, request)
