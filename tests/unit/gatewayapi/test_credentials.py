"""`hearth credentials` against a scripted cluster: one value in, none out, and the others stay as they are."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hearth.cli import cluster as naming
from hearth.cli import credentials as command
from hearth.cli.main import main
from hearth.gatewayapi.credentials import is_credential
from hearth.kubeapi.client import decoded, encoded
from hearth.kubeapi.cluster import Cluster
from tests.support.kube_system import kubeconfig
from tests.support.scripted_kubernetes import ScriptedKubernetes

PROJECT = Path(__file__).resolve().parents[3]
PROVIDERS = "system-llm/llm-provider-credentials"
EXTERNAL = "system-llm/llm-endpoint-credentials-external"
CANARY = "token-canary-0123456789"
STACK = """
config:
  hearth:llm:
    enabled: true
    providers:
      - name: first-cloud
        displayName: First Cloud
        apiBase: https://api.first-cloud.example/v1
        apiKeyProperty: first_cloud_api_key
        models: [{name: m, model: m, pricing: zero_marginal}]
      - name: second
        displayName: Second
        apiBase: https://api.second.example/v1
        apiKeyProperty: second_api_key
        models: [{name: m, model: m, pricing: zero_marginal}]
  hearth:networkZones:
    lan: {dnsNames: [box.home.arpa], cidrs: [192.168.1.0/24], ports: [8443]}
  hearth:trustBundles: {home-ca: {file: trust/home-ca.v3.pem, version: 3, sha256: SHA}}
  hearth:endpoints:
    box:
      protocol: openai_chat
      baseUrl: https://box.home.arpa:8443/v1
      endpointAuth: {mode: bearer, credentialRef: "credential://box/gateway"}
      networkProfile:
        mode: private_tls
        termination: native
        networkZoneId: lan
        tls: {trustBundle: home-ca}
        connection: {poolIdleTimeoutMs: 30000, clientRefreshIntervalMs: 300000}
      runtimeCapacity: {physicalRuntimeId: b, capacityDomainId: b, maxParallelRequests: 2, maxQueuedRequests: 2}
  hearth:policy:
    vendor: {optIn: true, allow: [first-cloud, second], acknowledgement: "prompts of consenting tenants reach both"}
