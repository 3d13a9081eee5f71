"""`hearth qualify`: measure an endpoint from outside, sign what was seen, and store it (S4-94 … S4-112)."""

import datetime
import fcntl
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from hearth.claim.loader import LoadedClaim
from hearth.claim.names import IN_CLUSTER
from hearth.claim.problems import ClaimError, listed
from hearth.cli.cluster import ContextOption, KubeconfigOption, cluster_named
from hearth.cli.common import FileOption, JsonOption, StackOption, load
from hearth.cli.measuring import credential_in, facts_in, measured, previous_of, refusal, vantage_of
from hearth.cli.qualify_pod import measured_in_cluster
from hearth.environment import JudgedEnvironment, judge_environment
from hearth.evidence.document import Statement, moment
from hearth.evidence.gate import private_endpoints
from hearth.evidence.keys import read_private_key
from hearth.evidence.reasons import EXIT_CODES, Verdict
from hearth.evidence.signing import evidence_text, sign
from hearth.evidence.store import evidence_file
from hearth.evidence.trust import public_key_text
from hearth.evidence.verify import verify
from hearth.kubeapi.client import KubernetesApi
from hearth.kubeapi.errors import ClusterError
from hearth.probe.target import target_of

app = typer.Typer(add_completion=False)


@dataclass(frozen=True)
class _Call:
    """What a command line says about all endpoints."""

    loaded: LoadedClaim
    judged: JudgedEnvironment
    key_id: str
    private_key: Ed25519PrivateKey
    kubeconfig: Path | None
    context: str | None
    credential: Path | None
    facts: Path | None
    workload: str
    zone: str

    @cached_property
    def kubernetes(self) -> KubernetesApi:
        """The cluster, asked for when an endpoint is in it."""
        return cluster_named(self.kubeconfig, self.context, self.loaded)


def _names(loaded: LoadedClaim, endpoint: str | None, every: bool) -> tuple[str, ...]:
    private = private_endpoints(loaded.claim)
    if (endpoint is None) != every:
        raise refusal("ENDPOINT", "must be one endpoint, or --all", f"Its private endpoints: {listed(private)}")
    if endpoint is None:
        return tuple(private)
    if endpoint not in private:
        raise refusal("ENDPOINT", "is no private endpoint of the claim", f"Its private endpoints: {listed(private)}")
    return (endpoint,)


def _key(judged: JudgedEnvironment, file: Path, key_id: str) -> Ed25519PrivateKey:
    """Return the private key, if what it signs now will be believed: nobody waits for a run that counts for nothing."""
    key = read_private_key(file)
    known = judged.trust_store.keys.get(key_id) if judged.trust_store else None
    if known is None or known.revoked or known.public_key != public_key_text(key.public_key()):
        raise refusal("--key-id", "does not name this key in the trust store", "Look at `hearth runner-key`")
    if not moment(known.not_before) <= judged.now.replace(microsecond=0) <= moment(known.not_after):
        raise refusal("--key-id", "names a key that may not sign now", "Make another: `hearth runner-key rotate`")
    return key


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the folder of the evidence: one run at a time, because two of them would be each other's load."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / ".qualify.lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise refusal("hearth qualify", "runs already for this environment", "Wait until it has ended") from None
        yield
    finally:
        os.close(descriptor)


