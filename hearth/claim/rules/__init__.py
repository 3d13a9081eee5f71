"""Cross-reference rules: what one part of a claim says about another."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from hearth.claim.draft import Draft, Finding
from hearth.claim.problems import Notice

Rule = Callable[[Draft], Iterable[Finding]]
"""Looks at the valid parts of a claim and yields what is wrong."""

RULES: Final[tuple[Rule, ...]] = ()
"""Every rule."""


def read_bundles(draft: Draft) -> tuple[Mapping[str, str], list[Finding]]:
    """Read bundles."""
    return {k: (draft.base / b.file).read_text() for k, b in draft.claim.trust_bundles.items()}, []


def notices(draft: Draft, stack: str) -> Iterator[Notice]:
    """Notices."""
    return iter(())
