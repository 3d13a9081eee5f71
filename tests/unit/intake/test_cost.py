"""The highest price of a request, against bounds that are exactly it or one below."""

import json
from typing import Any

import pytest

from hearth.intake.admission import admit
from hearth.intake.errors import RefusedError
from hearth.intake.settings import Operation, Settings
from tests.unit.intake.bodies import BODIES, SETTINGS


def settings(most: int, *attempts: tuple[int, int, int]) -> Settings:
    """The model gemma with a bound, and attempts of context, input and output price."""
    names = ("contextTokens", "inputMicrosPerMillionTokens", "outputMicrosPerMillionTokens")
    priced = {"maxCostMicros": most, "attempts": [dict(zip(names, attempt, strict=True)) for attempt in attempts]}
    values = SETTINGS.model_dump(by_alias=True, mode="json")
    values["models"] = {"gemma": values["models"]["gemma"] | priced}
    return Settings.model_validate(values)


MILLION = 1_000_000
LIMITS = {"chat": "max_tokens", "completion": "max_tokens", "responses": "max_output_tokens"}


@pytest.mark.parametrize(
    ("operation", "fields", "attempts", "worst"),
    [
        ("chat", {"max_tokens": 100}, [(1_000, MILLION, MILLION)], 1_000),
        ("chat", {"max_tokens": 100}, [(1_000, MILLION, 3 * MILLION)], 900 + 300),
        ("chat", {"max_tokens": 100, "n": 4}, [(1_000, MILLION, MILLION)], 900 + 400),
        ("chat", {"max_tokens": 100, "n": 4}, [(1_000, MILLION, 0)], 1_000),
        ("chat", {"max_tokens": 100}, [(1_000, MILLION, MILLION), (2_000, MILLION, 2 * MILLION)], 1_000 + 1_900 + 200),
        ("chat", {"max_tokens": 100}, [(1_000, 1, 1)], 1),  # a part of a micro-unit is a whole one
        ("chat", {"max_tokens": 8_192}, [(1_000, 0, MILLION)], 1_000),
        ("responses", {"max_output_tokens": 100}, [(1_000, MILLION, 3 * MILLION)], 1_200),
        ("completion", {"prompt": "x" * 84, "max_tokens": 10}, [(1_000, MILLION, MILLION)], 100 + 10),
        ("completion", {"prompt": ["x" * 84] * 2, "n": 3, "max_tokens": 10}, [(1_000, MILLION, MILLION)], 2 * 130),
        ("completion", {"prompt": "\ufdfa", "max_tokens": 1}, [(1_000, MILLION, 0)], 33 + 16),
        ("embedding", {"input": "x" * 84}, [(1_000, MILLION, 0)], 100),
        ("embedding", {"input": ["x" * 84, "y" * 4_000]}, [(1_000, MILLION, 0)], 1_100),
    ],
)
def test_a_request_stays_inside_its_bound(
    operation: Operation, fields: dict[str, Any], attempts: list[tuple[int, int, int]], worst: int
) -> None:
    body = json.dumps({**BODIES[operation], **fields}).encode()
    assert admit(settings(worst, *attempts), operation, body).model == "gemma"
    with pytest.raises(RefusedError) as caught:
        admit(settings(worst - 1, *attempts), operation, body)
    assert caught.value.refusal.code == "cost_above_bound"


def test_a_request_alone_is_never_above_what_the_claims_rule_counts() -> None:
    for operation, body in BODIES.items():
        for limit in (1, 500, 1_000):
            for prices in ((3, 7), (7, 3), (0, 0)):
                bound = 1_000 * max(prices)
                attempt = (1_000, prices[0] * MILLION, prices[1] * MILLION)
                named = {LIMITS[operation]: limit} if operation in LIMITS else {}
                admit(settings(bound, attempt), operation, json.dumps({**body, **named}).encode())
