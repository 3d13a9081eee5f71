"""A backup is one that was restored."""

import pytest

from tests.cluster.outage import Outage

pytestmark = pytest.mark.cluster


def test_the_database_comes_back_from_a_dump_by_the_commands_of_the_page(outage: Outage) -> None:
    """The tests after it show that the gateway works with what came back: it started on it."""
    backup = outage.backup
    assert "rows of LiteLLM_SpendLogs|" in backup.before
    assert backup.before.count("\nkey ") >= 2
    assert "litellm_gateway=" in backup.before
    assert 'relation "LiteLLM_VerificationToken" does not exist' in backup.lost
    assert backup.after == backup.before
