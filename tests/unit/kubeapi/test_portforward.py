"""A connection through the Kubernetes API that the Pod's side ends, as both orders of events show it."""

import socket

import httpcore
import pytest

from hearth.kubeapi.portforward import _PodStream


class Forward:
    """The client library's half of a port-forward: its end of a pair of sockets, and what the kubelet said."""

    def __init__(self, said: str | None) -> None:
        self.ours, self.theirs = socket.socketpair()
        self.said = said

    def socket(self, _: int) -> socket.socket:
        return self.ours

    def error(self, _: int) -> str | None:
        return self.said


@pytest.mark.parametrize("request_was_read", [True, False], ids=["end of stream", "reset"])
def test_the_pod_and_the_reason_are_named(request_was_read: bool) -> None:
    forward = Forward("connect: connection refused")
    stream = _PodStream(forward, "llm-gateway-1", 4999)
    stream.write(b"GET / HTTP/1.1\r\n\r\n")
    if request_was_read:
        forward.theirs.recv(4096)
    forward.theirs.close()
    with pytest.raises(
        httpcore.ReadError, match="Pod llm-gateway-1 closed the connection: connect: connection refused"
    ):
        stream.read(4096)
    with pytest.raises(httpcore.WriteError, match="Pod llm-gateway-1 closed the connection"):
        stream.write(b"GET / HTTP/1.1\r\n\r\n")
    stream.close()


def test_a_reset_without_a_reason_is_named_too() -> None:
    forward = Forward(None)
    stream = _PodStream(forward, "llm-gateway-1", 4000)
    stream.write(b"GET")
    forward.theirs.close()
    with pytest.raises(httpcore.ReadError, match=r"Pod llm-gateway-1 closed the connection: .*reset"):
        stream.read(4096)
    stream.close()


def test_an_end_without_a_reason_is_the_end() -> None:
    forward = Forward(None)
    stream = _PodStream(forward, "llm-gateway-1", 4000)
    forward.theirs.close()
    assert stream.read(4096) == b""
    stream.close()
