"""Messages are in words of our own."""

import json

import pytest
from pydantic import ValidationError

from hearth.claim.base import MEANINGS
from hearth.claim.claim import Claim
from hearth.claim.problems import MOST, SHOWN, ClaimError, Notice, Problem, listed
from hearth.claim.schema import stack_file_schema
from hearth.claim.translate import nearest, render_path, translate
from tests.unit.claim.examples import claim, problems, put


def patterns(node: object) -> set[str]:
    if isinstance(node, list):
        return {found for item in node for found in patterns(item)}
    if not isinstance(node, dict):
        return set()
    own = {node["pattern"]} if isinstance(node.get("pattern"), str) else set()
    return own | {found for item in node.values() for found in patterns(item)}


def test_every_pattern_has_a_meaning() -> None:
    found = patterns(stack_file_schema())
    assert len(found) > 10
    assert found <= MEANINGS.keys()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ((), "hearth"),
        (("llm", "providers", 1, "apiBase"), "hearth:llm.providers[1].apiBase"),
        (("aliases", "qwen2.5/7b"), 'hearth:aliases["qwen2.5/7b"]'),
        (("tenants", "a-b"), "hearth:tenants.a-b"),
        (("tenants", "sk-SECRET_1", "apps"), "hearth:tenants[a name that is not shown].apps"),
        (("aliases", "sk-proj4f8Qm2zVh7Lk9"), "hearth:aliases[a name that is not shown]"),
        (("aliases", "sk-proj-4f8qm2zvh7lk9"), "hearth:aliases[a name that is not shown]"),
        (("tenants", "ghp4f8qm2zvh7lk9w3rt6yu"), "hearth:tenants[a name that is not shown]"),
        (("tenants", "9f86d081884c7d659a2feaa0c55ad015"), "hearth:tenants[a name that is not shown]"),
        (("tenants", "f86d081884c7d659a2feaa0c55ad015"), "hearth:tenants[a name that is not shown]"),
        (("aliases", "550e8400-e29b-41d4-a716-446655440000"), "hearth:aliases[a name that is not shown]"),
        (("tenants", "akia4f8qm2zvh7lk9w3r"), "hearth:tenants[a name that is not shown]"),
        (("aliases", "qwen2.5-coder-32b-instruct-q4"), 'hearth:aliases["qwen2.5-coder-32b-instruct-q4"]'),
        (("aliases", "hf-internal"), "hearth:aliases.hf-internal"),
        (("endpoints", "a", "sidecar", "configSha256"), "hearth:endpoints.a.sidecar.configSha256"),
        (("tenants", 'a"b'), "hearth:tenants[a name that is not shown]"),
        (("tenants", "a\nb"), "hearth:tenants[a name that is not shown]"),
        (("tenants", "x" * 200), "hearth:tenants[a name that is not shown]"),
    ],
)
def test_render_path(path: tuple[str | int, ...], expected: str) -> None:
    assert render_path(path) == expected


def test_nearest() -> None:
    assert nearest("apikey", ["apiBase", "apiKeyProperty"]) == "apiKeyProperty"
    assert nearest("NetworkZones", ["networkZones"]) == "networkZones"
    assert nearest("zzzz", ["networkZones"]) is None


def test_a_long_list_of_problems_is_cut_in_the_text_alone() -> None:
    error = ClaimError([Problem(f"p{index}", "is wrong", "Right it") for index in range(SHOWN + 5)])
    assert len(error.problems) == SHOWN + 5
    assert str(error).splitlines()[-1] == "… and 5 more."


def test_texts() -> None:
    assert str(Problem("a", "is wrong", "Right it", "f:1:2")) == "f:1:2: a: is wrong. Right it."
    assert str(Problem("a", "is wrong", "Did you mean b?")) == "a: is wrong. Did you mean b?"
    assert str(Notice("a", "is so")) == "a: is so."
    assert listed([]) == "none is declared"
    assert listed(["b", "a", "sk-proj-4f8qm2zvh7lk9"]) == "a, b"
    assert listed(str(index) for index in range(20)).endswith(", …")


def test_a_tag_of_a_union_is_no_part_of_the_path() -> None:
    values = {"llm": {"enabled": True, "database": {"mode": "external", "host": "x", "external": 1}}}
    with pytest.raises(ValidationError) as refused:
        Claim.model_validate_json(json.dumps(values))
    found = translate(Claim, values, refused.value.errors(include_input=False, include_url=False))
    assert {problem.path for _, problem in found} == {
        "hearth:llm.database.cidrs",
        "hearth:llm.database.external",
        "hearth:llm.database.gatewayCredential",
        "hearth:llm.database.ownerCredential",
        "hearth:llm.database.trustBundle",
    }


def test_a_hostile_claim_does_not_cost_minutes() -> None:
    shapes = put("tenants", {f"t{index}": {"extra": 1} for index in range(MOST + 500)})
    assert len(problems(claim(shapes))) == MOST
    names = put("tenants/team/models", ["nobody"] * (MOST + 500))
    assert len(problems(claim(names))) == MOST
