"""What the providers have in common: messages without tracebacks, and the cluster that they work in."""

import hashlib
import traceback

import pytest
from pulumi.dynamic import Config, ConfigureRequest

from hearth.gatewayapi.app_key import AppKeyProvider
from hearth.gatewayapi.credentials_secret import CredentialsSecretProvider
from hearth.gatewayapi.errors import GatewayUnavailableError
from hearth.gatewayapi.person_budget import PersonBudgetProvider
from hearth.gatewayapi.provider import GatewayProvider
from hearth.gatewayapi.records import key_token
from hearth.gatewayapi.team import TeamProvider
from hearth.kubeapi.cluster import Cluster
from hearth.kubeapi.errors import ClusterError
from hearth.kubeapi.provider import ClusterProvider, StepFailed, step
from tests.support.kube_system import cluster_with, kubeconfig


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


def test_the_cluster_comes_from_the_stack_or_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    content = kubeconfig()
    provider = Failing()
    values = {"kubernetes:kubeconfig": content, "kubernetes:context": "there", "hearth:llm": "{}"}
    provider.configure(ConfigureRequest(Config(values, "hearth")))
    assert provider.kubernetes({}).cluster == Cluster(content, "there")

    monkeypatch.setenv("KUBECONFIG", content)
    provider.configure(ConfigureRequest(Config({}, "hearth")))
    assert provider.kubernetes({}).cluster == Cluster(content, "here")

    monkeypatch.delenv("KUBECONFIG")
    with pytest.raises(ClusterError, match="set KUBECONFIG"):
        provider.kubernetes({})


def test_a_resource_is_looked_for_in_its_own_cluster_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """`pulumi destroy` and `pulumi refresh` run no program that could refuse the cluster before."""
    with cluster_with("uid-1") as content:
        monkeypatch.setenv("KUBECONFIG", content)
        assert Failing().kubernetes({"cluster": "uid-1"}).identity == "uid-1"
        for provider in (AppKeyProvider(), CredentialsSecretProvider(), PersonBudgetProvider(), TeamProvider()):
            for call in (provider.delete, provider.read):
                with pytest.raises(StepFailed, match="leads to another cluster than this stack is deployed to"):
                    call("a/b", {"cluster": "uid-0"})


@pytest.mark.parametrize(
    "provider", [AppKeyProvider(), CredentialsSecretProvider(), PersonBudgetProvider(), TeamProvider()]
)
def test_a_resource_of_an_older_version_gets_its_cluster_without_being_replaced(provider: ClusterProvider) -> None:
    digest = hashlib.sha256(b"{}").hexdigest()
    old = {"value": "sk-planted-canary-0123456789", "digest": digest}
    id_ = key_token(old["value"])
    assert provider.diff(id_, old, old).changes is False
    found = provider.diff(id_, old, {**old, "cluster": "uid-1"})
    assert (found.changes, found.replaces) == (True, [])


def test_step_failed_can_be_raised_from_a_context_manager() -> None:
    error = StepFailed("x")
    error.__traceback__ = None
    assert error.with_traceback(None).__traceback__ is None