def _store(path: Path, text: str) -> None:
    """Put a document in its place; the one before stays beside it, and names are changed as a whole."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, encoding="utf-8")
    if path.exists():
        path.replace(path.with_name(f"{path.stem}.previous.json"))
    beside.replace(path)


def _statement(call: _Call, name: str) -> Statement:
    """Measure an endpoint: one in a Pod by a Job in the cluster, every other one from here."""
    judged, upstream = call.judged, call.judged.topology.endpoint(name)
    subject, previous = judged.subjects[name], previous_of(judged, name)
    if upstream.in_a_pod:
        return measured_in_cluster(call.kubernetes, call.loaded, upstream, key_id=call.key_id, previous_sha256=previous)
    bundle = upstream.trust_bundle
    if bundle == IN_CLUSTER:
        raise refusal("ENDPOINT", "has the cluster's own CA and is in no Pod of Hearth's", "Give it a trust bundle")
    target = target_of(
        upstream,
        subject.expected,
        authorities=call.loaded.bundles[bundle] if bundle else "",
        credential=credential_in(upstream, call.credential),
    )
    vantage = vantage_of(call.loaded.environment, call.workload, call.zone)
    return measured(subject, target, vantage, facts_in(call.facts), key_id=call.key_id, previous_sha256=previous)


def _qualified(call: _Call, name: str) -> tuple[Statement, Path]:
    """Measure, sign and store; what is signed is about exactly what the claim declares."""
    path = evidence_file(call.loaded.base, call.loaded.environment, name)
    with _alone(path.parent):
        statement = _statement(call, name)
        text = evidence_text(sign(statement, call.private_key))
        found = verify(
            text.encode(), call.judged.subjects[name], call.judged.trust_store, datetime.datetime.now(datetime.UTC)
        )
        if found.verdict not in (Verdict.VALID, Verdict.FAILED):
            reasons = ", ".join(finding.reason for finding in found.findings)
            raise refusal(
                "ENDPOINT",
                f"was measured as another one than the claim declares ({reasons}), and nothing was stored",
                "Deploy the claim, and build the image of Hearth's own processes from the same version",
            )
        _store(path, text)
    return statement, path


@app.command()
def qualify(
    key: Annotated[Path, typer.Option("--key", help="File of the runner's private key, mode 0600.")],
    key_id: Annotated[str, typer.Option("--key-id", help="Its id in the trust store.")],
    endpoint: Annotated[str | None, typer.Argument(help="A private endpoint of the claim.", show_default=False)] = None,
    every: Annotated[bool, typer.Option("--all", help="Every private endpoint, one after another.")] = False,
    stack: StackOption = None,
    file: FileOption = None,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
    credential: Annotated[
        Path | None, typer.Option("--credential", help="File with the endpoint's credential, as the gateway has it.")
    ] = None,
    facts: Annotated[
        Path | None, typer.Option("--facts", help="File with what the host says of the runtime behind a sidecar.")
    ] = None,
    workload: Annotated[str, typer.Option("--workload", help="What this runner is called.")] = "hearth-qualify",
    zone: Annotated[str, typer.Option("--zone", help="Network zone that it is in.")] = "control",
    as_json: JsonOption = False,
) -> None:
    """Measure an endpoint with every case of the catalogue, sign what was seen, and store it as its evidence.

    Every case is printed as it ends. What failed is stored too: it supersedes what passed before. With a sidecar the
    runner has to stand outside the model server's network namespace; else nothing is probed and nothing is signed. An
    endpoint in a Pod is measured by a Job in the cluster, which brings its credential and its facts along.

    With --all, an endpoint that cannot be measured stops no other.

    Exit codes: 0 passed, 11 failed, 1 the cluster refused or one of --all was not measured, 2 the claim, the key or the
    call is wrong, and nothing was stored.
    """
    loaded = load(stack, file)
    names = _names(loaded, endpoint, every)
    judged = judge_environment(loaded, now=datetime.datetime.now(datetime.UTC))
    private_key = _key(judged, key, key_id)
    call = _Call(loaded, judged, key_id, private_key, kubeconfig, context, credential, facts, workload, zone)
    results: list[dict[str, Any]] = []
    for name in names:
        if every:
            print(f"{name}:", file=sys.stderr, flush=True)
        try:
            statement, path = _qualified(call, name)
        except ClusterError as error:
            if not every:
                print(f"hearth: {error}", file=sys.stderr)
                raise typer.Exit(1) from None
            results.append({"endpoint": name, "state": "not measured", "why": str(error)})
        except ClaimError as error:
            if not every:
                raise
            results.append({"endpoint": name, "state": "not measured", "why": str(error)})
        else:
            results.append(_result(statement, path.relative_to(loaded.base).as_posix()))
    _print_end(results, as_json=as_json, every=every)
    states = {result["state"] for result in results}
    if "failed" in states:
        raise typer.Exit(EXIT_CODES[Verdict.FAILED])
    if "not measured" in states:
        raise typer.Exit(1)


def _result(statement: Statement, name: str) -> dict[str, Any]:
    outcomes = [case.outcome for case in statement.cases]
    counts = {outcome: outcomes.count(outcome) for outcome in ("passed", "failed", "skipped")}
    return {
        "endpoint": statement.endpoint,
        "state": statement.state,
        "file": name,
        **counts,
        "validUntil": statement.valid_until,
    }


def _print_end(results: list[dict[str, Any]], *, as_json: bool, every: bool) -> None:
    if as_json:
        print(json.dumps(results if every else results[0], indent=2))
        return
    for each in results:
        if "why" in each:
            print(f"{each['endpoint']}: not measured: {each['why']}")
            continue
        text = ", ".join(f"{each[outcome]} {outcome}" for outcome in ("passed", "failed", "skipped"))
        print(f"{each['endpoint']}: {each['state']} ({text}); {each['file']} counts until {each['validUntil']}.")
