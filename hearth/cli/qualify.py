"""`hearth qualify`: measure an endpoint from outside, sign what was seen, and store it (S4-94 … S4-112)."""

import datetime
import fcntl
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import TypeAdapter, ValidationError

from hearth.canonical import MalformedError
from hearth.claim.base import Identifier, OneLine
from hearth.claim.loader import LoadedClaim
from hearth.claim.names import IN_CLUSTER
from hearth.claim.problems import ClaimError, Problem, listed
from hearth.cli.common import FileOption, JsonOption, StackOption, load
from hearth.environment import JudgedEnvironment, judge_environment
from hearth.evidence.document import Case, NetworkNamespace, Statement, moment
from hearth.evidence.gate import private_endpoints
from hearth.evidence.keys import read_private_key
from hearth.evidence.reading import MAXIMUM_BYTES, read_document
from hearth.evidence.reasons import EXIT_CODES, Verdict
from hearth.evidence.signing import evidence_text, sign
from hearth.evidence.store import evidence_file
from hearth.evidence.trust import public_key_text
from hearth.evidence.verify import Verification
from hearth.probe.run import HostFacts, Vantage, VantageError, own_namespace, run
from hearth.probe.target import Target, target_of
from hearth.topology.upstreams import Upstream

app = typer.Typer(add_completion=False)

_POD_UID: Final = "POD_UID"
_IN_A_POD: Final = "KUBERNETES_SERVICE_HOST"
_LONGEST_CREDENTIAL: Final = 8_192


def _refuse(path: str, message: str, remedy: str) -> ClaimError:
    return ClaimError([Problem(path, message, remedy)])


def _upstream(loaded: LoadedClaim, judged: JudgedEnvironment, name: str) -> Upstream:
    if name not in private_endpoints(loaded.claim):
        raise _refuse(
            "ENDPOINT",
            "is no private endpoint of the claim",
            f"Its private endpoints: {listed(private_endpoints(loaded.claim))}",
        )
    upstream = judged.topology.endpoint(name)
    if upstream.trust_bundle == IN_CLUSTER:
        raise _refuse(
            "ENDPOINT",
            "is in the cluster, where the runner does not run yet",
            "Give the environment an evidenceWaiver until a later version of Hearth measures Pods",
        )
    return upstream


def _key(judged: JudgedEnvironment, file: Path, key_id: str) -> Ed25519PrivateKey:
    """Return the private key, if what it signs now will be believed: nobody waits for a run that counts for nothing."""
    key = read_private_key(file)
    known = judged.trust_store.keys.get(key_id) if judged.trust_store else None
    if known is None or known.revoked or known.public_key != public_key_text(key.public_key()):
        raise _refuse("--key-id", "does not name this key in the trust store", "Look at `hearth runner-key`")
    if not moment(known.not_before) <= judged.now.replace(microsecond=0) <= moment(known.not_after):
        raise _refuse("--key-id", "names a key that may not sign now", "Make another: `hearth runner-key rotate`")
    return key


def _credential(upstream: Upstream, file: Path | None) -> str | None:
    if upstream.credential is None:
        return None
    if file is None:
        raise _refuse("--credential", "is missing, and the endpoint asks for one", "Name a file that holds it")
    try:
        text = file.read_bytes()[:_LONGEST_CREDENTIAL].decode("ascii").strip()
    except OSError as error:
        raise _refuse("--credential", f"cannot be read: {error.strerror}", "Check the file") from None
    except UnicodeDecodeError:
        text = ""
    if not text or not text.isprintable() or " " in text:
        raise _refuse("--credential", "holds no credential of one line", "Write the credential alone into the file")
    return f"Bearer {text}" if upstream.credential.bearer else text


def _facts(file: Path | None) -> HostFacts | None:
    if file is None:
        return None
    try:
        with file.open("rb") as opened:
            document = read_document(opened.read(MAXIMUM_BYTES + 1))
        isolation = document["isolation"]
        namespace = NetworkNamespace.model_validate_json(json.dumps(document["networkNamespace"]))
    except OSError as error:
        raise _refuse("--facts", f"cannot be read: {error.strerror}", "Check the file") from None
    except (MalformedError, KeyError, ValidationError):
        isolation, namespace = None, None
    if not isinstance(isolation, dict) or namespace is None:
        raise _refuse("--facts", "is not what a host says of a runtime", "See docs/evidence.md, Facts of the host")
    return HostFacts(namespace, isolation)


