"""The server that an ingress asks before it lets a request through to a private instance (S2-10 … S2-12, S2-26, C-7).

Which instance is asked for says the route, in a header that the route sets over whatever the caller wrote; the address
that the caller asked for (`X-Forwarded-Uri`) decides nothing. Three ports, so that who may ask for one thing reaches
nothing else: the check, the metrics, and the probes (S2-29).
"""

import asyncio
import contextlib
import re
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from hearth.serve.secret_watch import Access, SecretWatch
from hearth.serve.token_store import Instances, TokenStore

INSTANCE_HEADER: Final = "X-Hearth-Instance"
"""Header with the slug of the instance, which the route sets."""
CHECK_PORT, METRICS_PORT, PROBE_PORT = 8090, 8080, 8081
"""TCP ports: `GET /auth/verify`; `GET /metrics`; `GET /healthz` and `GET /readyz`."""
STALE_SECONDS: Final = 120
"""How long tokens are still checked against what was last known when the Kubernetes API cannot be reached."""
_BEARER: Final = re.compile(r"bearer +([A-Za-z0-9_-]{1,256})", re.IGNORECASE)
_DENIED: Final = {
    "error": {"message": "Invalid API key", "type": "invalid_request_error", "param": None, "code": "invalid_api_key"}
}
_UNKNOWN: Final = {
    "error": {"message": "API keys cannot be checked now", "type": "server_error", "param": None, "code": None}
}
_NO_STORE: Final = {"Cache-Control": "no-store"}


def given_token(request: Request) -> str | None:
    """Return the bearer token of a request that has exactly one."""
    values = request.headers.getlist("authorization")
    found = _BEARER.fullmatch(values[0]) if len(values) == 1 else None
    return found[1] if found else None


def given_slug(request: Request) -> str | None:
    """Return the slug of a request whose route has named exactly one."""
    values = request.headers.getlist(INSTANCE_HEADER)
    return values[0] if len(values) == 1 else None


class TokenServer:
    """Answers from memory alone."""

    def __init__(self, store: TokenStore, age: Callable[[], float | None], *, stale_seconds: float) -> None:
        """Stand before a store.

        Args:
            store: the tokens.
            age: seconds since the store was known to be right; none when it never was.
            stale_seconds: age beyond which nobody is let through.
        """
        self._store, self._age, self._stale_seconds = store, age, stale_seconds
        self._registry = CollectorRegistry()
        self._checks = Counter(
            "hearth_token_checks", "Answers of the token check.", ["answer"], registry=self._registry
        )
        for answer in ("allowed", "denied", "unavailable"):
            self._checks.labels(answer)
        gauges: dict[tuple[str, str], Callable[[], float]] = {
            ("hearth_tokens", "Secrets that open an instance."): lambda: store.tokens,
            ("hearth_tokens_refused", "Secrets with the label that open nothing."): lambda: store.refused,
            ("hearth_tokens_age_seconds", "Seconds since the Kubernetes API was heard of; -1 before."): lambda: (
                -1 if (known := age()) is None else known
            ),
        }
        for (name, text), value in gauges.items():
            Gauge(name, text, registry=self._registry).set_function(value)
        self._check = Starlette(routes=[Route("/auth/verify", self.verify, methods=["GET"])])
        self._metrics = Starlette(routes=[Route("/metrics", self.metrics, methods=["GET"])])
        self._probes = Starlette(
            routes=[Route("/healthz", self.alive, methods=["GET"]), Route("/readyz", self.ready, methods=["GET"])]
        )
        self.doors: dict[int, Starlette] = {}
        """Which application a port of this process leads to."""

    @property
    def applications(self) -> tuple[Starlette, Starlette, Starlette]:
        """The check, the metrics, the probes."""
        return self._check, self._metrics, self._probes

    @property
    def knows(self) -> bool:
        """Whether what is known is young enough to let anybody through."""
        age = self._age()
        return age is not None and age <= self._stale_seconds

    async def verify(self, request: Request) -> Response:
        """Answer 200 when the token opens the instance that the route names, 401 when not, 503 when nobody knows."""
        if not self.knows:
            self._checks.labels("unavailable").inc()
            return JSONResponse(_UNKNOWN, 503, {**_NO_STORE, "Retry-After": "5"})
        # One look-up, whatever is missing: an unknown instance takes as long as a wrong token.
        allowed = self._store.allows(given_slug(request) or "", given_token(request) or "")
        self._checks.labels("allowed" if allowed else "denied").inc()
        if allowed:
            return Response(status_code=200, headers=_NO_STORE)
        return JSONResponse(_DENIED, 401, {**_NO_STORE, "WWW-Authenticate": 'Bearer realm="hearth"'})

    async def metrics(self, _: Request) -> Response:
        """Answer with the metrics in Prometheus' text format."""
        return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_LATEST)

    async def alive(self, _: Request) -> Response:
        """Answer 200 as long as the process answers at all."""
        return PlainTextResponse("ok\n")

    async def ready(self, _: Request) -> Response:
        """Answer 200 when tokens can be checked, 503 when not."""
        return PlainTextResponse("ok\n") if self.knows else PlainTextResponse("tokens are not known\n", 503)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve by the port that a request came by; nothing in the request decides."""
        await self.doors[scope["server"][1]](scope, receive, send)


@dataclass(frozen=True)
class Ports:
    """TCP ports to listen on; 0 is any that is free."""

    check: int = CHECK_PORT
    metrics: int = METRICS_PORT
    probes: int = PROBE_PORT


def _listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=1024)


async def serve(instances: Instances, access: Access, *, host: str, ports: Ports, stale_seconds: float) -> None:
    """Serve until a signal ends the process, and then until the checks under way are answered.

    Args:
        instances: whose tokens are checked.
        access: of the Kubernetes API.
        host: address to listen on.
        ports: to listen on.
        stale_seconds: as `TokenServer` has it.

    Raises:
        OSError: a port is taken.
        WatchError: the CA of the Kubernetes API cannot be read.
    """
    store = TokenStore(instances)
    watch = SecretWatch(store, access, say=lambda text: print(text, flush=True))
    server = TokenServer(store, lambda: watch.age, stale_seconds=stale_seconds)
    sockets = [_listener(host, port) for port in (ports.check, ports.metrics, ports.probes)]
    numbers = [each.getsockname()[1] for each in sockets]
    server.doors.update(zip(numbers, server.applications, strict=True))
    runner = uvicorn.Server(
        uvicorn.Config(
            server,
            access_log=False,
            backlog=1024,
            date_header=False,
            lifespan="off",
            log_level="warning",
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=10,
            ws="none",
        )
    )
    print(f"tokens of {instances.namespace}: check {numbers[0]}, metrics {numbers[1]}, probes {numbers[2]}", flush=True)
    following = asyncio.create_task(watch.run())
    serving = asyncio.create_task(runner.serve(sockets=sockets))
    try:
        await asyncio.wait((following, serving), return_when=asyncio.FIRST_COMPLETED)
    finally:
        # What follows the API ends only by a defect: a server that no longer learns of deleted tokens must not live.
        runner.should_exit = True
        await serving
        failed = following.done()
        following.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await following
    if failed:
        raise RuntimeError("the watch of Secrets ended")
