"""What is written as YAML is read back as it is, and has no text without quotes that programs read differently."""

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from hearth.claim.scalars import is_text
from hearth.compile.litellm import litellm_yaml
from hearth.yaml_text import yaml_text
from tests.support.go_readers import TEXTS, WORDS


def _plain(text: str) -> list[str]:
    return [
        event.value for event in yaml.parse(text) if isinstance(event, yaml.ScalarEvent) and event.style in (None, "")
    ]


@pytest.mark.parametrize("word", WORDS)
def test_a_word_that_programs_read_differently_is_in_quotes(word: str) -> None:
    assert _plain(yaml_text({word: [word]})) == []
    assert yaml.safe_load(litellm_yaml({"model_list": [{"model_name": word}]})) == {
        "model_list": [{"model_name": word}]
    }


@settings(max_examples=200, deadline=None, derandomize=True)
@given(content=st.dictionaries(TEXTS, st.one_of(TEXTS, st.lists(TEXTS, max_size=2)), max_size=3))
def test_every_text_is_read_back_and_no_plain_one_is_anything_else(content: Any) -> None:
    written = yaml_text({"data": content})
    assert yaml.safe_load(written) == {"data": content}
    assert all(is_text(plain) for plain in _plain(written) if plain)
