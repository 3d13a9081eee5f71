"""What the providers have in common: messages without tracebacks, and what Pulumi keeps of them."""

import base64
import traceback

import pytest
from pulumi.dynamic import Config, ConfigureRequest
from pulumi.dynamic.dynamic import serialize_provider

from hearth.gatewayapi import connect
from hearth.gatewayapi.app_key import AppKeyProvider
from hearth.gatewayapi.credentials_secret import CredentialsSecretProvider
from hearth.gatewayapi.errors import ClusterError, GatewayUnavailableError
from hearth.gatewayapi.person_budget import PersonBudgetProvider
from hearth.gatewayapi.provider import GatewayProvider, StepFailed, step
from hearth.gatewayapi.team import TeamProvider

PROVIDERS = [AppKeyProvider, CredentialsSecretProvider, PersonBudgetProvider, TeamProvider]


class Failing(GatewayProvider):
    @step
    def one(self) -> None:
        raise GatewayUnavailableError("the gateway is away.\nLook at its Pods.")

    @step
    def defect(self) -> None:
        raise KeyError("x")


def printed(method: object) -> str:
    """What Pulumi's host of dynamic providers prints."""
    try:
        method()  # type: ignore[operator]
    except Exception:
        return traceback.format_exc()
    raise AssertionError("nothing was raised")


def test_a_failed_step_prints_its_message_and_no_traceback() -> None:
    text = printed(Failing().one)
    assert text == "StepFailed: the gateway is away.\nLook at its Pods.\n"


def test_a_defect_keeps_its_traceback() -> None:
    assert "Traceback" in printed(Failing().defect)


def test_debugging_shows_where_a_step_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARTH_DEBUG", "1")
    with pytest.raises(GatewayUnavailableError):
        Failing().one()


@pytest.mark.parametrize("provider", PROVIDERS)
def test_pulumi_keeps_the_name_of_a_provider_and_nothing_else(provider: type[GatewayProvider]) -> None:
    made = provider()
    pickled = base64.b64decode(serialize_provider(made))
    assert len(pickled) < 200
    assert provider.__module__.encode() in pickled
    assert not made.serialize_as_secret_always


def test_the_cluster_comes_from_the_stack_or_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(connect, "gateway", seen.append)
    config = "current-context: there\n"
    provider = TeamProvider()
    values = {"kubernetes:kubeconfig": config, "kubernetes:context": "chosen", "hearth:llm": "{}"}
    provider.configure(ConfigureRequest(Config(values, "hearth")))
    provider.gateway()
    assert (seen[0].kubeconfig, seen[0].context, seen[0].namespace) == (config, "chosen", "system-llm")

    monkeypatch.setenv("KUBECONFIG", config)
    provider.configure(ConfigureRequest(Config({}, "hearth")))
    provider.gateway()
    assert seen[1].context == "there"

    monkeypatch.delenv("KUBECONFIG")
    with pytest.raises(ClusterError, match="set KUBECONFIG"):
        provider.gateway()


def test_step_failed_can_be_raised_from_a_context_manager() -> None:
    error = StepFailed("x")
    error.__traceback__ = None
    assert error.with_traceback(None).__traceback__ is None
