"""`hearth measure`: what the Job runs that `hearth qualify` starts for an endpoint in a Pod. Not meant to be typed."""

import datetime
import socket
import time
from pathlib import Path
from typing import Annotated, Final

import typer

from hearth.cli.common import FileOption, load
from hearth.cli.measuring import credential_in, facts_in, measured, vantage_of
from hearth.cluster.runner_job import STATEMENT
from hearth.environment import judge_environment
from hearth.probe.target import Target, target_of

app = typer.Typer(add_completion=False)

CONNECT_SECONDS: Final = 3.0
"""How long one connection may take."""


def wait_for_the_way(target: Target, *, tries: int = 60, pause_seconds: float = 1.0) -> None:
    """Wait until the endpoint can be connected to: network policies know a new Pod a moment after it has started.

    An endpoint that stays out of reach is measured all the same, and fails its cases.

    Args:
        target: the endpoint.
        tries: connections that are tried at most.
        pause_seconds: time between two of them.
    """
    for _ in range(tries):
        try:
            socket.create_connection((target.address or target.host, target.port), CONNECT_SECONDS).close()
        except OSError:
            time.sleep(pause_seconds)
        else:
            return


@app.command(hidden=True)
def measure(
    endpoint: Annotated[str, typer.Argument(help="An endpoint of the claim.")],
    key_id: Annotated[str, typer.Option("--key-id", help="Id of the key that will sign.")],
    facts: Annotated[Path, typer.Option("--facts", help="What the Kubernetes API says of the Pod.")],
    authorities: Annotated[Path, typer.Option("--authorities", help="CAs that the guard believes, as PEM.")],
    raw_address: Annotated[str, typer.Option("--raw-address", help="Address of the Pod.")],
    file: FileOption = None,
    credential: Annotated[Path | None, typer.Option("--credential", help="What the guard sends.")] = None,
    previous: Annotated[str | None, typer.Option("--previous", help="Digest of the document before.")] = None,
) -> None:
    """Measure an endpoint and print what was seen as the last line of standard output; nothing is signed or stored."""
    loaded = load(None, file)
    judged = judge_environment(loaded, now=datetime.datetime.now(datetime.UTC))
    upstream = judged.topology.endpoint(endpoint)
    target = target_of(
        upstream,
        judged.subjects[endpoint].expected,
        authorities=authorities.read_text(encoding="ascii"),
        credential=credential_in(upstream, credential),
        raw_addresses=(raw_address,),
    )
    wait_for_the_way(target)
    statement = measured(
        judged.subjects[endpoint],
        target,
        vantage_of(loaded.environment, "hearth-runner", "in-cluster"),
        facts_in(facts),
        key_id=key_id,
        previous_sha256=previous,
    )
    print(f"{STATEMENT}{statement.model_dump_json(by_alias=True)}", flush=True)
