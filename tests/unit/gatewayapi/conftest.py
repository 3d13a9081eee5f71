"""A scripted gateway and a scripted cluster in place of the real ones."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from hearth.gatewayapi.client import GatewayClient
from hearth.gatewayapi.provider import GatewayProvider
from hearth.kubeapi.provider import ClusterProvider
from tests.support.scripted_kubernetes import ScriptedKubernetes
from tests.support.scripted_litellm import ScriptedLiteLLM


@pytest.fixture
def litellm(monkeypatch: pytest.MonkeyPatch) -> ScriptedLiteLLM:
    """What every provider talks to."""
    scripted = ScriptedLiteLLM()

    @contextmanager
    def opened(_: GatewayProvider, props: object) -> Iterator[GatewayClient]:
        yield scripted.client()

    monkeypatch.setattr(GatewayProvider, "gateway", opened)
    monkeypatch.setattr(GatewayProvider, "is_ready", lambda _, props: True)
    return scripted


@pytest.fixture
def kubernetes(monkeypatch: pytest.MonkeyPatch) -> ScriptedKubernetes:
    """The cluster of every provider."""
    scripted = ScriptedKubernetes("tenant-family")
    monkeypatch.setattr(ClusterProvider, "kubernetes", lambda _, props: scripted)
    return scripted
