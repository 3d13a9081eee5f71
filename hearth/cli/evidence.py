"""`hearth evidence`: what was measured of an endpoint, and whether it still holds. Offline."""

import datetime
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from hearth.canonical import MalformedError
from hearth.claim.base import is_environment_name
from hearth.claim.loader import LoadedClaim, project_folder
from hearth.claim.problems import ClaimError, Problem, listed
from hearth.cli.common import FileOption, JsonOption, StackOption, load
from hearth.environment import judge_environment
from hearth.evidence.ctrf import ctrf_report
from hearth.evidence.document import Case, Evidence
from hearth.evidence.envelope import EnvelopeError, claimed_environment, is_envelope, opened
from hearth.evidence.gate import private_endpoints
from hearth.evidence.reading import MAXIMUM_BYTES, read_document
from hearth.evidence.reasons import EXIT_CODES, Finding, Reason, Verdict
from hearth.evidence.schema import evidence_schema_text
from hearth.evidence.store import read_trust_store
from hearth.evidence.trust import TrustStore
from hearth.evidence.verify import Verification, verify_alone

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Show and verify evidence of endpoints. Offline.")

MISSING: Final = 1
"""Exit code when there is no evidence and nothing worse."""
_WORST_FIRST: Final = (
    *(EXIT_CODES[verdict] for verdict in (Verdict.INVALID, Verdict.FAILED, Verdict.STALE)),
    MISSING,
    0,
)

Found = Mapping[str, Verification | Reason]
"""Verification by endpoint id, or why there is nothing to verify."""


def _verify(loaded: LoadedClaim, endpoints: Iterable[str]) -> Found:
    judged = judge_environment(loaded, now=datetime.datetime.now(datetime.UTC))
    return {name: judged.of_endpoint(name) for name in endpoints}


def _named(loaded: LoadedClaim, name: str) -> str:
    if name not in {*loaded.claim.endpoints, *private_endpoints(loaded.claim)}:
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


def _document_alone(name: str) -> Found:
    """Verify a file without a claim, with the trust store of the environment that it names.

    Raises:
        ClaimError: it cannot be read, or the trust store cannot.
    """
    try:
        with Path(name).open("rb") as file:
            data = file.read(MAXIMUM_BYTES + 1)
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or "its name is not valid"
        raise ClaimError([Problem("FILE", f"cannot be read: {why}", "Name a document, or an endpoint")]) from None
    try:
        document = read_document(data)
        wrapped = is_envelope(document)
        store = _store_for(claimed_environment(document) if wrapped else document.get("environment"))
        data = opened(document, store) if wrapped else data
    except MalformedError:
        store = _store_for(None)
    except EnvelopeError:
        return {"document": Verification(None, None, (Finding(Reason.SIGNATURE_INVALID, ""),))}
    verification = verify_alone(data, store, datetime.datetime.now(datetime.UTC))
    return {verification.evidence.endpoint if verification.evidence else "document": verification}


def _store_for(environment: object) -> TrustStore:
    """Return the trust store of an environment that a document names; an empty one where there is none.

    Nothing is believed of the document by then; the name only says which store could know its key.
    """
    store = None
    if isinstance(environment, str) and is_environment_name(environment):
        store = read_trust_store(project_folder(Path.cwd()), environment)
    return store or TrustStore(version="hearth.trust-store/v1", keys={})


def _exit_code(found: Found) -> int:
    codes = {EXIT_CODES[each.verdict] if isinstance(each, Verification) else MISSING for each in found.values()}
    return next(code for code in _WORST_FIRST if code in codes or code == 0)


def _row(name: str, verification: Verification | Reason) -> dict[str, Any]:
    if not isinstance(verification, Verification):
        verdict = "missing" if verification is Reason.MISSING else "unreadable"
        return {"endpoint": name, "verdict": verdict, "sha256": None, "validUntil": None, "findings": []}
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
    missing = {"missing": "; no runner has measured this endpoint", "unreadable": "; look at the file's permissions"}
    print(f"{row['endpoint']}: {row['verdict']}{until}{missing.get(row['verdict'], '')}")
    for finding in row["findings"]:
        print(f"  {finding['reason']}: {finding['message']}. {finding['remedy']}.")


@app.command("verify")
def verify_command(
    subject: Annotated[
        str | None,
        typer.Argument(
            metavar="[ENDPOINT|FILE]",
            help="An endpoint, or the file of a document; every private endpoint if left out.",
        ),
    ] = None,
    stack: StackOption = None,
    file: FileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Verify evidence: signature, then state, expiry, operations, model, endpoint, transport, sidecar, vantage.

    A FILE (a path with a / or a point in it) is verified without a claim: its signature by the trust store of the
    environment that it names, then state, expiry and vantage; nothing says that it fits an endpoint of today. It may
    also be the document in a DSSE envelope.

    Exit codes: 0 valid, 10 invalid, 11 failed, 12 stale, 1 there is none, 2 the claim or the call is wrong. Of
    several endpoints the worst one counts, in the order 10, 11, 12, 1.
    """
    if subject is not None and ("/" in subject or "." in subject):
        if stack is not None or file is not None:
            remedy = "Name the endpoint to verify it for the claim, or leave -s and -f out"
            raise ClaimError([Problem("FILE", "is verified without a claim", remedy)])
        found = _document_alone(subject)
    else:
        loaded = load(stack, file)
        found = _verify(loaded, private_endpoints(loaded.claim) if subject is None else [_named(loaded, subject)])
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
def schema() -> None:
    """Write the JSON Schema (draft 2020-12) of a document of evidence to standard output."""
    print(evidence_schema_text(), end="")


@app.command()
def show(
    endpoint: Annotated[str, typer.Argument(help="An endpoint of the claim.")],
    stack: StackOption = None,
    file: FileOption = None,
    as_json: JsonOption = False,
    as_report: Annotated[
        bool, typer.Option("--ctrf", help="Write the cases as a test report (CTRF) to standard output.")
    ] = False,
) -> None:
    """Show what a runner measured of an endpoint. A document whose signature does not hold is not shown.

    Exit codes: as for `hearth evidence verify`.
    """
    loaded = load(stack, file)
    name = _named(loaded, endpoint)
    found = _verify(loaded, [name])
    verification = found[name]
    row = _row(name, verification)
    evidence = verification.evidence if isinstance(verification, Verification) else None
    if as_report and evidence is not None:
        print(json.dumps(ctrf_report(evidence), indent=2))
    elif as_json:
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
    vantage = evidence.runner_vantage
    if vantage is not None:
        print(f"  from outside: {vantage.kind}, {vantage.source_workload_id} in {vantage.source_network_zone_id}")
    _print_cases("", evidence.probes)
    for name, deployment in sorted(evidence.deployments.items()):
        print(f"  deployment {name} ({deployment.model})")
        for operation, cases in sorted(deployment.operations.items()):
            _print_cases(f"{operation}.", cases)


def _print_cases(prefix: str, cases: Mapping[str, Case]) -> None:
    for name, case in sorted(cases.items()):
        facts = "".join(f" {key}={value}" for key, value in sorted(case.facts.items()))
        print(f"  {case.outcome:7} {prefix}{name}{': ' + case.reason if case.reason else ''}{facts}")
