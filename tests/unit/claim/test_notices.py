"""What an accepted claim says to its operator."""

import pytest

from tests.unit.claim.examples import Change, claim, drop, load, put

ALWAYS = 5
CASES: list[tuple[str, list[Change], str]] = [
    (
        "S4-11 plaintext",
        [],
        "hearth:endpoints.plain: is reached in plaintext: prompts, knowledge, vectors and answers are not encrypted on "
        "the way (S4-11).",
    ),
    (
        "S1-7 vendors",
        [],
        "hearth:policy.vendor: permits that prompts and answers leave this organisation and reach a vendor: "
        "info-maniak, mistral, vendor (S1-7).",
    ),
    (
        "S1-5 models that a vendor answers and no tenant names",
        [],
        "hearth:tenants: name none of these, so that no key may use them, because a vendor answers: "
        "info-maniak/gemma-4-31b, mistral/large, vendor-gpt (S1-5).",
    ),
    (
        "S3-57 a model of no price",
        [put("llm/providers/1/models/0", {"name": "small", "model": "m", "pricing": "zero_marginal"})],
        "hearth:policy.vendor: has models of no price, which no budget stops: mistral/small (S3-57).",
    ),
    ("S3-83 unread instances", [], "hearth:llm.instances: are not read while gpuAcceleration is false (S3-83)."),
    (
        "C-1 open egress",
        [put("policy/egress", "none")],
        "hearth:policy.egress: is none, so that no NetworkPolicy closes the gateway's egress (C-1).",
    ),
    (
        "S3-2 no gateway",
        [put("llm/enabled", False)],
        "hearth:llm.enabled: is false, so that no gateway is made and no model is offered (S3-2).",
    ),
    (
        "a deployment behind no alias",
        [drop("aliases/embed")],
        "hearth:deployments.nomic: is behind no alias, so that no client can ask for it.",
    ),
]


@pytest.mark.parametrize(("name", "changes", "expected"), CASES, ids=[case[0] for case in CASES])
def test_notice(name: str, changes: list[Change], expected: str) -> None:
    found = [str(notice) for notice in load(claim(*changes)).warnings]
    assert expected in found
    assert len(found) == ALWAYS + bool(changes)


def test_a_public_address_of_ones_own_is_no_vendors() -> None:
    """S1-5: the posture says whose it is, whatever leads to it."""
    values = claim(
        put("endpoints/vendor/posture", "local"),
        put("deployments/gpt/pricing/basis", "amortized_internal"),
        put("policy/vendor/allow", ["info-maniak", "mistral"]),
    )
    found = [str(notice) for notice in load(values).warnings]
    assert "hearth:endpoints.vendor.posture: says that a public address is this house's own (S1-5)." in found
    assert not [notice for notice in found if "vendor-gpt" in notice]


def test_the_local_environment_may_do_without_evidence_and_says_so() -> None:
    """S4-98: `make up` has no vantage outside."""
    for mode in ("off", "warn"):
        values = claim(put("policy/evidence", mode))
        said = [
            str(notice) for notice in load(values, stack="local").warnings if notice.path == "hearth:policy.evidence"
        ]
        expected = (
            'hearth:policy.evidence: is "off", so that private endpoints carry traffic without a signed measurement of '
            "them (S4-98)."
        )
        assert said == ([expected] if mode == "off" else [])
