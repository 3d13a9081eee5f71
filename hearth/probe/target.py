"""What is probed, and how it is talked to: always with full verification, unless a probe says otherwise."""

import http.client
import json
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from hearth.claim.operations import OPERATIONS, Operation
from hearth.topology.expected import Expected
from hearth.topology.upstreams import Upstream

MAXIMUM_ANSWER_BYTES: Final = 16_777_216
"""Most bytes of an answer that a probe reads."""


@dataclass(frozen=True)
class Bounds:
    """What the endpoint declares that it bears."""

    parallel_requests: int
    """Requests at once."""
    queued_requests: int
    """Requests that may wait."""
    request_bytes: int | None
    """Largest body; none where nothing declares it."""
    stream_setup_seconds: float
    """Longest time until an answer begins."""
    request_seconds: float
    """Longest time of a request."""


@dataclass(frozen=True)
class Target:
    """One endpoint, and what a runner needs to ask it. The credential is in no text that it gives."""

    host: str
    """Name that the certificate is verified for, and the Host header."""
    port: int
    """TCP port."""
    path: str
    """Path prefix of the base URL."""
    expected: Expected
    """What the claim declares."""
    bounds: Bounds
    """What it declares that it bears."""
    authorities: str = ""
    """PEM of the CAs that may have issued its certificate; none with plaintext."""
    header: str = "authorization"
    """Header of the credential."""
    credential: str | None = None
    """Whole value of that header; none when the endpoint asks for none."""
    raw_port: int | None = None
    """The runtime's own port; none without a sidecar."""
    raw_addresses: tuple[str, ...] = ()
    """Addresses at which that port is tried beside the endpoint's own: a Pod's, past every Service."""
    address: str | None = None
    """Address to connect to without a look-up; the certificate is verified by name all the same."""

    def __repr__(self) -> str:
        return f"Target({self.host}:{self.port})"

    @property
    def encrypted(self) -> bool:
        """Return whether it speaks TLS."""
        return self.expected.termination != "plaintext"

    def context(self) -> ssl.SSLContext:
        """Return what verifies it as the gateway does: its own CAs, its name in the subject's alternative names."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.hostname_checks_common_name = False
        context.set_alpn_protocols(["http/1.1"])
        context.load_verify_locations(cadata=self.authorities)
        return context

    def plain_socket(self) -> socket.socket:
        """Return a TCP connection.

        Raises:
            OSError: there is none.
        """
        return socket.create_connection((self.address or self.host, self.port), self.bounds.stream_setup_seconds)

    def connected(self, context: ssl.SSLContext | None = None, name: str | None = None) -> socket.socket:
        """Return a connection, verified unless `context` says otherwise.

        Raises:
            OSError: there is none, or its certificate is refused.
        """
        plain = self.plain_socket()
        if not self.encrypted:
            return plain
        try:
            return (context or self.context()).wrap_socket(plain, server_hostname=name or self.host)
        except BaseException:
            plain.close()
            raise

    def first_operation(self) -> tuple[str, Operation]:
        """Return a model that is declared and an operation of it."""
        deployment = next(iter(self.expected.deployments.values()))
        return deployment.model, deployment.operations[0]

    def path_of(self, operation: Operation) -> str:
        """Return the path of an operation."""
        return self.path + OPERATIONS[operation].path


def target_of(
    upstream: Upstream,
    expected: Expected,
    *,
    authorities: str,
    credential: str | None,
    raw_addresses: tuple[str, ...] = (),
) -> Target:
    """Return what a runner asks of an endpoint of the claim: its published address, within its declared bounds.

    Args:
        upstream: the endpoint.
        expected: what the claim declares of it.
        authorities: PEM of its trust bundle; empty with plaintext.
        credential: whole value of the credential's header.
        raw_addresses: addresses at which the runtime's own port is tried beside the endpoint's.
    """
    bounds, runtime, own = upstream.bounds, upstream.runtime, upstream.sidecar
    return Target(
        host=upstream.address.host,
        port=upstream.address.port,
        path=upstream.address.path,
        expected=expected,
        bounds=Bounds(
            parallel_requests=bounds.parallel_requests,
            queued_requests=bounds.queued_requests,
            request_bytes=bounds.request_bytes,
            stream_setup_seconds=bounds.cold_start_timeout_ms / 1000,
            request_seconds=bounds.request_timeout_ms / 1000,
        ),
        authorities=authorities,
        header=upstream.credential.header if upstream.credential else "authorization",
        credential=credential,
        raw_port=runtime.loopback.port if runtime else own.runtime_port if own else None,
        address=upstream.ip_address,
        raw_addresses=raw_addresses,
    )


@dataclass(frozen=True)
class Answer:
    """A whole answer."""

    status: int
    """Status."""
    body: bytes
    """Body."""

    def json(self) -> dict[str, Any]:
        """Return the object in the body.

        Raises:
            ValueError: it is none.
        """
        value = json.loads(self.body)
        if not isinstance(value, dict):
            raise ValueError("not an object")
        return value


class _Connection(http.client.HTTPConnection):
    def __init__(self, made: socket.socket, host: str) -> None:
        super().__init__(host)
        self.sock = made


@contextmanager
def opened(
    target: Target,
    method: str,
    path: str,
    body: bytes | None = None,
    *,
    credential: str | None = None,
    with_credential: bool = True,
    headers: Mapping[str, str] | None = None,
) -> Iterator[tuple[http.client.HTTPResponse, socket.socket]]:
    """Send a request and yield its answer as it begins, with the connection, which is closed afterwards.

    Args:
        target: the endpoint.
        method: HTTP method.
        path: request target, sent as it is.
        body: body, sent as JSON.
        credential: another value of the credential's header than the right one.
        with_credential: whether that header is sent at all.
        headers: more headers.

    Raises:
        OSError: there is no connection or no answer.
        http.client.HTTPException: the answer is not HTTP.
    """
    made = target.connected()
    made.settimeout(target.bounds.request_seconds)
    connection = _Connection(made, target.host)
    try:
        value = credential or target.credential
        sent = {"Host": f"{target.host}:{target.port}", "Content-Type": "application/json", **(headers or {})}
        if value is not None and with_credential:
            sent[target.header] = value
        if body is not None:
            sent.setdefault("Content-Length", str(len(body)))
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, text in sent.items():
            connection.putheader(name, text)
        connection.endheaders(body or None)
        yield connection.getresponse(), made
    finally:
        connection.close()
        made.close()


def ask(target: Target, method: str, path: str, body: bytes | None = None, **more: Any) -> Answer:
    """Send a request and return the whole answer; arguments and errors are those of `opened`."""
    with opened(target, method, path, body, **more) as (response, _):
        return Answer(response.status, response.read(MAXIMUM_ANSWER_BYTES))


def body_of(operation: Operation, model: str, *, tokens: int = 16, stream: bool = False, **more: Any) -> bytes:
    """Return a small request of an operation.

    Args:
        operation: the operation.
        model: name of the model.
        tokens: most tokens of the answer.
        stream: whether the answer is to be streamed.
        more: further fields.
    """
    question = "Count from one to a hundred in words."
    values: dict[str, Any] = {"model": model}
    if operation == "chat":
        values |= {"messages": [{"role": "user", "content": question}], "max_tokens": tokens}
        values |= {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
    elif operation == "completion":
        values |= {"prompt": question, "max_tokens": tokens}
        values |= {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
    elif operation == "responses":
        values |= {"input": question, "max_output_tokens": tokens, **({"stream": True} if stream else {})}
    else:
        values |= {"input": question}
    return json.dumps(values | more).encode()
