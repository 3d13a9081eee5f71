"""`hearth token-server`: the check of tokens that stands before private instances, in a Pod of their namespace."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer

from hearth.serve.secret_watch import SERVICE_ACCOUNT, Access, WatchError
from hearth.serve.token_server import CHECK_PORT, METRICS_PORT, PROBE_PORT, STALE_SECONDS, Ports, serve
from hearth.serve.token_store import InstancesError, read_instances

app = typer.Typer(add_completion=False)


@app.command()
def token_server(
    instances: Annotated[Path, typer.Argument(metavar="INSTANCES", help="JSON file of the instances.")],
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "0.0.0.0",  # noqa: S104 - a Pod's
    check_port: Annotated[int, typer.Option("--check-port", min=0, max=65535)] = CHECK_PORT,
    metrics_port: Annotated[int, typer.Option("--metrics-port", min=0, max=65535)] = METRICS_PORT,
    probe_port: Annotated[int, typer.Option("--probe-port", min=0, max=65535)] = PROBE_PORT,
    stale_seconds: Annotated[
        float, typer.Option("--stale-seconds", min=1, max=3600, help="How long old knowledge counts.")
    ] = STALE_SECONDS,
    account: Annotated[
        Path, typer.Option("--service-account", help="Folder with `token` and `ca.crt`.")
    ] = SERVICE_ACCOUNT,
) -> None:
    """Answer `GET /auth/verify` for an ingress: 200 when a token opens the instance that the route names.

    Needs no claim. It serves until a signal ends it. Exit code 2: the call or what it names is wrong.
    """
    ports = Ports(check_port, metrics_port, probe_port)
    try:
        access, found = Access.of_pod(account), read_instances(instances)
        asyncio.run(serve(found, access, host=host, ports=ports, stale_seconds=stale_seconds))
    except KeyboardInterrupt:
        return
    except (InstancesError, WatchError, OSError) as error:
        print(f"hearth token-server: {error}", file=sys.stderr)
        raise typer.Exit(2) from None
