"""The model server's own words in the forms that LiteLLM gives them."""

import pytest

from hearth.intake.upstream_text import upstream_text

PREFIX = "litellm.BadRequestError: OpenAIException - "


@pytest.mark.parametrize(
    ("body", "message", "expected"),
    [
        ({"message": "too long", "type": "x"}, "", "too long"),
        ({"error": {"message": "too long"}}, "", "too long"),
        ({"error": "too long"}, "", "too long"),
        ({"detail": "too long"}, "", "too long"),
        ({"detail": [{"loc": ["body"], "msg": "x"}]}, "", None),
        (None, PREFIX + "too long", "too long"),
        (None, PREFIX + "Error code: 400 - too long", "too long"),
        (None, PREFIX + '{"error": {"message": "too long"}}', "too long"),
        (None, PREFIX + "Error code: 400 - {'error': {'message': 'too long', 'code': None}}", "too long"),
        (None, PREFIX + "{'error': __import__('os')}", None),
        (None, PREFIX + "{" * 10_000, None),
        (None, PREFIX + "{" + "[" * 10_000, None),
        (None, PREFIX + "Received Model Group=gemma, litellm", None),
        (None, PREFIX, None),
        (None, "litellm.BadRequestError: no such provider", None),
        ([1], "", None),
    ],
)
def test_the_text_is_found_or_none_is_shown(body: object, message: str, expected: str | None) -> None:
    assert upstream_text(body, message) == expected
