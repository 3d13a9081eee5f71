"""Which plain scalars are texts for every program."""

import hashlib

import pytest
import yaml

from hearth.claim.scalars import is_text


@pytest.mark.parametrize("plain", ["0x1f", "0o17", "0b101", "-0b1", "1e3", "010", "1_000", "1:30", ".5", "2026-12-01"])
def test_a_number_or_date_of_some_program_is_no_text(plain: str) -> None:
    assert not is_text(plain)


@pytest.mark.parametrize("beginning", ["0b", "0b1f", "0e", "00", "0c", "12"])
def test_a_digest_is_a_text_whatever_it_begins_with(beginning: str) -> None:
    digest = beginning + hashlib.sha256(beginning.encode()).hexdigest()[len(beginning) :]
    assert yaml.safe_load(digest) == digest
    assert is_text(digest)
