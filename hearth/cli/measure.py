"""`hearth measure`: what the Job runs that `hearth qualify` starts for an endpoint in a Pod. Not meant to be typed."""

import datetime
from pathlib import Path
from typing import Annotated

import typer

from hearth.cli.common import FileOption, load
from hearth.cli.measuring import credential_in, facts_in, measured, vantage_of
from hearth.cluster.runner_job import STATEMENT
from hearth.environment import judge_environment
from hearth.probe.target import target_of

app = typer.Typer(add_completion=False)


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
    statement = measured(
        judged.subjects[endpoint],
        target,
        vantage_of(loaded.environment, "hearth-runner", "in-cluster"),
        facts_in(facts),
        key_id=key_id,
        previous_sha256=previous,
    )
    print(f"{STATEMENT}{statement.model_dump_json(by_alias=True)}", flush=True)
