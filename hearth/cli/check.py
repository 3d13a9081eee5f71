"""`hearth check`: is the claim right?"""

import json
import sys
from dataclasses import asdict
from typing import Annotated

import typer

from hearth.claim.loader import LoadedClaim
from hearth.claim.resolver import system_resolver
from hearth.cli.common import FileOption, JsonOption, StackOption, load

app = typer.Typer(add_completion=False)


def _summary(loaded: LoadedClaim) -> str:
    claim = loaded.claim
    counts = {
        "endpoint": len(claim.endpoints),
        "deployment": len(claim.deployments),
        "alias": len(claim.aliases),
        "provider": len(claim.llm.providers),
        "tenant": len(claim.tenants),
    }
    plural = {"alias": "aliases"}
    parts = [f"{n} {name if n == 1 else plural.get(name, name + 's')}" for name, n in counts.items()]
    return f"The claim {loaded.stack} is right: {', '.join(parts)}."


@app.command()
def check(
    stack: StackOption = None,
    file: FileOption = None,
    resolve: Annotated[
        bool, typer.Option("--resolve", help="Also look up the hosts of providers and public endpoints.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Check a claim and list everything that is wrong with it. Needs no Pulumi, no cluster and no network.

    Exit codes: 0 the claim is right, 2 the claim or the call is wrong.
    """
    loaded = load(stack, file, resolver=system_resolver if resolve else None)
    if as_json:
        warnings = [asdict(notice) for notice in loaded.warnings]
        print(json.dumps({"ok": True, "stack": loaded.stack, "warnings": warnings}, indent=2))
        return
    for notice in loaded.warnings:
        print(f"warning: {notice}", file=sys.stderr)
    print(_summary(loaded))
