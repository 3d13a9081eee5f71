"""The highest price that a request can have, over every deployment that may be asked for it (S4-125). Pure.

No tokenizer is known here, so that tokens are bounded from above: by the context, and where a text goes to the model as
it is, by its length.
"""

from typing import Final

from hearth.intake.completions import CompletionRequest, EmbeddingRequest
from hearth.intake.fields import Shape
from hearth.intake.settings import Attempt, Model

_MILLION: Final = 1_000_000
_SPECIAL_TOKENS: Final = 16
"""What a model puts around a text of its own accord, at most."""
_MOST_EXPANSION: Final = 11
"""Bytes that one byte of a text becomes at most where a tokenizer normalises it (NFKC: U+FDFA, 3 bytes, becomes 33)."""


def worst_case_micros(model: Model, request: Shape, limit: int) -> int:
    """Return the highest price of a request in micro-units, when every deployment is asked and each charges in full.

    Args:
        model: what it asks for, with its attempts.
        request: the body.
        limit: most tokens of an answer.
    """
    return sum(_attempt(attempt, request, limit) for attempt in model.attempts)


def _attempt(attempt: Attempt, request: Shape, limit: int) -> int:
    if isinstance(request, EmbeddingRequest):
        tokens = sum(_text_tokens(text, attempt.context_tokens) for text in _texts(request.input))
        return _micros(tokens * attempt.input_micros)
    choices = getattr(request, "n", None) or 1
    if isinstance(request, CompletionRequest):
        prompts = [_text_tokens(text, attempt.context_tokens) for text in _texts(request.prompt)]
    else:
        prompts = [attempt.context_tokens]  # the model's template, tools and images add to what the body has
    return _micros(sum(_prompt(attempt, prompt, limit, choices) for prompt in prompts))


def _prompt(attempt: Attempt, most: int, limit: int, choices: int) -> int:
    """Return the highest price of the answers to one prompt, in millionths of a micro-unit.

    Prompt and answer share the context, so that one of two is the highest: the longest prompt, or the longest answer.
    """
    context = attempt.context_tokens

    def price(prompt: int, answer: int) -> int:
        return prompt * attempt.input_micros + choices * answer * attempt.output_micros

    answer = min(limit, context)
    return max(price(most, min(answer, context - most)), price(min(most, context - answer), answer))


def _texts(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def _text_tokens(text: str, context: int) -> int:
    size = len(text) if text.isascii() else _MOST_EXPANSION * len(text.encode(errors="surrogatepass"))
    return min(context, size + _SPECIAL_TOKENS)


def _micros(millionths: int) -> int:
    return -(-millionths // _MILLION)
