"""Probes of embeddings: one text, several in order, encodings, dimensions and usage (S4-97, S4-106, S4-108)."""

import base64
import binascii
import math
import struct
from collections.abc import Callable, Mapping
from typing import Any, Final

from hearth.probe.case import Facts, FailedError
from hearth.probe.generation import Asked, counted

TEXTS: Final = ("A cat sleeps on the warm oven.", "The tax return is due in May.", "Snow falls on the high pass.")
"""What is embedded: three texts that no model takes for each other."""
_TOLERANCE: Final = 0.01


def _rows(asked: Asked, texts: object, **more: Any) -> list[Mapping[str, Any]]:
    data = asked.whole(**{"input": texts, **more}).get("data")
    if not isinstance(data, list) or not all(isinstance(row, Mapping) for row in data):
        raise FailedError("answer_without_vectors")
    return data


def _vector(value: object) -> list[float]:
    right = isinstance(value, list) and value
    if not right or not all(isinstance(item, int | float) and math.isfinite(item) for item in value):  # type: ignore[attr-defined]
        raise FailedError("not_a_vector")
    numbers = [float(item) for item in value]  # type: ignore[attr-defined]
    if not any(numbers):
        raise FailedError("vector_of_zeros")
    return numbers


def _one(asked: Asked, text: str) -> list[float]:
    rows = _rows(asked, text)
    if len(rows) != 1:
        raise FailedError("not_one_vector", vectors=len(rows))
    return _vector(rows[0].get("embedding"))


def _likeness(one: list[float], other: list[float]) -> float:
    if len(one) != len(other):
        raise FailedError("vectors_of_different_lengths")
    norms = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / norms


def _scalar(asked: Asked) -> Facts:
    return {"dimensions": len(_one(asked, TEXTS[0]))}


def _batch(asked: Asked) -> Facts:
    rows = _rows(asked, list(TEXTS))
    if len(rows) != len(TEXTS):
        raise FailedError("not_a_vector_for_each_text", vectors=len(rows))
    lengths = {len(_vector(row.get("embedding"))) for row in rows}
    if len(lengths) != 1:
        raise FailedError("vectors_of_different_lengths")
    return {"vectors": len(rows)}


def _batch_order(asked: Asked) -> Facts:
    rows = _rows(asked, list(TEXTS))
    if [row.get("index") for row in rows] != list(range(len(TEXTS))):
        raise FailedError("other_indexes", vectors=len(rows))
    for text, row in zip(TEXTS, rows, strict=True):
        if _likeness(_one(asked, text), _vector(row.get("embedding"))) < 1 - _TOLERANCE:
            raise FailedError("other_order")
    return {}


def _space(asked: Asked) -> Facts:
    """Texts that say different things have different vectors: not a constant, and not another space each time."""
    first, again, other = _one(asked, TEXTS[0]), _one(asked, TEXTS[0]), _one(asked, TEXTS[1])
    if _likeness(first, again) < 1 - _TOLERANCE:
        raise FailedError("same_text_in_another_place")
    if _likeness(first, other) > 1 - _TOLERANCE / 100:
        raise FailedError("different_texts_in_one_place")
    return {"dimensions": len(first)}


def _usage(asked: Asked) -> Facts:
    return counted(asked.whole().get("usage"), "embedding")


def _base64(asked: Asked) -> Facts:
    rows = _rows(asked, TEXTS[0], encoding_format="base64")
    text = rows[0].get("embedding") if rows else None
    try:
        raw = base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    except (binascii.Error, ValueError):
        raw = b""
    if not raw or len(raw) % 4:
        raise FailedError("not_base64_of_floats")
    decoded = [number for (number,) in struct.iter_unpack("<f", raw)]
    if _likeness(_vector(decoded), _one(asked, TEXTS[0])) < 1 - _TOLERANCE:
        raise FailedError("another_vector_in_base64")
    return {"dimensions": len(decoded)}


def _dimensions(asked: Asked) -> Facts:
    whole = len(_one(asked, TEXTS[0]))
    wanted = max(1, whole // 2)
    rows = _rows(asked, TEXTS[0], dimensions=wanted)
    found = len(_vector(rows[0].get("embedding") if rows else None))
    if found != wanted:
        raise FailedError("other_dimensions", dimensions=found)
    return {"dimensions": found}


CAPABILITIES: Final[Mapping[str, Callable[[Asked], Facts]]] = {
    "scalar": _scalar,
    "batch": _batch,
    "batch_order": _batch_order,
    "space": _space,
    "usage": _usage,
    "base64": _base64,
    "dimensions": _dimensions,
}
"""Probes of embeddings, by capability."""
