"""The shape of the table of wrong claims."""

from typing import NamedTuple

from tests.unit.claim.examples import Change


class Case(NamedTuple):
    """A change that makes the valid claim wrong, and everything that is said about it."""

    name: str
    changes: list[Change]
    expected: list[str]
