"""`hearth credentials` in a real cluster: the guard takes a credential up by a rolling restart (S3-41, S3-42, C-17)."""

import pytest

from tests.cluster.chats import chats
from tests.cluster.claims import SCRIPTED_SECRET_KEY
from tests.cluster.load import Load
from tests.cluster.platform import SCRIPTED_BEARER, Platform

pytestmark = pytest.mark.cluster

REFERENCE = "credential://scripted/gateway"
SECRET = "llm-endpoint-credentials-external"


def test_a_credential_is_removed_supplied_and_taken_up_without_a_failed_request_of_others(platform: Platform) -> None:
    first, gateway = platform.guards_rolled_out(), platform.rolled_out()
    assert chats(platform, "x", 2, how="nobody") == [200, 200]
    # This one has a credential of its own, which nobody touches.
    with Load(platform, workers=1, model="steady") as load:
        try:
            assert platform.hearth_credentials("remove", "--endpoint", REFERENCE).returncode == 0
            second = platform.guards_rolled_out()
            assert not first & second, "every Pod is a new one"
            assert set(chats(platform, "x", 2, how="nobody")) == {401}
            assert "Property missing" in platform.hearth_credentials("list").stdout
        finally:
            done = platform.hearth_credentials("set", "--endpoint", REFERENCE, stdin=SCRIPTED_BEARER + "\n")
        assert done.returncode == 0, done.stderr
        third = platform.guards_rolled_out()
        assert not second & third
        assert chats(platform, "x", 2, how="nobody") == [200, 200]
        assert platform.kube.secret("system-llm", SECRET)[SCRIPTED_SECRET_KEY] == SCRIPTED_BEARER
        assert "Token supplied" in platform.hearth_credentials("list").stdout
        result = load.finish()
    assert result.failures == {}, result
    assert result.answered > 100
    assert platform.rolled_out() == gateway, "LiteLLM knows no endpoint's credential and stays as it is"
    assert platform.stack.changes(platform.claim) == [], "Pulumi sees no drift"


def test_the_same_credential_again_restarts_nothing(platform: Platform) -> None:
    before = platform.guards_rolled_out()
    done = platform.hearth_credentials("set", "--endpoint", REFERENCE, stdin=SCRIPTED_BEARER)
    assert done.returncode == 0
    assert "nothing was changed" in done.stdout
    assert platform.guards_rolled_out() == before
