"""Settings and bodies that the tests of the intake share."""

import json
from typing import Any

import pytest

from hearth.intake.admission import admit
from hearth.intake.errors import RefusedError
from hearth.intake.settings import Operation, Settings

SETTINGS = Settings.model_validate(
    {
        "version": 1,
        "maxRequestBytes": 16_777_216,
        "longestAnswerSeconds": 120,
        "models": {
            "gemma": {
                "operations": ["chat", "completion", "embedding", "responses"],
                "contextTokens": 8_192,
                "defaultMaxTokens": 1_024,
                "deadlineMs": 60_000,
                "engines": ["llamaCpp"],
                "extraFields": ["special_knob", "n_predict"],
            },
            "large": {
                "operations": ["chat"],
                "contextTokens": 32_768,
                "defaultMaxTokens": 512,
                "deadlineMs": 60_000,
                "engines": ["vllm"],
            },
            "mixed": {
                "operations": ["chat"],
                "contextTokens": 8_192,
                "defaultMaxTokens": 512,
                "deadlineMs": 60_000,
                "engines": ["vllm", "llamaCpp"],
            },
            "vendor/chat": {
                "operations": ["chat"],
                "contextTokens": 100,
                "defaultMaxTokens": 50,
                "deadlineMs": 60_000,
                "engines": [None],
            },
        },
    }
)
MESSAGES = [{"role": "user", "content": "Which colour has the sky?"}]
BODIES: dict[Operation, dict[str, Any]] = {
    "chat": {"model": "gemma", "messages": MESSAGES},
    "completion": {"model": "gemma", "prompt": "The sky is"},
    "embedding": {"model": "gemma", "input": "sky"},
    "responses": {"model": "gemma", "input": "sky"},
}


def passed(operation: Operation = "chat", /, *, header_user: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return the body that LiteLLM sees."""
    text = json.dumps({**BODIES[operation], **fields}).encode()
    body: dict[str, Any] = json.loads(admit(SETTINGS, operation, text, header_user=header_user).body)
    return body


def refused(operation: Operation = "chat", /, *, header_user: str | None = None, **fields: Any) -> RefusedError:
    """Return the refusal of a body."""
    with pytest.raises(RefusedError) as caught:
        passed(operation, header_user=header_user, **fields)
    return caught.value