def _vantage(environment: str, workload: str, zone: str) -> Vantage:
    pod_uid = os.environ.get(_POD_UID)
    if _IN_A_POD in os.environ and not pod_uid:
        remedy = f"Set {_POD_UID} from metadata.uid by the downward API"
        raise _refuse(_POD_UID, "is not set, and this process runs in a Pod", remedy)
    try:
        TypeAdapter(OneLine).validate_python(workload)
        TypeAdapter(Identifier).validate_python(zone)
        namespace = own_namespace(pod_uid)
    except ValidationError:
        raise _refuse("--workload, --zone", "are not well-formed", "Write a short name for each") from None
    return Vantage(environment, workload, zone, namespace)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the folder of the evidence: one run at a time, because two of them would be each other's load."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / ".qualify.lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _refuse("hearth qualify", "runs already for this environment", "Wait until it has ended") from None
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


def _told(name: str, case: Case) -> None:
    facts = "".join(f" {key}={value}" for key, value in sorted(case.facts.items()))
    print(f"{case.outcome:7} {name}{': ' + case.reason if case.reason else ''}{facts}", file=sys.stderr, flush=True)


@app.command()
def qualify(
    endpoint: Annotated[str, typer.Argument(help="A private endpoint of the claim.")],
    key: Annotated[Path, typer.Option("--key", help="File of the runner's private key, mode 0600.")],
    key_id: Annotated[str, typer.Option("--key-id", help="Its id in the trust store.")],
    stack: StackOption = None,
    file: FileOption = None,
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
    runner has to stand outside the model server's network namespace; else nothing is probed and nothing is signed.

    Exit codes: 0 passed, 11 failed, 2 the claim, the key or the call is wrong, and nothing was stored.
    """
    loaded = load(stack, file)
    judged = judge_environment(loaded, now=datetime.datetime.now(datetime.UTC))
    upstream = _upstream(loaded, judged, endpoint)
    private_key = _key(judged, key, key_id)
    bundle = upstream.trust_bundle
    target = target_of(
        upstream,
        judged.subjects[endpoint].expected,
        authorities=loaded.bundles[bundle] if bundle else "",
        credential=_credential(upstream, credential),
    )
    path = evidence_file(loaded.base, loaded.environment, endpoint)
    with _alone(path.parent):
        statement = _measured(
            judged, endpoint, target, _vantage(loaded.environment, workload, zone), _facts(facts), key_id
        )
        evidence = sign(statement, private_key)
        _store(path, evidence_text(evidence))
    _print_end(statement, path.relative_to(loaded.base).as_posix(), as_json)
    raise typer.Exit(EXIT_CODES[Verdict.VALID if statement.state == "passed" else Verdict.FAILED])


def _measured(
    judged: JudgedEnvironment, name: str, target: Target, vantage: Vantage, facts: HostFacts | None, key_id: str
) -> Statement:
    before = judged.of_endpoint(name)
    previous = before.sha256 if isinstance(before, Verification) and before.evidence is not None else None
    try:
        return run(
            judged.subjects[name],
            target,
            vantage=vantage,
            facts=facts,
            key_id=key_id,
            previous_sha256=previous,
            told=_told,
        )
    except VantageError as error:
        raise _refuse(
            "ENDPOINT", f"was not measured: {error}", "Run it on another host, or in a Pod of its own"
        ) from None


def _print_end(statement: Statement, name: str, as_json: bool) -> None:
    outcomes = [case.outcome for case in statement.cases]
    counts = {outcome: outcomes.count(outcome) for outcome in ("passed", "failed", "skipped")}
    if as_json:
        print(
            json.dumps(
                {"state": statement.state, "file": name, **counts, "validUntil": statement.valid_until}, indent=2
            )
        )
        return
    text = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    print(f"{statement.endpoint}: {statement.state} ({text}); {name} counts until {statement.valid_until}.")
