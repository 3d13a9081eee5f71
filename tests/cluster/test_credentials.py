"""`hearth credentials` in a real cluster: the guard takes a credential up by a rolling restart (S3-41, S3-42, C-17)."""

import subprocess

import pytest

from tests.cluster.chats import chats
from tests.cluster.claims import SCRIPTED_SECRET_KEY
from tests.cluster.conftest import SCRIPTED_BEARER, Platform
from tests.cluster.kube import eventually
from tests.cluster.load import Load
from tests.cluster.stack import ROOT

pytestmark = pytest.mark.cluster

REFERENCE = "credential://scripted/gateway"
SECRET = "llm-endpoint-credentials-external"


def hearth(platform: Platform, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [str(ROOT / ".venv/bin/hearth"), "credentials", *arguments, "-f", str(platform.stack.file)]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, env=platform.environment, cwd=ROOT)
    assert SCRIPTED_BEARER not in done.stdout + done.stderr
    return done


def rolled_out(platform: Platform) -> set[str]:
    platform.kube.run("-n", "system-llm", "rollout", "status", "deployment/llm-gateway", "--timeout=600s")
    return set(platform.gateway_pods())


def test_a_credential_is_removed_supplied_and_taken_up_without_a_failed_request_of_others(platform: Platform) -> None:
    first = rolled_out(platform)
    assert chats(platform, "x", 2, how="nobody") == [200, 200]
    # The real model has a credential of its own, which nobody touches.
    load = Load(platform, 150, workers=1, model="gemma")
    try:
        assert hearth(platform, "remove", "--endpoint", REFERENCE).returncode == 0
        second = rolled_out(platform)
        assert not first & second, "every Pod is a new one"
        assert set(chats(platform, "x", 2, how="nobody")) == {401}
        assert "Property missing" in hearth(platform, "list").stdout
    finally:
        done = hearth(platform, "set", "--endpoint", REFERENCE, stdin=SCRIPTED_BEARER + "\n")
    assert done.returncode == 0, done.stderr
    third = rolled_out(platform)
    assert not second & third
    assert chats(platform, "x", 2, how="nobody") == [200, 200]
    assert platform.kube.secret("system-llm", SECRET)[SCRIPTED_SECRET_KEY] == SCRIPTED_BEARER
    assert "Token supplied" in hearth(platform, "list").stdout

    result = load.result()
    assert result.failures == {}, result
    assert result.answered > 0
    eventually("two gateway Pods", lambda: len(platform.gateway_pods()) == 2)
    assert platform.stack.changes(platform.claim) == [], "Pulumi sees no drift"


def test_the_same_credential_again_restarts_nothing(platform: Platform) -> None:
    before = rolled_out(platform)
    done = hearth(platform, "set", "--endpoint", REFERENCE, stdin=SCRIPTED_BEARER)
    assert done.returncode == 0
    assert "nothing was changed" in done.stdout
    assert set(platform.gateway_pods()) == before
