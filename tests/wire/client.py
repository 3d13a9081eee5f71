"""Raw HTTP clients: every byte is the test's own."""

import contextlib
import http.client
import json
import socket
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass
class Answer:
    """What came back; status 0 is a connection that closed without an answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def code(self) -> str | None:
        """The code of an OpenAI-shaped error."""
        try:
            return str(json.loads(self.body)["error"]["code"])
        except (ValueError, KeyError, TypeError):
            return None

    def json(self) -> Any:
        return json.loads(self.body)


NOTHING = Answer(0, {}, b"")
MALFORMED = (0, 400)
"""The statuses of what HAProxy cannot read as a request: from 3.2 on, it closes without an answer if a body follows."""


@dataclass(frozen=True)
class Server:
    """Where to connect to, with TLS when a context is given."""

    address: str
    port: int
    tls: ssl.SSLContext | None = None
    name: str | None = None

    def connect(self, timeout: float = 20) -> socket.socket:
        connection = socket.create_connection((self.address, self.port), timeout)
        return self.tls.wrap_socket(connection, server_hostname=self.name) if self.tls else connection

    def send(self, data: bytes, timeout: float = 20) -> Answer:
        """Send bytes that begin with a request on a connection of their own, and read one answer."""
        with self.connect(timeout) as connection:
            with contextlib.suppress(OSError):  # refused before the end of the body: the answer is there to be read
                connection.sendall(data)
            return read_answer(connection, data.split(b" ", 1)[0].decode("latin-1"))

    def request(
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        timeout: float = 20,
    ) -> Answer:
        return self.send(self.head(method, target, headers, body) + (body or b""), timeout)

    def head(self, method: str, target: str, headers: dict[str, str] | None = None, body: bytes | None = None) -> bytes:
        """A request head as this server is asked with."""
        return head(method, target, headers, body)


def head(method: str, target: str, headers: dict[str, str] | None = None, body: bytes | None = None) -> bytes:
    """Return a request head; a body adds its length and its type unless they are given."""
    lines = {"Host": "test", **({"Content-Length": str(len(body)), "Content-Type": "application/json"} if body else {})}
    lines.update(headers or {})
    text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"{method} {target} HTTP/1.1\r\n{text}\r\n".encode("latin-1")


def read_answer(connection: socket.socket, method: str = "GET") -> Answer:
    """Read one answer; a connection that closes or is reset before its head is status 0."""
    response = http.client.HTTPResponse(connection, method=method)
    try:
        response.begin()
        body = response.read()
    except (http.client.BadStatusLine, ConnectionError, ssl.SSLError):
        return NOTHING
    except http.client.IncompleteRead as cut:
        body = cut.partial + b"<cut>"
    return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, body)


def wait_for(condition: Callable[[], bool], seconds: float = 15) -> bool:
    """Return whether the condition became true within the given time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return condition()
