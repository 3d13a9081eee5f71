"""The host after a test is the host before it, and so before the next one: one picture between two tests shows both."""

from collections.abc import Iterator

import pytest

from tests.support.edge import hosts
from tests.support.hostile import picture


@pytest.fixture(scope="session")
def last_picture() -> list[list[str]]:
    """The picture after the test before, alone in a list; empty before the first."""
    return []


@pytest.fixture(autouse=True)
def host_as_it_was(last_picture: list[list[str]]) -> Iterator[None]:
    """See that neither the playbook nor the fault, which is undone, left anything behind."""
    (host,) = hosts()
    if not last_picture:
        last_picture.append(picture(host))
    before = last_picture[0]
    yield
    last_picture[0] = picture(host)
    assert last_picture[0] == before
