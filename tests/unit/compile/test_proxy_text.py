"""Quoting, refusals and digests that every proxy configuration stands on."""

import hashlib
import json
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearth.compile import proxy_refusals
from hearth.compile.files import ConfigFiles
from hearth.compile.proxy_text import Refusal, literal, log_line, quoted, reply

PRINTABLE = st.text(st.characters(exclude_categories=["Cc", "Cs"]))


@given(PRINTABLE)
def test_a_quoted_text_is_one_word_and_stands_for_itself(text: str) -> None:
    # HAProxy's strong quotes are the shell's.
    assert shlex.split(quoted(text)) == [text]


@given(PRINTABLE)
def test_a_literal_has_no_expression_in_it(text: str) -> None:
    (word,) = shlex.split(literal(text))
    assert word.replace("%%", "").count("%") == 0
    assert word.replace("%%", "%") == text


@pytest.mark.parametrize("text", ["a\nb", "a\rb", "a\tb", "\x00", "\x7f"])
def test_a_control_character_cannot_be_quoted_and_is_not_repeated(text: str) -> None:
    with pytest.raises(ValueError, match="control character") as caught:
        quoted(text)
    assert text not in str(caught.value)


def test_every_refusal_is_an_openai_error_with_a_code_of_its_own() -> None:
    found = [value for value in vars(proxy_refusals).values() if isinstance(value, Refusal)]
    assert len(found) > 15
    assert len({refusal.code for refusal in found}) == len(found)
    for refusal in found:
        error = json.loads(refusal.body)["error"]
        assert set(error) == {"message", "type", "param", "code"}
        assert error["message"].endswith(".")
        words = shlex.split(reply(refusal))
        assert words[:5] == ["status", str(refusal.status), "content-type", "application/json", "string"]
        assert words[5] == refusal.body
    assert dict(proxy_refusals.QUEUE_FULL.headers) == {"Retry-After": "1"}


def test_the_answers_of_haproxy_itself_are_one_for_each_status() -> None:
    statuses = [refusal.status for refusal in proxy_refusals.COMMON]
    assert len(set(statuses)) == len(statuses)


def test_a_log_line_is_json_once_the_expressions_are_filled_in() -> None:
    (word,) = shlex.split(log_line({"status": "%ST", "name": '"%[var(x)]"'}))
    assert json.loads(word.replace("%ST", "200").replace("%[var(x)]", "y")) == {"status": 200, "name": "y"}


def test_the_digest_is_the_documented_one() -> None:
    data = b""
    for part in (b"a.cfg", "é\n".encode(), b"b.map", b""):
        data += len(part).to_bytes(8, "big") + part
    assert ConfigFiles({"b.map": "", "a.cfg": "é\n"}).digest == hashlib.sha256(data).hexdigest()


@given(st.dictionaries(st.text(min_size=1), st.text()), st.dictionaries(st.text(min_size=1), st.text()))
def test_only_equal_files_have_equal_digests(one: dict[str, str], other: dict[str, str]) -> None:
    assert (ConfigFiles(one).digest == ConfigFiles(other).digest) == (one == other)
    assert ConfigFiles(dict(reversed(list(one.items())))).digest == ConfigFiles(one).digest


def test_config_files_cannot_be_changed() -> None:
    source = {"a": "1"}
    files = ConfigFiles(source)
    source["a"] = "2"
    assert files.files["a"] == "1"
    with pytest.raises(TypeError):
        files.files["a"] = "3"  # type: ignore[index]
