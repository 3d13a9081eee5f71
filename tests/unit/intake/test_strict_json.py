"""What is JSON here, and what only some parsers take for it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearth.intake.strict_json import MOST_CONTAINERS, MOST_DEPTH, MOST_ITEMS, InvalidJsonError, parse

REFUSED = {
    "empty": b"",
    "not UTF-8": b'{"a":"\xff"}',
    "UTF-16": '{"a":1}'.encode("utf-16"),
    "byte order mark": b'\xef\xbb\xbf{"a":1}',
    "duplicate key": b'{"a":1,"a":2}',
    "duplicate key by escape": b'{"model":"a","m\\u006fdel":"b"}',
    "duplicate key below": b'{"a":[{"b":1,"b":1}]}',
    "NaN": b'{"a":NaN}',
    "Infinity": b'{"a":Infinity}',
    "minus Infinity": b'{"a":-Infinity}',
    "overflow": b'{"a":1e999}',
    "long fraction": b'{"a":0.' + b"1" * 100 + b"}",
    "long number": b'{"a":' + b"9" * 20 + b"}",
    "number without end": b'{"a":' + b"9" * 100_000 + b"}",
    "leading zero": b'{"a":01}',
    "trailing text": b'{"a":1}x',
    "two values": b'{"a":1}{"a":1}',
    "comment": b'{"a":1/**/}',
    "trailing comma": b'{"a":1,}',
    "single quotes": b"{'a':1}",
    "control character": b'{"a":"\n"}',
    "NUL": b'{"a":"\x00"}',
    "NUL escaped": b'{"a":"x\\u0000"}',
    "NUL in a key": b'{"a\\u0000":1}',
    "NUL after an escaped backslash": b'{"a":"\\\\\\u0000"}',
    "half a pair": b'{"a":"\\ud800"}',
    "other half": b'{"a":"\\uDC00x"}',
    "half in a key": b'{"\\ud83d":1}',
    "deep arrays": b"[" * 100_000,
    "deep and closed": b"[" * 500 + b"]" * 500,
    "deep objects": b'{"a":' * 500 + b"1" + b"}" * 500,
    "one too deep": b"[" * (MOST_DEPTH + 1) + b"]" * (MOST_DEPTH + 1),
    "many containers": b"[" + b"[]," * MOST_CONTAINERS + b"[]]",
    "many items": b"[" + b"1," * MOST_ITEMS + b"1,1]",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_two_parsers_can_read_differently_is_refused(name: str) -> None:
    with pytest.raises(InvalidJsonError):
        parse(REFUSED[name])


ACCEPTED: dict[bytes, Any] = {
    b'{"a":1}': {"a": 1},
    b' \t\r\n{"a": [1.5, -2e3, true, null, "\xc3\xa9"]} ': {"a": [1.5, -2000.0, True, None, "é"]},
    b'"\\ud83d\\ude00"': "😀",
    b'"\\\\u0000"': "\\u0000",
    b"9223372036854775807": 9223372036854775807,
    b"[" * MOST_DEPTH + b"]" * MOST_DEPTH: json.loads("[" * MOST_DEPTH + "]" * MOST_DEPTH),
}


@pytest.mark.parametrize("text", ACCEPTED, ids=lambda text: text[:20])
def test_json_is_read(text: bytes) -> None:
    assert parse(text) == ACCEPTED[text]


def test_a_message_repeats_nothing() -> None:
    with pytest.raises(InvalidJsonError) as caught:
        parse(b'{"secret-key":1,"secret-key":2}')
    assert "secret" not in str(caught.value)


TEXTS = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]))
NUMBERS = st.integers(-(2**62), 2**62) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=20,
)


@given(VALUES, st.booleans())
def test_whatever_a_client_writes_is_read_as_it_was(value: Any, ascii_only: bool) -> None:
    assert parse(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@given(st.binary(max_size=200))
def test_no_bytes_do_more_than_be_refused(text: bytes) -> None:
    try:
        parse(text)
    except InvalidJsonError:
        return
    json.loads(text)
