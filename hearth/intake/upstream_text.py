"""A model server's own words, out of what LiteLLM made of them."""

import ast
import json
import re
from collections.abc import Mapping
from typing import Final

from hearth.intake.strict_json import MOST_DEPTH

_VENDOR_MARK: Final = "OpenAIException - "
_STATUS_MARK: Final = re.compile(r"Error code: [0-9]{3} - ")
_MOST_CHARACTERS: Final = 16_384


def upstream_text(body: object, message: str) -> str | None:
    """Return the text of an error that a model server answered with; none where it cannot be told from LiteLLM's.

    Args:
        body: the answer's JSON, where LiteLLM kept it.
        message: LiteLLM's message, with the answer's text, its JSON or the Python form of that behind a mark.
    """
    if isinstance(body, Mapping):
        return _of_object(body)
    _, mark, text = message[:_MOST_CHARACTERS].partition(_VENDOR_MARK)
    if not mark:
        return None
    text = _STATUS_MARK.sub("", text, count=1)
    if text.startswith("{"):
        return _of_object(_object(text))
    return None if "litellm" in text.lower() or not text else text


def _object(text: str) -> object:
    if text[:_MOST_CHARACTERS].count("{") > MOST_DEPTH:
        return None
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _of_object(body: object) -> str | None:
    if not isinstance(body, Mapping):
        return None
    error = body.get("error", body)
    if isinstance(error, str):
        return error
    if isinstance(error, Mapping):
        return next((error[name] for name in ("message", "detail") if isinstance(error.get(name), str)), None)
    return None
