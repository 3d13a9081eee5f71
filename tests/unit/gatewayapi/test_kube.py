"""Which cluster is meant, and what is said when a kubeconfig leads nowhere."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from hearth.gatewayapi.errors import ClusterError
from hearth.gatewayapi.kube import Cluster, KubernetesApi, decoded, encoded
from tests.support.litellm import free_port


def kubeconfig(server: str = "https://127.0.0.1:1", **more: Any) -> str:
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": {"token": "canary-token"}}],
        "contexts": [{"name": name, "context": {"cluster": "c", "user": "u"}} for name in ("here", "there")],
        **more,
    }
    return yaml.safe_dump(content)


def test_the_users_own_default_is_never_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube/config").write_text(kubeconfig())
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    with pytest.raises(ClusterError, match=r"set KUBECONFIG .* never takes ~/\.kube/config"):
        Cluster.named()


def test_a_path_a_content_and_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(kubeconfig())
    monkeypatch.setenv("KUBECONFIG", str(file))
    assert Cluster.named() == Cluster(str(file), "here")
    assert Cluster.named(context="there").context == "there"
    content = kubeconfig(**{"current-context": "there"})
    assert Cluster.named(content) == Cluster(content, "there")
    assert "canary" not in repr(Cluster.named(content))
    empty = tmp_path / "empty"
    empty.write_text("{}")
    assert Cluster.named(f"{empty}:{file}").context == "here"
    for cluster in (Cluster.named(content), Cluster.named(str(file))):
        KubernetesApi(cluster)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "No such file"),
        ("a: [", "it is not YAML"),
        ("just text", "no current context"),
        (kubeconfig(**{"current-context": ""}), "no current context"),
    ],
)
def test_a_kubeconfig_that_leads_nowhere_is_named(tmp_path: Path, content: str | None, words: str) -> None:
    file = tmp_path / "config"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ClusterError, match=words) as caught:
        Cluster.named(str(file))
    assert str(file) in str(caught.value)
    assert "canary" not in str(caught.value)


def test_a_context_that_is_not_there_is_named(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(kubeconfig())
    with pytest.raises(ClusterError, match="nowhere") as caught:
        KubernetesApi(Cluster.named(str(file), "nowhere"))
    assert "canary" not in str(caught.value)


def test_a_cluster_that_does_not_answer_is_named(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(kubeconfig(f"http://127.0.0.1:{free_port()}"))
    with pytest.raises(ClusterError, match=r"could not read the Secret a/b: .* of here does not answer .* get nodes"):
        KubernetesApi(Cluster.named(str(file))).secret("a", "b")


def test_values_of_a_secret_go_there_and_back() -> None:
    values = {"a": "sk-äöü", "b": ""}
    assert decoded({"data": encoded(values)}) == values
    assert decoded({"data": None}) == {}
