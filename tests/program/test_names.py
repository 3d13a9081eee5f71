"""Names of a claim that once met each other: each has objects, files and ways of its own."""

import copy
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from hearth.cluster.manifest import FORMER
from tests.support.program import config_of, declare


def with_tenants(**tenants: dict[str, Any]) -> dict[str, Any]:
    return {**config_of("local"), "hearth:tenants": tenants}


def with_pods(*names: str) -> dict[str, Any]:
    """The local stack with its model server once for each name."""
    config = copy.deepcopy(config_of("local"))
    (endpoint,) = config["hearth:endpoints"].values()
    (deployment,) = config["hearth:deployments"].values()
    config["hearth:endpoints"], config["hearth:deployments"], config["hearth:aliases"] = {}, {}, {}
    for name in names:
        made = copy.deepcopy(endpoint)
        made["baseUrl"] = f"https://llm-{name}.system-llm.svc.cluster.local:8443/v1"
        made["endpointAuth"]["credentialRef"] = f"credential://{name}/endpoint"
        made["runtimeCapacity"] |= {"physicalRuntimeId": f"{name}/server", "capacityDomainId": f"{name}/cpu"}
        config["hearth:endpoints"][name] = made
        config["hearth:deployments"][f"on-{name}"] = {**deployment, "endpoint": name}
        config["hearth:aliases"][name] = {"deployments": [f"on-{name}"], "residency": ["local"]}
    return config


def test_tenants_whose_names_look_like_digests_have_resources_of_their_own() -> None:
    result = declare("local", with_tenants(abcdefabcd={"apps": {}}, abcdefabce={"apps": {}}))
    spaces = [name for typ, name in result["resources"] if typ == "kubernetes:core/v1:Namespace"]
    assert sorted(spaces) == [
        "Namespace:system-llm",
        "Namespace:system-llm-evidence",
        "Namespace:tenant-abcdefabcd",
        "Namespace:tenant-abcdefabce",
    ]
    # What was deployed under the shortened name is found again.
    assert result["aliases"]["kubernetes:core/v1:Namespace|Namespace:tenant-abcdefabcd"] == ["Namespace:tenant"]


def test_no_two_resources_of_one_kind_have_one_name() -> None:
    names = ("abcdefabcd", "abcdefabce", "trusty")
    result = declare("local", with_pods(*names))
    counted = Counter(map(tuple, result["resources"]))
    assert [name for name, count in counted.items() if count > 1] == []
    services = {name for typ, name in result["resources"] if typ == "kubernetes:core/v1:Service"}
    assert {f"Service:system-llm/llm-{name}" for name in names} <= services
    # Nothing else had a name that was shortened.
    renamed = {name.split("|")[1] for name, aliases in result["aliases"].items() if aliases} - set(FORMER)
    assert renamed == {
        f"{kind}:system-llm/{stem}-{name}"
        for kind, stem in (("Service", "llm"), ("Deployment", "llm"), ("Secret", "llm-endpoint"))
        for name in names[:2]
    }


def test_an_endpoint_may_be_called_by_any_word() -> None:
    names = ("app", "args", "base", "contents", "found", "kwargs", "self", "topology", "values")
    result = declare("local", with_pods(*names))
    # The outputs of a secret are wrapped on their way.
    tokens = result["inputs"]["kubernetes:core/v1:Secret|Secret:system-llm/llm-endpoint-credentials"]["stringData"]
    assert tokens["value"] == {
        f"ENDPOINT_CREDENTIAL_{name.upper()}": f"made-endpoint-{name}-token-value" for name in names
    }
    assert {f"kubernetes:core/v1:Secret|Secret:system-llm/llm-endpoint-{name}" for name in names} <= set(
        result["inputs"]
    )


def test_a_namespace_and_an_app_that_spell_one_text_have_files_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from hearth.cli.main import main

    config = with_tenants(
        one={"namespace": "a", "apps": {"b-default-deny": {"llm": True}}}, two={"namespace": "a-llm-b", "apps": {}}
    )
    stack = tmp_path / "stacks" / "Pulumi.local.yaml"
    stack.parent.mkdir()
    stack.write_text(json.dumps({"config": config}))
    monkeypatch.setattr("sys.argv", ["hearth", "render", "-f", str(stack), "-o", str(tmp_path / "out")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code, capsys.readouterr().err
    found = [yaml.safe_load(file.read_text()) for file in (tmp_path / "out" / "manifests").iterdir()]
    policies = {(m["metadata"]["namespace"], m["metadata"]["name"]) for m in found if m["kind"] == "NetworkPolicy"}
    assert {("a", "llm-b-default-deny"), ("a", "default-deny"), ("a-llm-b", "default-deny")} <= policies
