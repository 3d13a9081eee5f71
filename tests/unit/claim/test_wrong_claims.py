"""Every wrong claim of the tables is refused with exactly its messages, and no message repeats a planted value."""

import pytest

from tests.unit.claim.case import Case
from tests.unit.claim.examples import claim, problems
from tests.unit.claim.wrong_capacity import CAPACITY
from tests.unit.claim.wrong_hosts import HOSTS
from tests.unit.claim.wrong_instances import INSTANCES
from tests.unit.claim.wrong_later import LATER
from tests.unit.claim.wrong_names import NAMES
from tests.unit.claim.wrong_node_pools import NODE_POOLS
from tests.unit.claim.wrong_providers import PROVIDERS
from tests.unit.claim.wrong_routing import ROUTING
from tests.unit.claim.wrong_runtimes import RUNTIMES
from tests.unit.claim.wrong_shapes import SHAPES
from tests.unit.claim.wrong_tenants import TENANTS
from tests.unit.claim.wrong_transport import TRANSPORT
from tests.unit.claim.wrong_zones import ZONES

CASES = (
    *SHAPES,
    *NAMES,
    *PROVIDERS,
    *TRANSPORT,
    *ZONES,
    *RUNTIMES,
    *HOSTS,
    *INSTANCES,
    *NODE_POOLS,
    *CAPACITY,
    *ROUTING,
    *TENANTS,
    *LATER,
)


def test_the_claim_before_the_change_is_right() -> None:
    assert problems(claim()) == []


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_wrong_claim(case: Case) -> None:
    found = problems(claim(*case.changes))
    assert found == case.expected
    assert "planted" not in "\n".join(found).lower()


def test_cases_are_distinct() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
