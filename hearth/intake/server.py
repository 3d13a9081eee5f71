"""One process, two doors: LiteLLM's application on two unix sockets, one of them through the intake.

LiteLLM's own command does more than serve: pool limits and TLS parameters of the database's address, JSON logs, the
event loop. So it is run, up to where it would begin to serve, and what it would have given uvicorn is asked of it.
"""

import contextlib
import os
import socket
import sys
from pathlib import Path
from typing import Any, Final

import uvicorn

from hearth.intake.application import Application, Intake, Message, Receive, Scope, Send
from hearth.intake.settings import Settings, load

KEEP_ALIVE_SECONDS: Final = 75
"""How long an idle connection of the front stays open."""
DRAIN_MARGIN_SECONDS: Final = 10
"""What the end of the process may take beyond the longest answer."""
BACKLOG: Final = 2_048
"""Connections that wait to be accepted at one door."""
SOCKET_MODE: Final = 0o660
"""Who may connect: the user of this process, and the group that the Pod's volumes have."""


class Doors:
    """The application of both sockets. Which socket a request came by decides, and nothing in the request does."""

    def __init__(self, application: Application, settings: Settings, *, management: str) -> None:
        """Stand before an application.

        Args:
            application: LiteLLM's.
            settings: of the intake.
            management: path of the socket whose requests go to the application as they are; all others are clients.
        """
        self._application, self._intake = application, Intake(application, settings)
        self._management = management

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection's event."""
        server = scope.get("server")
        if scope["type"] == "lifespan":
            await self._application(scope, receive, _closed(send))
        elif scope["type"] == "http" and server is not None and server[0] == self._management:
            await self._application(scope, receive, send)
        else:
            await self._intake(scope, receive, send)


def _closed(send: Send) -> Send:
    """Return what reports the start of the application, as failed where LiteLLM would serve without a lock.

    Without the hook it would ask the next deployment after every failure, a paid one included; without a master
    key 1.103 asks for no key at all.
    """

    async def report(message: Message) -> None:
        if message["type"] == "lifespan.startup.complete":
            import litellm
            from litellm.proxy import proxy_server

            from hearth.intake.hook import HOOK

            missing = [] if HOOK in litellm.callbacks else ["hook"]
            missing += [] if proxy_server.master_key else ["master key"]
            if missing:
                text = f"LiteLLM has no {' and no '.join(missing)}"
                message = {"type": "lifespan.startup.failed", "message": text}
        await send(message)

    return report


def listener(path: Path) -> socket.socket:
    """Return a socket that is bound; one that an earlier process left is replaced.

    Raises:
        OSError: the folder is not there or not writable.
    """
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    bound.bind(str(path))
    path.chmod(SOCKET_MODE)
    return bound


def prepare(config: Path, drain_seconds: int) -> dict[str, Any]:
    """Do what LiteLLM's command does before it serves, and return what it would give uvicorn.

    Args:
        config: LiteLLM's config.yaml.
        drain_seconds: how long requests that are under way may take when the process ends.

    Raises:
        SystemExit: LiteLLM refuses to start, for instance because the database's schema is not there.
    """
    # Read when LiteLLM's modules are imported, and by its lifespan when it ends.
    os.environ["GRACEFUL_SHUTDOWN_TIMEOUT"] = str(drain_seconds)
    from litellm.proxy.proxy_cli import ProxyInitializationHelpers, run_server

    from hearth.intake.charges import charge_answers_alone
    from hearth.intake.transport import bound_litellm

    bound_litellm()
    charge_answers_alone()
    run_server.main(["--config", str(config), "--skip_server_startup"], standalone_mode=False)
    # 1.103 has it under the second name.
    given = getattr(ProxyInitializationHelpers, "get_default_unvicorn_init_args", None)
    given = given or ProxyInitializationHelpers._get_default_unvicorn_init_args
    arguments: dict[str, Any] = given(host="", port=0, keepalive_timeout=KEEP_ALIVE_SECONDS)
    for name in ("app", "host", "port"):
        del arguments[name]
    return {**arguments, "loop": "uvloop", "timeout_graceful_shutdown": drain_seconds}


def serve(config: Path, settings_file: Path, client: Path, management: Path) -> None:
    """Serve until a signal ends the process, and then until the requests under way have their answers.

    Args:
        config: LiteLLM's config.yaml.
        settings_file: what `hearth.intake.settings` loads.
        client: socket through the intake.
        management: socket past it.

    Raises:
        SystemExit: LiteLLM did not start; a process without it must not live.
    """
    settings = load(settings_file)
    arguments = prepare(config, settings.longest_answer_seconds + DRAIN_MARGIN_SECONDS)
    from litellm.proxy.proxy_server import app

    server = uvicorn.Server(
        uvicorn.Config(
            Doors(app, settings, management=str(management)),
            **arguments,
            backlog=BACKLOG,
            date_header=False,
            # An application that fails to start ends the process, instead of being served half made.
            lifespan="on",
            proxy_headers=False,
            ws="none",
        )
    )
    server.run(sockets=[listener(client), listener(management)])
    if not server.started:
        sys.exit(3)
