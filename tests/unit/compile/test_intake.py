"""What the intake is told of the claim."""

import json
from typing import Any

import pytest

from hearth.compile.intake import MOST_DEFAULT_TOKENS, START, compile_intake, intake_json, intake_program
from hearth.compile.litellm import HOOK, compile_litellm
from hearth.intake.settings import Settings
from hearth.topology.resolve import resolve
from tests.unit.claim import examples
from tests.unit.compile.manifests.samples import STACKS, loaded


def compiled(*changes: examples.Change, **options: Any) -> dict[str, Any]:
    return compile_intake(resolve(examples.load(examples.claim(*changes)).claim), **options)


@pytest.mark.parametrize("stack", STACKS)
def test_the_intake_reads_what_is_compiled_and_knows_the_names_that_litellm_knows(stack: str) -> None:
    topology = resolve(loaded(stack).claim)
    settings = Settings.model_validate_json(intake_json(compile_intake(topology)))
    assert set(settings.models) == {model["model_name"] for model in compile_litellm(topology)["model_list"]}


def test_equal_claims_give_equal_bytes() -> None:
    assert intake_json(compiled()) == intake_json(compiled())


def test_a_name_says_what_its_deployment_takes() -> None:
    def declare(values: dict[str, Any]) -> None:
        values["deployments"]["gemma-host"] |= {
            "contextTokens": 1_000, "defaultMaxTokens": 900, "extraFields": ["b_knob", "a_knob"]
        }  # fmt: skip
        values["aliases"]["house"] = {"deployments": ["gemma-host"], "residency": ["corp"]}

    model = compiled(declare)["models"]["house"]
    assert model["contextTokens"] == 1_000
    assert model["defaultMaxTokens"] == 900
    assert model["extraFields"] == ["a_knob", "b_knob"]
    assert model["engines"] == ["ollama"]


def test_an_alias_takes_what_all_of_its_deployments_take() -> None:
    def declare(values: dict[str, Any]) -> None:
        examples.two_deployments(values)
        values["deployments"]["gemma-host"] |= {"contextTokens": 1_000, "extraFields": ["a", "b"]}
        values["deployments"]["gemma-pod"] |= {"contextTokens": 2_000, "extraFields": ["b", "c"]}

    model = compiled(declare)["models"]["house"]
    assert (model["contextTokens"], model["defaultMaxTokens"]) == (1_000, 500)
    assert model["extraFields"] == ["b"]
    assert model["engines"] == ["ollama", "llamaCpp"]
    assert model["operations"] == ["chat"]


def test_a_template_by_name_takes_no_tools() -> None:
    def declare(values: dict[str, Any]) -> None:
        examples.two_deployments(values)

    named = examples.put("endpoints/pod/runtime/chatTemplate", "gemma")
    assert {name for name, model in compiled(declare)["models"].items() if not model["tools"]} == set()
    # An alias takes what all of its deployments take.
    without = {name for name, model in compiled(declare, named)["models"].items() if not model["tools"]}
    assert without == {"gemma", "house"}


def test_an_answer_without_a_bound_leaves_room_for_the_prompt() -> None:
    models = compile_intake(resolve(loaded("production").claim))["models"]
    for model in models.values():
        assert model["defaultMaxTokens"] == min(model["contextTokens"] // 2, MOST_DEFAULT_TOKENS)
    assert {model["defaultMaxTokens"] for model in models.values()} & {MOST_DEFAULT_TOKENS}


def test_what_is_withheld_counts_for_nothing() -> None:
    def declare(values: dict[str, Any]) -> None:
        examples.two_deployments(values)
        values["deployments"]["gemma-host"]["contextTokens"] = 1_000
        values["deployments"]["gemma-pod"]["contextTokens"] = 2_000

    assert compiled(declare, withheld={"host": "x"})["models"]["house"]["contextTokens"] == 2_000
    assert "house" not in compiled(declare, withheld={"host": "x", "pod": "x"})["models"]


def test_a_vendors_models_have_no_fields_of_an_engine() -> None:
    models = compile_intake(resolve(loaded("production").claim))["models"]
    vendors = [model for name, model in models.items() if "/" in name]
    assert vendors
    for model in vendors:
        assert set(model["engines"]) == {None}
        assert model["extraFields"] == []


def test_the_program_is_the_room_and_what_starts_it() -> None:
    files = intake_program().files
    assert START in files
    assert {"hearth/intake/__main__.py", "hearth/intake/hook.py", "hearth/intake/__init__.py"} <= set(files)
    assert not [path for path in files if path != START and not path.startswith("hearth/intake/")]
    assert "/".join(HOOK.split(".")[:-1]) + ".py" in files
    for path, text in files.items():
        compile(text, path, "exec")
    assert len(json.dumps(dict(files))) < 500_000


def test_a_name_has_one_deadline_the_longest_of_its_deployments() -> None:
    def declare(values: dict[str, Any]) -> None:
        examples.two_deployments(values)
        for endpoint, milliseconds in (("host", 40_000), ("pod", 50_000)):
            values["endpoints"][endpoint]["runtimeCapacity"] |= {
                "requestTimeoutMs": milliseconds, "streamSetupTimeoutMs": 1_000, "coldStartTimeoutMs": 1_000
            }  # fmt: skip

    assert compiled(declare)["models"]["house"]["deadlineMs"] == 50_000
    assert compiled(declare, withheld={"pod": "x"})["models"]["house"]["deadlineMs"] == 40_000


def test_prices_are_told_where_a_request_has_a_highest_price() -> None:
    def declare(values: dict[str, Any]) -> None:
        examples.two_deployments(values)
        values["deployments"]["gemma-host"]["contextTokens"] = 1_000
        values["aliases"]["house"]["maxCostMicros"] = 10**9

    models = compiled(declare)["models"]
    assert models["house"]["maxCostMicros"] == 10**9
    [first, second] = models["house"]["attempts"]
    assert set(first) == {"contextTokens", "inputMicrosPerMillionTokens", "outputMicrosPerMillionTokens"}
    assert first["contextTokens"] == 1_000
    assert (
        second["outputMicrosPerMillionTokens"]
        == (examples.VALID["deployments"]["gemma-pod"]["pricing"]["outputMicrosPerMillionTokens"])
    )
    assert compiled(examples.two_deployments)["models"]["house"]["attempts"] == []


def test_a_name_of_vectors_says_their_space() -> None:
    def declare(values: dict[str, Any]) -> None:
        values["aliases"]["vectors"] = {"deployments": ["nomic"], "residency": ["corp"]}

    models = compiled(declare)["models"]
    assert models["vectors"]["embeddingSpace"] == examples.VALID["deployments"]["nomic"]["embeddingSpace"]
    assert models["gemma"]["embeddingSpace"] is None
