"""Where evidence and the trust store lie: `evidence/<stack>/<endpoint id>.json`, and the file that the policy names."""

import json
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from hearth.claim.problems import ClaimError, Problem
from hearth.claim.reader import MAX_BYTES, read_yaml
from hearth.claim.translate import render_path, translate
from hearth.evidence.reading import MAXIMUM_BYTES
from hearth.evidence.trust import TrustStore

POLICY_FIELD = "hearth:policy.trustStore"
"""Field of the claim that names the trust store."""


def evidence_file(base: Path, stack: str, endpoint_id: str) -> Path:
    """Return the file with the evidence of an endpoint, whether or not there is one."""
    return base / "evidence" / stack / f"{endpoint_id}.json"


def _read(path: Path, most: int) -> bytes:
    with path.open("rb") as file:
        return file.read(most + 1)


def read_evidence(base: Path, stack: str) -> dict[str, bytes]:
    """Return the bytes of every evidence file of an environment by endpoint id; no folder means none.

    Raises:
        ClaimError: a file cannot be read.
    """
    found: dict[str, bytes] = {}
    for path in sorted((base / "evidence" / stack).glob("*.json")):
        if not path.is_file():
            continue
        try:
            found[path.stem] = _read(path, MAXIMUM_BYTES)
        except OSError as error:
            raise ClaimError([_unreadable(path.relative_to(base).as_posix(), error)]) from None
    return found


def read_trust_store(base: Path, name: str) -> TrustStore:
    """Return the trust store.

    Args:
        base: the project's folder.
        name: what `hearth:policy.trustStore` says, relative to it.

    Raises:
        ClaimError: the file cannot be read, or is not a trust store; it lists everything that is wrong.
    """
    path = base / name
    if not path.is_file():
        raise ClaimError(
            [
                Problem(
                    POLICY_FIELD,
                    "names a file that does not exist",
                    "Get the trust store from those who own it, or leave the field out",
                )
            ]
        )
    try:
        data = _read(path, MAX_BYTES)
    except OSError as error:
        raise ClaimError([_unreadable(POLICY_FIELD, error)]) from None
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
