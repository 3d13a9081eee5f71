"""What the claim says about each public name."""

import json

from hearth.claim.claim import Claim
from hearth.compile.catalogue import (
    FOREIGN_TOKEN,
    NO_GPU,
    NOT_ENABLED,
    CatalogueRow,
    catalogue,
)
from hearth.compile.litellm import compile_litellm
from hearth.topology.resolve import resolve
from tests.unit.claim import examples


def rows(claim: Claim, withheld: dict[str, str] | None = None) -> dict[str, CatalogueRow]:
    return {row.name: row for row in catalogue(resolve(claim), withheld)}


def valid(*changes: examples.Change) -> Claim:
    return examples.load(examples.claim(*changes)).claim


def test_an_alias() -> None:
    expensive = examples.put("deployments/gemma-pod/pricing/outputMicrosPerMillionTokens", 900)
    small = examples.put("deployments/gemma-pod/contextTokens", 2048)
    assert rows(valid(examples.two_deployments, expensive, small))["house"] == CatalogueRow(
        name="house",
        kind="alias",
        status="Served",
        reason=None,
        operations=("chat",),
        deployments=("gemma-host", "gemma-pod"),
        endpoints=("host", "pod"),
        postures=("private_tls", "private_tls"),
        context_tokens=2048,
        input_micros_per_million_tokens=100,
        output_micros_per_million_tokens=900,
    )


def test_an_alias_promises_only_what_each_of_its_deployments_does() -> None:
    claim = examples.unchecked(
        examples.two_deployments, examples.put("deployments/gemma-pod/operations", ["completion", "chat"])
    )
    assert rows(claim)["house"].operations == ("chat",)
    assert rows(claim)["gemma"].operations == ("chat", "completion")


def test_a_provider_and_an_instance() -> None:
    found = rows(valid())
    model = found["mistral/small"]
    assert (model.kind, model.status, model.endpoints, model.postures) == (
        "provider",
        "Served",
        ("mistral",),
        ("public_tls",),
    )
    assert model.operations == ("chat", "responses")
    assert model.context_tokens == 8192
    instance = found["qwen-qwen2.5-7b"]
    assert (instance.kind, instance.status, instance.reason) == ("instance", "Not offered", NO_GPU)
    with_gpu = rows(examples.unchecked(examples.put("llm/gpuAcceleration", True)))["qwen-qwen2.5-7b"]
    assert (with_gpu.status, with_gpu.reason, with_gpu.postures) == ("Served", None, ("private_tls",))
    assert (with_gpu.deployments, with_gpu.endpoints) == (("vllm-qwen",), ("vllm-qwen",))
    withheld = rows(examples.unchecked(examples.put("llm/gpuAcceleration", True)), {"vllm-qwen": "missing"})
    assert withheld["qwen-qwen2.5-7b"].status == "Not offered"


def test_modes_of_a_provider() -> None:
    change = examples.put("llm/providers/1/models/0/mode", "embedding")
    assert rows(valid(change))["mistral/small"].operations == ("embedding",)


def test_a_provider_with_a_foreign_token_is_not_offered_and_says_why() -> None:
    found = rows(examples.unchecked(examples.put("llm/providers/0/apiKeyProperty", "mistral_api_key")))
    row = found["info-maniak/gemma-4-31b"]
    assert (row.status, row.reason) == ("Not offered", FOREIGN_TOKEN)
    assert found["mistral/small"].status == "Served"


def test_nothing_is_offered_without_a_gateway() -> None:
    found = rows(valid(examples.put("llm/enabled", False)))
    assert len(found) == 9
    assert {(row.status, row.reason) for row in found.values()} == {("Not offered", NOT_ENABLED)}


def test_withheld_endpoints() -> None:
    found = rows(valid(examples.two_deployments), {"host": "evidence_missing"})
    assert found["house"].status == "Served"
    assert found["house"].reason == "gemma-host: endpoint host is withheld, evidence_missing"
    alone = rows(valid(), {"host": "expired"})["house"]
    assert (alone.status, alone.reason) == ("Not offered", "gemma-host: endpoint host is withheld, expired")
    assert rows(valid(), {"host": "expired"})["gemma"].reason is None


def test_what_is_shared_with_other_sites_is_hidden() -> None:
    share = examples.put("aliases/share~site~gemma", {"deployments": ["gemma-pod"], "residency": ["corp"]})
    assert "share/site/gemma" not in rows(examples.unchecked(share))


def test_rows_are_sorted_and_the_offered_ones_are_what_litellm_has() -> None:
    for withheld in ({}, {"host": "expired"}):
        claim = valid(examples.two_deployments)
        listed = catalogue(resolve(claim), withheld)
        assert [row.name for row in listed] == sorted(row.name for row in listed)
        served = {model["model_name"] for model in compile_litellm(resolve(claim), withheld=withheld)["model_list"]}
        assert {row.name for row in listed if row.status == "Served"} == served


def test_a_row_as_json() -> None:
    document = rows(valid())["embed"].document()
    assert json.loads(json.dumps(document)) == {
        "name": "embed",
        "kind": "alias",
        "status": "Served",
        "reason": None,
        "operations": ["embedding"],
        "deployments": ["nomic"],
        "endpoints": ["native"],
        "postures": ["private_tls"],
        "contextTokens": 4096,
        "inputMicrosPerMillionTokens": 100,
        "outputMicrosPerMillionTokens": 300,
    }
