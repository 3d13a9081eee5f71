"""What `hearth qualify` on a host and the runner in the cluster have in common (S4-94 … S4-112)."""

import json
import os
import sys
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from hearth.canonical import MalformedError
from hearth.claim.base import Identifier, OneLine
from hearth.claim.problems import ClaimError, Problem
from hearth.environment import JudgedEnvironment
from hearth.evidence.document import Case, NetworkNamespace, Statement
from hearth.evidence.reading import MAXIMUM_BYTES, read_document
from hearth.evidence.verify import Subject, Verification
from hearth.probe.run import HostFacts, Vantage, VantageError, own_namespace, run
from hearth.probe.target import Target
from hearth.topology.upstreams import Upstream

_POD_UID: Final = "POD_UID"
_IN_A_POD: Final = "KUBERNETES_SERVICE_HOST"
_LONGEST_CREDENTIAL: Final = 8_192


def refusal(path: str, message: str, remedy: str) -> ClaimError:
    """Return the error of one thing that is wrong with a call."""
    return ClaimError([Problem(path, message, remedy)])


def credential_in(upstream: Upstream, file: Path | None) -> str | None:
    """Return the credential in a file as its header carries it; none where the endpoint asks for none.

    Raises:
        ClaimError: it is missing or is none.
    """
    if upstream.credential is None:
        return None
    if file is None:
        raise refusal("--credential", "is missing, and the endpoint asks for one", "Name a file that holds it")
    try:
        text = file.read_bytes()[:_LONGEST_CREDENTIAL].decode("ascii").strip()
    except OSError as error:
        raise refusal("--credential", f"cannot be read: {error.strerror}", "Check the file") from None
    except UnicodeDecodeError:
        text = ""
    if not text or not text.isprintable() or " " in text:
        raise refusal("--credential", "holds no credential of one line", "Write the credential alone into the file")
    return f"Bearer {text}" if upstream.credential.bearer else text


def facts_in(file: Path | None) -> HostFacts | None:
    """Return what a host said of its runtime; none without a file.

    Raises:
        ClaimError: it cannot be read or is something else.
    """
    if file is None:
        return None
    try:
        with file.open("rb") as opened:
            document = read_document(opened.read(MAXIMUM_BYTES + 1))
        isolation = document["isolation"]
        namespace = NetworkNamespace.model_validate_json(json.dumps(document["networkNamespace"]))
    except OSError as error:
        raise refusal("--facts", f"cannot be read: {error.strerror}", "Check the file") from None
    except (MalformedError, KeyError, ValidationError):
        isolation, namespace = None, None
    if not isinstance(isolation, dict) or namespace is None:
        raise refusal("--facts", "is not what a host says of a runtime", "See docs/evidence.md, Facts of the host")
    return HostFacts(namespace, isolation)


def vantage_of(environment: str, workload: str, zone: str) -> Vantage:
    """Return where this process stands.

    Args:
        environment: the environment.
        workload: what the runner is called.
        zone: network zone that it is in.

    Raises:
        ClaimError: a name is not well-formed, or this is a Pod that does not know which.
    """
    pod_uid = os.environ.get(_POD_UID)
    if _IN_A_POD in os.environ and not pod_uid:
        remedy = f"Set {_POD_UID} from metadata.uid by the downward API"
        raise refusal(_POD_UID, "is not set, and this process runs in a Pod", remedy)
    try:
        TypeAdapter(OneLine).validate_python(workload)
        TypeAdapter(Identifier).validate_python(zone)
        namespace = own_namespace(pod_uid)
    except ValidationError:
        raise refusal("--workload, --zone", "are not well-formed", "Write a short name for each") from None
    return Vantage(environment, workload, zone, namespace)


def told(name: str, case: Case) -> None:
    """Print what came of a case to standard error."""
    facts = "".join(f" {key}={value}" for key, value in sorted(case.facts.items()))
    print(f"{case.outcome:7} {name}{': ' + case.reason if case.reason else ''}{facts}", file=sys.stderr, flush=True)


def previous_of(judged: JudgedEnvironment, name: str) -> str | None:
    """Return the digest of the document that a new one supersedes; none where there is none."""
    before = judged.of_endpoint(name)
    return before.sha256 if isinstance(before, Verification) and before.evidence is not None else None


def measured(
    subject: Subject,
    target: Target,
    vantage: Vantage,
    facts: HostFacts | None,
    *,
    key_id: str,
    previous_sha256: str | None,
) -> Statement:
    """Run every case of the catalogue from here; arguments are those of `hearth.probe.run.run`.

    Raises:
        ClaimError: this is not shown to be outside, so nothing was measured.
    """
    try:
        return run(
            subject,
            target,
            vantage=vantage,
            facts=facts,
            key_id=key_id,
            previous_sha256=previous_sha256,
            told=told,
        )
    except VantageError as error:
        raise refusal(
            "ENDPOINT", f"was not measured: {error}", "Run it on another host, or in a Pod of its own"
        ) from None
