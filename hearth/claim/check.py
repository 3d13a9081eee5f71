"""Checks the values of a claim: first their shapes, then what one part says about another."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from hearth.claim.claim import Claim
from hearth.claim.draft import Draft, Finding, unit, without
from hearth.claim.problems import MOST, Notice, Problem
from hearth.claim.reader import MAX_DEPTH
from hearth.claim.reader import Path as Place
from hearth.claim.resolver import Resolver
from hearth.claim.rules import RULES
from hearth.claim.rules.bundles import read_bundles
from hearth.claim.rules.notices import notices
from hearth.claim.translate import render_path, translate

_FALLBACK: Final[dict[str, Any]] = {"llm": {"enabled": True}}


@dataclass(frozen=True)
class Checked:
    """What checking found."""

    claim: Claim | None
    """The claim, if nothing is wrong with any shape."""
    bundles: Mapping[str, str]
    """PEM text by trust bundle id."""
    problems: tuple[tuple[Place, Problem], ...]
    """Everything that is wrong, each with its place in the claim."""
    notices: tuple[Notice, ...]
    """What to know; empty when something is wrong."""


def _plain(value: Any, path: Place, found: list[Finding]) -> Any:
    """Return a value as the validator may see it; note what no claim can hold."""
    if len(path) > MAX_DEPTH:
        found.append(Finding(path[:2], "is nested too deeply", "Write the claim as its schema says"))
        return None
    if isinstance(value, Mapping):
        if "secure" in value and len(value) == 1:
            found.append(
                Finding(
                    path,
                    "is an encrypted value, and a claim holds no secrets",
                    "Write a reference credential://<scope>/<name>, and keep the secret where references resolve",
                )
            )
            return None
        return {
            _text(str(key), (*path, str(key)), found): _plain(item, (*path, str(key)), found)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_plain(item, (*path, index), found) for index, item in enumerate(value)]
    if isinstance(value, str):
        return _text(value, path, found)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) < 10**19:
        return value
    found.append(Finding(path, "is not a whole number", "Put a text in quotes, or write a whole number"))
    return None


def _text(value: str, path: Place, found: list[Finding]) -> str:
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        found.append(Finding(path, "holds half a character", "Write the text again"))
        return ""
    return value


def _problem(finding: Finding) -> tuple[Place, Problem]:
    return finding.path, Problem(render_path(finding.path), finding.message, finding.remedy)


def _validate(values: Mapping[str, Any]) -> Claim:
    # Strict validation of JSON is what turns lists into tuples and nothing else into anything else.
    return Claim.model_validate_json(json.dumps(values))


def check_values(
    values: Mapping[str, Any],
    *,
    base: Path,
    resolver: Resolver | None,
    deployed: Claim | None,
    unread: frozenset[Place] = frozenset(),
) -> Checked:
    """Check the values of a claim, by key without `hearth:`.

    Args:
        values: plain values.
        base: the project's folder, which trust bundles are read from.
        resolver: looks up new public hosts, or `None`.
        deployed: the claim that was deployed last, or `None`.
        unread: places whose values could not be read and have a problem already.
    """
    found: list[Finding] = []
    plain = {key: _plain(value, (key,), found) for key, value in values.items()}
    problems = [_problem(finding) for finding in found]
    known = unread | {finding.path for finding in found}
    claim: Claim | None = None
    invalid = frozenset(unit(path) for path in known if path)
    try:
        claim = _validate(plain)
    except ValidationError as error:
        translated = translate(Claim, plain, error.errors(include_input=False, include_url=False)[:MOST])
        problems += [(path, problem) for path, problem in translated if path not in known]
        invalid |= {unit(path) for path, _ in translated}
    draft_claim = claim if not invalid else _rest(plain, invalid)
    if draft_claim is None:
        return Checked(None, {}, tuple(problems), ())
    draft = Draft(draft_claim, invalid, _positions(plain, invalid), base, resolver, deployed)
    bundles, unusable = read_bundles(draft)
    problems += [_problem(finding) for finding in unusable]
    problems += [_problem(finding) for finding in islice(chain.from_iterable(rule(draft) for rule in RULES), MOST)]
    if problems or claim is None:
        return Checked(None, {}, tuple(problems), ())
    return Checked(claim, bundles, (), tuple(notices(draft)))


def _rest(values: Mapping[str, Any], invalid: frozenset[Place]) -> Claim | None:
    """Return a claim of the parts whose shapes are right."""
    rest = without(values, invalid)
    llm = rest.get("llm")
    rest["llm"] = {**_FALLBACK["llm"], **llm} if isinstance(llm, Mapping) else _FALLBACK["llm"]
    try:
        return _validate(rest)
    except ValidationError:
        return None


def _positions(values: Mapping[str, Any], invalid: frozenset[Place]) -> dict[str, tuple[int, ...]]:
    llm = values.get("llm")
    lists = llm if isinstance(llm, Mapping) and ("llm",) not in invalid else {}
    return {
        name: tuple(
            index
            for index in range(len(lists[name]) if isinstance(lists.get(name), list) else 0)
            if ("llm", name, index) not in invalid and ("llm", name) not in invalid
        )
        for name in ("providers", "instances")
    }
