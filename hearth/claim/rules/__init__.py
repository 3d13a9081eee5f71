"""Cross-reference rules: what one part of a claim says about another. One module for each subject."""

from collections.abc import Callable, Iterable
from typing import Final

from hearth.claim.draft import Draft, Finding
from hearth.claim.rules import (
    capacity,
    evidence,
    hosts,
    instances,
    later,
    names,
    node_pools,
    public,
    routing,
    runtimes,
    sizes,
    tenants,
    transport,
    zones,
)

Rule = Callable[[Draft], Iterable[Finding]]
"""Looks at the valid parts of a claim and yields what is wrong."""

RULES: Final[tuple[Rule, ...]] = (
    *later.RULES,
    *names.RULES,
    *public.RULES,
    *zones.RULES,
    *transport.RULES,
    *runtimes.RULES,
    *hosts.RULES,
    *node_pools.RULES,
    *instances.RULES,
    *capacity.RULES,
    *routing.RULES,
    *tenants.RULES,
    *evidence.RULES,
    *sizes.RULES,
)
"""Every rule, in the order of what an operator would read first."""
