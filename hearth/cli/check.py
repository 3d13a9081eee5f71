"""`hearth check`: is the claim right?"""

import datetime
import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from hearth.claim.loader import LoadedClaim
from hearth.claim.resolver import system_resolver
from hearth.cli.common import FileOption, JsonOption, StackOption, load

if TYPE_CHECKING:
    from hearth.evidence.gate import Gate

app = typer.Typer(add_completion=False)


def _summary(loaded: LoadedClaim) -> str:
    claim = loaded.claim
    counts = {
        "endpoint": len(claim.endpoints),
        "deployment": len(claim.deployments),
        "alias": len(claim.aliases),
        **({"instance": len(claim.llm.instances)} if claim.llm.gpu_acceleration else {}),
        "provider": len(claim.llm.providers),
        "tenant": len(claim.tenants),
    }
    plural = {"alias": "aliases"}
    parts = [f"{n} {name if n == 1 else plural.get(name, name + 's')}" for name, n in counts.items()]
    return f"The claim {loaded.stack} is right: {', '.join(parts)}."


def _gate(loaded: LoadedClaim) -> "Gate | None":
    """Return what evidence makes of the endpoints; none where nobody looks at any."""
    claim = loaded.claim
    private = any(endpoint.network_profile.mode != "public_tls" for endpoint in claim.endpoints.values())
    private = private or bool(claim.llm.gpu_acceleration and claim.llm.instances)
    if claim.policy.evidence == "off" or not (private or claim.policy.evidence_waiver):
        return None
    # Only environments with private endpoints wait for the compiler and the cryptography.
    from hearth.environment import judge_environment

    return judge_environment(loaded, now=datetime.datetime.now(datetime.UTC)).gate


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

    It also says which routes evidence withholds, which makes no claim wrong. Exit codes: 0 the claim is right, 2 the
    claim, the trust store or the call is wrong.
    """
    loaded = load(stack, file, resolver=system_resolver if resolve else None)
    gate = _gate(loaded)
    warnings = (*loaded.warnings, *(gate.warnings if gate else ()))
    if as_json:
        document = {
            "ok": True,
            "stack": loaded.stack,
            "evidence": gate.mode if gate else loaded.claim.policy.evidence,
            "withheld": dict(gate.withheld) if gate else {},
            "warnings": [asdict(notice) for notice in warnings],
        }
        print(json.dumps(document, indent=2))
        return
    for notice in warnings:
        print(f"warning: {notice}", file=sys.stderr)
    print(_summary(loaded))
