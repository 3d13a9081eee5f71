"""Which cluster is meant, that it is the same one as before, and what is said when a kubeconfig leads nowhere."""

from pathlib import Path

import pytest

from hearth.kubeapi.client import KubernetesApi, decoded, encoded
from hearth.kubeapi.cluster import Cluster
from hearth.kubeapi.errors import ClusterError
from tests.support.kube_system import cluster_with, kubeconfig
from tests.support.litellm import free_port


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
    with pytest.raises(ClusterError, match="it has no context nowhere") as caught:
        Cluster.named(str(file), "nowhere")
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


def test_the_call_comes_before_the_stack_and_the_stack_before_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    files = {name: tmp_path / name for name in ("call", "stack", "environment")}
    for file in files.values():
        file.write_text(kubeconfig())
    monkeypatch.setenv("KUBECONFIG", str(files["environment"]))
    stack = {"kubernetes:kubeconfig": str(files["stack"]), "kubernetes:context": "there"}
    assert Cluster.named(str(files["call"]), "here", stack=stack) == Cluster(str(files["call"]), "here")
    assert Cluster.named(stack=stack) == Cluster(str(files["stack"]), "there")
    assert Cluster.named(stack={"kubernetes:context": "there"}) == Cluster(str(files["environment"]), "there")


@pytest.mark.parametrize("key", ["kubernetes:kubeconfig", "kubernetes:context"])
def test_an_encrypted_value_of_a_stack_file_is_not_passed_over(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("KUBECONFIG", kubeconfig())
    with pytest.raises(ClusterError, match=f"{key} of the stack file is encrypted, or no text.*--kubeconfig"):
        Cluster.named(stack={key: {"secure": "v1:canary"}})


def test_of_several_files_the_one_with_the_whole_context_is_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    whole, other, missing = (tmp_path / name for name in ("whole", "other", "missing"))
    whole.write_text(kubeconfig())
    other.write_text(kubeconfig(clusters=[], users=[], contexts=[]))
    monkeypatch.setenv("KUBECONFIG", f"{missing}:{other}:{whole}")
    assert Cluster.named() == Cluster(str(whole), "here")


@pytest.mark.parametrize("part", ["clusters", "users"])
def test_a_context_in_several_files_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, part: str) -> None:
    """Pulumi's Kubernetes provider takes one file, and must not come to another cluster than ours do."""
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text(kubeconfig(contexts=[], **{"clusters": [], "users": [], part: [{"name": part[0]}]}))
    second.write_text(kubeconfig())
    monkeypatch.setenv("KUBECONFIG", f"{first}:{second}")
    with pytest.raises(ClusterError, match=f"the {part[:-1]} of the context here is in another file.*--flatten"):
        Cluster.named()


def test_another_cluster_is_refused_with_the_way_out() -> None:
    with cluster_with("uid-1") as content:
        kubernetes = KubernetesApi(Cluster.named(content))
        assert kubernetes.identity == "uid-1"
        kubernetes.require("uid-1")
        with pytest.raises(ClusterError, match="the context here leads to another cluster") as caught:
            kubernetes.require("uid-0")
    assert "pulumi stack export | sed s/uid-0/uid-1/ | pulumi stack import" in str(caught.value)