"""

Hearth = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> ScriptedKubernetes:
    scripted = ScriptedKubernetes()
    scripted.deployments |= {"llm-guard-0": {}, "llm-guard-1": {}}
    monkeypatch.setattr(command, "cluster_named", lambda *_: scripted)
    return scripted


@pytest.fixture
def hearth(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Hearth:
    """Run `hearth credentials` with something on standard input; no value may come out again."""
    monkeypatch.chdir(PROJECT)
    (tmp_path / "trust").mkdir()
    bundle = (PROJECT / "trust/home-ca.v3.pem").read_bytes()
    (tmp_path / "trust/home-ca.v3.pem").write_bytes(bundle)
    import hashlib

    file = tmp_path / "Pulumi.own.yaml"
    file.write_text(STACK.replace("SHA", hashlib.sha256(bundle).hexdigest()))

    def run(*arguments: str, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["hearth", "credentials", *arguments, "-f", str(file)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        with pytest.raises(SystemExit) as ended:
            main()
        written = capsys.readouterr()
        assert "canary" not in written.out + written.err
        assert "Traceback" not in written.err
        assert isinstance(ended.value.code, int)
        return ended.value.code, written.out, written.err

    return run


def test_the_cluster_is_the_stacks_unless_the_call_names_another(
    hearth: Hearth, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(kubeconfig())
    monkeypatch.setenv("KUBECONFIG", str(file))
    stack = tmp_path / "Pulumi.own.yaml"
    asked: list[Cluster] = []

    def opened(cluster: Cluster) -> ScriptedKubernetes:
        asked.append(cluster)
        return ScriptedKubernetes()

    monkeypatch.setattr(naming, "KubernetesApi", opened)
    hearth("list")
    stack.write_text(stack.read_text() + "  kubernetes:context: there\n")
    hearth("list")
    hearth("list", "--context", "here")
    assert asked == [Cluster(str(file), context) for context in ("here", "there", "here")]

    stack.write_text(stack.read_text().replace("context: there", "context: nowhere"))
    code, _, err = hearth("list")
    assert code == 2
    assert "it has no context nowhere" in err


def secret(**values: str) -> dict[str, object]:
    name = PROVIDERS.split("/")[1]
    return {"metadata": {"name": name, "namespace": "system-llm", "labels": {"mine": "1"}}, "data": encoded(values)}


@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
def test_a_token_is_written_under_the_computed_property(
    hearth: Hearth, cluster: ScriptedKubernetes, ending: str
) -> None:
    code, out, err = hearth("set", "first-cloud", stdin=CANARY + ending)
    assert (code, err) == (0, "")
    assert out.startswith("first-cloud: supplied, in system-llm/llm-provider-credentials as first_cloud_api_key.\n")
    assert decoded(cluster.secrets[PROVIDERS]) == {"first_cloud_api_key": CANARY}
    assert cluster.secrets[PROVIDERS]["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "hearth"


def test_the_tokens_of_others_stay(hearth: Hearth, cluster: ScriptedKubernetes) -> None:
    cluster.put(secret(second_api_key="theirs", unknown="x"))
    assert hearth("set", "first-cloud", stdin=CANARY)[0] == 0
    assert decoded(cluster.secrets[PROVIDERS]) == {
        "second_api_key": "theirs",
        "unknown": "x",
        "first_cloud_api_key": CANARY,
    }
    assert cluster.secrets[PROVIDERS]["metadata"]["labels"] == {"mine": "1"}
    assert hearth("remove", "first-cloud")[0] == 0
    assert decoded(cluster.secrets[PROVIDERS]) == {"second_api_key": "theirs", "unknown": "x"}


def test_a_change_restarts_the_guard_under_a_field_manager_of_its_own(
    hearth: Hearth, cluster: ScriptedKubernetes
) -> None:
    code, out, _ = hearth("set", "second", stdin=CANARY)
    assert code == 0
    assert "The guard has restarted, one Pod after another" in out
    assert [name for name, _, _ in cluster.applied] == ["llm-guard-0", "llm-guard-1"]
    _, manifest, manager = cluster.applied[0]
    assert manager == "hearth-credentials.llm-provider-credentials"
    version = cluster.secrets[PROVIDERS]["metadata"]["resourceVersion"]
    assert manifest["spec"] == {
        "template": {"metadata": {"annotations": {"hearth.dev/credentials.llm-provider-credentials": version}}}
    }
    hearth("remove", "second")
    assert len(cluster.applied) == 4
    assert cluster.applied[0] != cluster.applied[2]


def test_the_same_token_again_changes_and_restarts_nothing(hearth: Hearth, cluster: ScriptedKubernetes) -> None:
    hearth("set", "second", stdin=CANARY)
    before = cluster.secrets[PROVIDERS]
    code, out, _ = hearth("set", "second", stdin=CANARY)
    assert (code, out) == (0, "second: the same credential is there already; nothing was changed.\n")
    assert cluster.secrets[PROVIDERS] == before
    assert len(cluster.applied) == 2


def test_a_restart_can_be_left_to_later(hearth: Hearth, cluster: ScriptedKubernetes) -> None:
    assert "was not restarted" in hearth("set", "second", "--no-restart", stdin=CANARY)[1]
    assert cluster.applied == []


def test_before_the_first_deployment_there_is_nothing_to_restart(hearth: Hearth, cluster: ScriptedKubernetes) -> None:
    cluster.deployments.clear()
    code, out, _ = hearth("set", "second", stdin=CANARY)
    assert code == 0
    assert "it will start with the credential" in out


def test_without_the_namespace_it_says_what_to_do(hearth: Hearth, cluster: ScriptedKubernetes) -> None:
    cluster.namespaces.clear()
    code, _, err = hearth("set", "second", stdin=CANARY)
    assert code == 1
    assert "create namespace system-llm" in err
    assert cluster.secrets == {}


def test_an_endpoint_of_others_is_named_by_its_reference(hearth: Hearth, cluster: ScriptedKubernetes) -> None:
    assert hearth("set", "--endpoint", "credential://box/gateway", stdin=CANARY)[0] == 0
    assert decoded(cluster.secrets[EXTERNAL]) == {"box.gateway": CANARY}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("set", "third"), "the claim has no such provider. It has first-cloud, second"),
        (("set", "--endpoint", "credential://box/other"), "It has credential://box/gateway"),
        (("set",), "Give either a provider or --endpoint"),
        (("set", "second", "--endpoint", "credential://box/gateway"), "Give either a provider or --endpoint"),
        (("remove",), "Give either a provider or --endpoint"),
    ],
)
def test_a_wrong_call_changes_nothing(
    hearth: Hearth, cluster: ScriptedKubernetes, arguments: tuple[str, ...], words: str
) -> None:
    code, _, err = hearth(*arguments, stdin=CANARY)
    assert code == 2
    assert words in err
    assert (cluster.secrets, cluster.applied) == ({}, [])


@pytest.mark.parametrize(
    "value",
    [
        "",
        "\n",
        " canary",
        "canary ",
        "two canary\nlines",
        "canary\r\nX-Evil: 1",
        "canary\t",
        "cänary",
        "canary\0",
        "c" * 9000,
    ],
)
def test_what_cannot_be_a_credential_is_refused_unseen(hearth: Hearth, cluster: ScriptedKubernetes, value: str) -> None:
    code, _, err = hearth("set", "second", stdin=value)
    assert code == 2
    assert "standard input holds no credential" in err
    assert cluster.secrets == {}


def test_a_provider_that_the_claim_names_no_longer_can_be_cleaned_up(
    hearth: Hearth, cluster: ScriptedKubernetes
) -> None:
    cluster.put(secret(gone_api_key=CANARY))
    assert hearth("remove", "gone")[0] == 0
    assert decoded(cluster.secrets[PROVIDERS]) == {}
    code, _, err = hearth("remove", "gone")
    assert (code, err) == (1, "gone: there is no credential to remove.\n")


def test_the_list_says_what_is_known_and_never_that_it_works(hearth: Hearth, cluster: ScriptedKubernetes) -> None:
    cluster.put(secret(first_cloud_api_key=CANARY, second_api_key="", gone_api_key=CANARY))
    code, out, _ = hearth("list")
    assert code == 1
    rows = [line.split() for line in out.splitlines()]
    assert rows[0] == ["KIND", "NAME", "SECRET", "PROPERTY", "STATUS"]
    found = [(row[0], row[1], row[3], " ".join(row[4:])) for row in rows[1:]]
    assert found == [
        ("provider", "first-cloud", "first_cloud_api_key", "Token supplied"),
        ("provider", "second", "second_api_key", "Token missing"),
        ("endpoint", "credential://box/gateway", "box.gateway", "No credential"),
        ("provider", "gone_api_key", "gone_api_key", "Not named"),
    ]
    cluster.put(secret(first_cloud_api_key=CANARY))
    listed = json.loads(hearth("list", "--json")[1])
    assert [row["status"] for row in listed] == ["Token supplied", "Property missing", "No credential"]
    assert set(listed[0]) == {"kind", "name", "secret", "key", "status"}


def test_the_list_succeeds_when_nothing_is_missing(hearth: Hearth, cluster: ScriptedKubernetes) -> None:
    cluster.put(secret(first_cloud_api_key=CANARY, second_api_key=CANARY))
    assert hearth("list")[0] == 1
    assert hearth("set", "--endpoint", "credential://box/gateway", stdin=CANARY)[0] == 0
    assert hearth("list")[0] == 0


def test_an_endpoint_in_a_pod_has_no_place_for_a_credential(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], cluster: ScriptedKubernetes
) -> None:
    monkeypatch.chdir(PROJECT)
    arguments = ["set", "--endpoint", "credential://gemma/endpoint", "-s", "local"]
    monkeypatch.setattr(sys, "argv", ["hearth", "credentials", *arguments])
    monkeypatch.setattr(sys, "stdin", io.StringIO(CANARY))
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "Hearth makes this credential itself" in capsys.readouterr().err
    assert cluster.secrets == {}


@pytest.mark.parametrize("value", ["x", "sk-abc", "with space", "!~", "p" * 8192])
def test_what_a_credential_may_look_like(value: str) -> None:
    assert is_credential(value)
