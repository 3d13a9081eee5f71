"""`hearth evidence`: what was measured of an endpoint, and whether it still holds. Offline."""

import datetime
import json
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final

import typer

from hearth.claim.loader import LoadedClaim
from hearth.claim.problems import ClaimError, Problem, listed
from hearth.cli.common import FileOption, JsonOption, StackOption, load
from hearth.compile.artefacts import expected
from hearth.evidence.document import Evidence
from hearth.evidence.gate import private_endpoints
from hearth.evidence.reasons import EXIT_CODES, Verdict
from hearth.evidence.store import read_evidence, read_trust_store
from hearth.evidence.verify import Subject, Verification, verify
from hearth.topology.resolve import resolve

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Show and verify evidence of endpoints. Offline.")

MISSING: Final = 1
"""Exit code when there is no evidence and nothing worse."""
_WORST_FIRST: Final = (
    *(EXIT_CODES[verdict] for verdict in (Verdict.INVALID, Verdict.FAILED, Verdict.STALE)),
    MISSING,
    0,
)

Found = Mapping[str, Verification | None]
"""Verification by endpoint id; none where there is no evidence."""


def _verify(loaded: LoadedClaim, endpoints: Iterable[str]) -> Found:
    claim, evidence = loaded.claim, read_evidence(loaded.base, loaded.environment)
    store = read_trust_store(loaded.base, claim.policy.trust_store) if claim.policy.trust_store else None
    digests, now = expected(resolve(claim)), datetime.datetime.now(datetime.UTC)
    return {
        name: verify(evidence[name], Subject(claim, loaded.environment, name, digests[name]), store, now)
        if name in evidence
        else None
        for name in endpoints
    }


def _named(loaded: LoadedClaim, name: str) -> str:
    if name not in loaded.claim.endpoints:
        raise ClaimError(
            [
                Problem(
                    "endpoint",
                    "is not in the claim",
                    f"Its private endpoints: {listed(private_endpoints(loaded.claim))}",
                )
            ]
        )
    return name


def _exit_code(found: Found) -> int:
    codes = {MISSING if each is None else EXIT_CODES[each.verdict] for each in found.values()}
    return next(code for code in _WORST_FIRST if code in codes or code == 0)


def _row(name: str, verification: Verification | None) -> dict[str, Any]:
    if verification is None:
        return {"endpoint": name, "verdict": "missing", "sha256": None, "validUntil": None, "findings": []}
    return {
        "endpoint": name,
        "verdict": verification.verdict.value,
        "sha256": verification.sha256,
        "validUntil": verification.evidence.valid_until if verification.evidence else None,
        "findings": [
            {
                "reason": finding.reason.value,
                "subject": finding.subject,
                "message": finding.message,
                "remedy": finding.remedy,
            }
            for finding in verification.findings
        ],
    }


def _print_row(row: Mapping[str, Any]) -> None:
    until = f" until {row['validUntil']}" if row["verdict"] == Verdict.VALID else ""
    missing = "; no runner has measured this endpoint" if row["verdict"] == "missing" else ""
    print(f"{row['endpoint']}: {row['verdict']}{until}{missing}")
    for finding in row["findings"]:
        print(f"  {finding['reason']}: {finding['message']}. {finding['remedy']}.")


@app.command("verify")
def verify_command(
    endpoint: Annotated[str | None, typer.Argument(help="An endpoint; every private one when left out.")] = None,
    stack: StackOption = None,
    file: FileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Verify evidence: signature, then state, expiry, operations, model, endpoint, transport, sidecar, vantage.

    Exit codes: 0 valid, 10 invalid, 11 failed, 12 stale, 1 there is none, 2 the claim or the call is wrong. Of
    several endpoints the worst one counts, in the order 10, 11, 12, 1.
    """
    loaded = load(stack, file)
    found = _verify(loaded, private_endpoints(loaded.claim) if endpoint is None else [_named(loaded, endpoint)])
    rows = [_row(name, verification) for name, verification in found.items()]
    if as_json:
        print(json.dumps(rows, indent=2))
    elif rows:
        for row in rows:
            _print_row(row)
    else:
        print("The claim has no private endpoint, so no evidence is needed.")
    raise typer.Exit(_exit_code(found))


@app.command()
def show(
    endpoint: Annotated[str, typer.Argument(help="An endpoint of the claim.")],
    stack: StackOption = None,
    file: FileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a runner measured of an endpoint. A document whose signature does not hold is not shown.

    Exit codes: as for `hearth evidence verify`.
    """
    loaded = load(stack, file)
    name = _named(loaded, endpoint)
    found = _verify(loaded, [name])
    verification = found[name]
    row = _row(name, verification)
    evidence = verification.evidence if verification else None
    if as_json:
        document = evidence.model_dump(mode="json", by_alias=True) if evidence else None
        print(json.dumps({**row, "document": document}, indent=2))
    else:
        _print_row(row)
        if evidence is not None:
            _print_document(evidence)
    raise typer.Exit(_exit_code(found))


def _print_document(evidence: Evidence) -> None:
    print(f"  tested {evidence.tested_at}, valid until {evidence.valid_until}, signed with {evidence.signer_key_id}")
    print(f"  state {evidence.state}, runtime {evidence.physical_runtime_id} {evidence.runtime_version or ''}".rstrip())
    for name, deployment in sorted(evidence.deployments.items()):
        outcomes = ", ".join(f"{operation} {outcome}" for operation, outcome in sorted(deployment.operations.items()))
        print(f"  deployment {name} ({deployment.model}): {outcomes}")
    vantage = evidence.runner_vantage
    if vantage is not None:
        print(f"  from outside: {vantage.kind}, {vantage.source_workload_id} in {vantage.source_network_namespace_id}")
    for probe in evidence.probes:
        about = f" of {probe.deployment}" if probe.deployment else ""
        facts = "".join(f" {key}={value}" for key, value in sorted(probe.facts.items()))
        print(f"  {probe.outcome:7} {probe.id}{about}{': ' + probe.reason if probe.reason else ''}{facts}")
