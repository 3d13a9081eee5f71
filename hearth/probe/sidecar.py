"""Probes of the TLS sidecar, and of the way past it (S4-66 … S4-93)."""

import errno
import json
import socket
from typing import Final

from hearth.probe.case import Facts, FailedError, Probe, SkippedError
from hearth.probe.target import Answer, Target, ask, body_of
from hearth.probe.transport import leaf

IDENTITY: Final = "/sidecar/identity"
"""Path of the identity."""
UNDECLARED: Final = (
    ("GET", "/"),
    ("GET", "/api/tags"),
    ("GET", "/api/ps"),
    ("GET", "/api/version"),
    ("POST", "/api/generate"),
    ("POST", "/api/chat"),
    ("POST", "/api/pull"),
    ("POST", "/api/create"),
    ("POST", "/api/copy"),
    ("DELETE", "/api/delete"),
    ("GET", "/health"),
    ("GET", "/metrics"),
    ("GET", "/props"),
    ("POST", "/props"),
    ("GET", "/slots"),
    ("POST", "/completion"),
    ("POST", "/infill"),
    ("POST", "/tokenize"),
    ("POST", "/detokenize"),
    ("POST", "/embedding"),
    ("POST", "/invocations"),
    ("GET", "/docs"),
    ("GET", "/openapi.json"),
    ("GET", "/version"),
    ("GET", "/load"),
    ("POST", "/scale_elastic_ep"),
    ("GET", "/v1/models"),
    ("POST", "/v1/rerank"),
    ("GET", "/sidecar"),
    ("POST", "/sidecar/identity"),
    ("GET", "/sidecar/identity?x=1"),
    ("GET", "/Sidecar/identity"),
    ("GET", "/stats"),
)
"""What no profile declares: management, metrics and other APIs of the engines."""
_NO_CONNECTION: Final = (errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ETIMEDOUT)
_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"


def identity(target: Target) -> Answer:
    """Return what the sidecar says of itself.

    Raises:
        OSError: it does not answer.
    """
    return ask(target, "GET", IDENTITY)


def _sweep(target: Target) -> list[tuple[str, str]]:
    """Return every request that the sidecar has to answer itself with 404: other methods and spellings too."""
    found = [*UNDECLARED]
    for deployment in target.expected.deployments.values():
        for operation in deployment.operations:
            path = target.path_of(operation)
            found += [("GET", path), ("PUT", path), ("DELETE", path), ("OPTIONS", path), ("HEAD", path)]
            found += [("POST", path + "/"), ("POST", path + "?x=1"), ("POST", path.upper()), ("POST", "/" + path)]
            found += [("POST", path.replace("/v1/", "/v1/./")), ("POST", path.replace("v1", "%761"))]
    return found


def _exact_paths(target: Target) -> Facts:
    requests = _sweep(target)
    wrong = 0
    for method, path in requests:
        body = b"{}" if method in ("POST", "PUT") else None
        wrong += ask(target, method, path, body).status != 404
    if wrong:
        raise FailedError("undeclared_request_answered", answered=wrong, tried=len(requests))
    return {"tried": len(requests)}


def _http1_only(target: Target) -> Facts:
    context = target.context()
    context.set_alpn_protocols(["h2", "http/1.1"])
    with target.connected(context) as made:
        selected = made.selected_alpn_protocol() if hasattr(made, "selected_alpn_protocol") else None
        if selected == "h2":
            raise FailedError("http2_negotiated")
        made.sendall(_PREFACE)
        try:
            answer = made.recv(9)
        except OSError:
            answer = b""
    # The answer to a preface is a frame of settings; HTTP/1 answers with text or an end.
    if len(answer) >= 4 and answer[3] == 4:
        raise FailedError("http2_spoken")
    return {}


def _identity(target: Target) -> Facts:
    expected = target.expected.sidecar
    if expected is None:
        raise SkippedError("no_sidecar_declared")
    answer = identity(target)
    try:
        said = answer.json() if answer.status == 200 else {}
        certificate = said["certificate"]["sha256"]
    except (ValueError, KeyError, TypeError):
        raise FailedError("identity_not_told", status=answer.status) from None
    if said.get("profile") != expected.profile_version:
        raise FailedError("other_profile")
    if said.get("configSha256") != expected.config_sha256:
        raise FailedError("other_configuration")
    if said.get("physicalRuntimeId") != target.expected.physical_runtime_id:
        raise FailedError("other_runtime")
    if certificate != leaf(target).sha256:
        raise FailedError("other_certificate")
    return {}


def _request_bound(target: Target) -> Facts:
    bound = target.bounds.request_bytes
    if bound is None:
        raise SkippedError("no_bound_declared")
    model, operation = target.first_operation()
    body = body_of(operation, model)
    answer = ask(target, "POST", target.path_of(operation), body, headers={"Content-Length": str(bound + 1)})
    if answer.status != 413:
        raise FailedError("too_large_request_not_refused", status=answer.status)
    return {"bytes": bound}


def _raw_port_closed(target: Target) -> Facts:
    if target.raw_port is None:
        raise SkippedError("runtime_port_not_declared")
    hosts = (target.address or target.host, *target.raw_addresses)
    addresses = [
        found for host in hosts for found in socket.getaddrinfo(host, target.raw_port, type=socket.SOCK_STREAM)
    ]
    for family, kind, protocol, _, address in addresses:
        with socket.socket(family, kind, protocol) as tried:
            tried.settimeout(min(5.0, target.bounds.stream_setup_seconds))
            try:
                tried.connect(address)
            except TimeoutError:
                continue
            except OSError as error:
                if error.errno in _NO_CONNECTION:
                    continue
                # Neither reached nor shown to be closed.
                raise FailedError("raw_port_not_tried", errno=error.errno or 0) from None
            raise FailedError("raw_port_reachable")
    return {"addresses": len(addresses)}


def identity_document(target: Target) -> dict[str, object]:
    """Return what the sidecar says of itself as an object; empty when it says nothing.

    Raises:
        OSError: it does not answer.
    """
    answer = identity(target)
    try:
        said = json.loads(answer.body) if answer.status == 200 else {}
    except ValueError:
        said = {}
    return said if isinstance(said, dict) else {}


PROBES: Final = (
    Probe("sidecar.exact_paths", "what is not declared is answered with 404", _exact_paths),
    Probe("sidecar.http1_only", "it speaks HTTP/1.1 alone", _http1_only),
    Probe("sidecar.identity", "it is the sidecar that the claim compiles to", _identity),
    Probe("sidecar.request_bound", "a body above the bound is refused", _request_bound),
    Probe("sidecar.raw_port_closed", "the runtime's own port cannot be reached from here", _raw_port_closed),
)
"""Probes of the sidecar. Isolation is asked of the host, not of the network."""
