"""Where evidence and the trust store lie, at places that nothing moves (S4-102).

    evidence/<environment>/<endpoint id>.json            what was measured last
    evidence/<environment>/<endpoint id>.<word>.json     what was measured before, or of another revision
    trust/<environment>/runners.yaml                     the runners' public keys, with owners of their own

No field of the claim, no option and no variable names another place: whoever writes the claim could bring a store with
a key of his own.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from hearth.claim.base import NAME
from hearth.claim.problems import ClaimError, Problem
from hearth.claim.reader import MAX_BYTES, read_yaml
from hearth.claim.translate import render_path, translate
from hearth.evidence.reading import MAXIMUM_BYTES
from hearth.evidence.trust import TrustStore

MOST_DOCUMENTS: Final = 16
"""Most documents of one endpoint that are looked at: the first by name, so that `<endpoint id>.json` always is."""

_FILE = re.compile(rf"(?P<endpoint>{NAME})(\.[a-z0-9-]{{1,64}})?\.json")


@dataclass(frozen=True)
class StoredEvidence:
    """The evidence of an environment."""

    documents: dict[str, tuple[bytes, ...]]
    """Bytes of the documents by endpoint id."""
    unreadable: frozenset[str]
    """Endpoints of which a file is there and cannot be read."""


def evidence_folder(base: Path, environment: str) -> Path:
    """Return the folder with the evidence of an environment, whether or not there is one."""
    return base / "evidence" / environment


def evidence_file(base: Path, environment: str, endpoint_id: str) -> Path:
    """Return the file with the latest evidence of an endpoint, whether or not there is one."""
    return evidence_folder(base, environment) / f"{endpoint_id}.json"


def trust_store_name(environment: str) -> str:
    """Return the path of an environment's trust store, relative to the project's folder."""
    return f"trust/{environment}/runners.yaml"


def _read(path: Path, most: int) -> bytes:
    with path.open("rb") as file:
        return file.read(most + 1)


def read_evidence(base: Path, environment: str) -> StoredEvidence:
    """Return what there is about the endpoints of an environment; no folder means nothing.

    A file that cannot be read concerns its own endpoint and nothing else. A file of another name is left alone.
    """
    found: dict[str, tuple[bytes, ...]] = {}
    unreadable: set[str] = set()
    for path in sorted(evidence_folder(base, environment).glob("*.json"), key=lambda path: path.stem):
        match = _FILE.fullmatch(path.name)
        if match is None or path.is_dir():
            continue
        endpoint = match["endpoint"]
        before = found.get(endpoint, ())
        if len(before) == MOST_DOCUMENTS:
            continue
        try:
            found[endpoint] = (*before, _read(path, MAXIMUM_BYTES))
        except OSError:
            unreadable.add(endpoint)
    return StoredEvidence(found, frozenset(unreadable))


def read_trust_store(base: Path, environment: str) -> TrustStore | None:
    """Return the trust store of an environment; none when there is none, and then nobody is believed.

    Args:
        base: the project's folder.
        environment: name of the environment.

    Raises:
        ClaimError: the file cannot be read, or is not a trust store; it lists everything that is wrong.
    """
    name = trust_store_name(environment)
    try:
        data = _read(base / name, MAX_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ClaimError([_unreadable(name, error)]) from None
    document = read_yaml(data, name)
    problems = [
        Problem(name, f"{_field(where)}{problem.message}", problem.remedy, problem.location)
        for where, problem in document.problems
    ]
    try:
        store = TrustStore.model_validate_json(json.dumps(document.value))
    except ValidationError as error:
        problems += _refusals(name, document.value, error)
        raise ClaimError(problems) from None
    if problems:
        raise ClaimError(problems)
    return store


def _unreadable(name: str, error: OSError) -> Problem:
    return Problem(name, f"cannot be read: {error.strerror}", "Check the file and its permissions")


def _field(path: Iterable[str | int]) -> str:
    """Return the path of a field for a message, by the rule of the claim: what is no well-formed name is not shown."""
    steps = tuple(path)
    return render_path(steps).removeprefix("hearth:") + " " if steps else ""


def _refusals(name: str, value: object, error: ValidationError) -> list[Problem]:
    """Return the validator's errors as problems that hold no value of the file."""
    found = []
    for item in error.errors(include_input=False, include_url=False):
        if item["type"] == "value_error":
            path, message = item["loc"], item["msg"].removeprefix("Value error, ")
            found.append(Problem(name, _field(path) + message, "Correct it in the trust store"))
            continue
        [(path, problem)] = translate(TrustStore, value, [item])
        unknown = item["type"] == "extra_forbidden"
        message = "is not a field of the trust store" if unknown else problem.message
        found.append(Problem(name, _field(path) + message, problem.remedy))
    return found
