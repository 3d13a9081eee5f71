"""Every field that LiteLLM's source could read is refused, dropped, or one of those that were judged one by one."""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from hearth.intake.admission import SCHEMAS, admit
from hearth.intake.engines import ENGINE_FIELDS, FIELD_VALIDATORS
from hearth.intake.errors import RefusedError
from hearth.intake.names import API_FIELDS, NEVER
from hearth.intake.settings import Operation
from tests.support.litellm_reads import RECORD, names
from tests.unit.intake.bodies import BODIES, SETTINGS, passed

# What LiteLLM sees at the top of a body. Each is a parameter of the OpenAI API with one meaning, and its value is
# bounded by the schema; a name is added here by whoever has read what both LiteLLM versions do with it.
JUDGED: dict[Operation, set[str]] = {
    "chat": {
        *("model", "messages", "frequency_penalty", "logit_bias", "logprobs", "max_completion_tokens", "max_tokens"),
        *("n", "parallel_tool_calls", "presence_penalty", "reasoning_effort", "response_format", "seed", "stop"),
        *("stream", "stream_options", "temperature", "tool_choice", "tools", "top_logprobs", "top_p", "user"),
        "verbosity",
    },
    "completion": {
        *("model", "prompt", "echo", "frequency_penalty", "logit_bias", "logprobs", "max_tokens", "n"),
        *("presence_penalty", "seed", "stop", "stream", "stream_options", "suffix", "temperature", "top_p", "user"),
    },
    "embedding": {"model", "input", "dimensions", "encoding_format", "user"},
    "responses": {
        *("model", "input", "include", "instructions", "max_output_tokens", "parallel_tool_calls", "reasoning"),
        *("stream", "temperature", "text", "tool_choice", "tools", "top_logprobs", "top_p", "truncation", "user"),
    },
}
# Fields of engines that LiteLLM's source also names. They travel in `extra_body`, which goes to the model server as it
# is; each was looked up: LiteLLM reads them as parameters of other vendors, or as words of its own elsewhere.
JUDGED_IN_EXTRA_BODY = {
    *("add_generation_prompt", "add_special_tokens", "grammar", "json_schema", "reasoning", "skip_special_tokens"),
    *("top_k", "truncate_prompt_tokens"),
}


@cache
def record() -> tuple[str, ...]:
    return tuple(RECORD.read_text(encoding="utf-8").split())


@pytest.mark.parametrize("operation", SCHEMAS)
def test_what_passes_was_judged(operation: Operation) -> None:
    assert {name for name, field in SCHEMAS[operation].model_fields.items() if not field.exclude} == JUDGED[operation]


def test_what_litellm_names_of_an_engine_was_judged() -> None:
    assert set(FIELD_VALIDATORS) & set(record()) == JUDGED_IN_EXTRA_BODY


@pytest.mark.parametrize("operation", SCHEMAS)
def test_every_name_that_litellm_could_read_is_without_effect(operation: Operation) -> None:
    plain = passed(operation)
    passing = set()
    for name in record():
        if name in JUDGED[operation]:
            continue
        text = json.dumps({**BODIES[operation], name: 1}).encode()
        try:
            body = json.loads(admit(SETTINGS, operation, text).body)
        except RefusedError:
            continue
        body.pop("extra_body", None)
        if body != plain:
            passing.add(name)
    assert not passing


@pytest.mark.parametrize("operation", SCHEMAS)
def test_no_field_has_a_second_name(operation: Operation) -> None:
    assert not [name for name, field in SCHEMAS[operation].model_fields.items() if field.alias]


def test_the_names_of_the_api_are_those_of_the_schemas() -> None:
    assert {name for schema in SCHEMAS.values() for name in schema.model_fields} == API_FIELDS


def test_engines_own_fields_are_no_fields_of_the_api_and_none_that_are_never_allowed() -> None:
    assert set(FIELD_VALIDATORS) & API_FIELDS == {"reasoning"}  # of the responses API, and of Ollama's chat
    assert not set(FIELD_VALIDATORS) & NEVER
    assert set(FIELD_VALIDATORS) == set().union(*ENGINE_FIELDS.values())


FREE = {
    *("parameters", "schema", "logit_bias"),
    *("annotations", "audio", "cache_control", "caller", "function_call", "generate_summary", "images"),
    *("include_obfuscation", "index", "logprobs", "metadata", "name", "namespace", "phase", "prompt_cache_breakpoint"),
    *("prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "provider_specific_fields", "reasoning"),
    *("safety_identifier", "service_tier", "store", "thinking_blocks", "type"),
}
"""Fields whose own fields are not declared: JSON Schemas, numbers by token, and what is dropped."""


def objects(schema: Any, field: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield field, schema
        for key, value in schema.items():
            if key == "properties":
                for name, inner in value.items():
                    yield from objects(inner, name)
            else:
                yield from objects(value, field)
    elif isinstance(schema, list):
        for inner in schema:
            yield from objects(inner, field)


@pytest.mark.parametrize("operation", SCHEMAS)
def test_no_object_takes_fields_that_are_not_declared(operation: Operation) -> None:
    found = list(objects(SCHEMAS[operation].model_json_schema(by_alias=True)))
    open_objects = {field for field, schema in found if schema.get("additionalProperties") is not False}
    assert open_objects <= FREE
    assert found


PLANTED = {
    "get": 'body.get("planted")',
    "pop": 'body.pop("planted", None)',
    "setdefault": 'body.setdefault("planted", 1)',
    "getattr": 'getattr(body, "planted", None)',
    "subscript": 'body["planted"]',
    "deleted": 'del body["planted"]',
    "contains": '"planted" in body',
    "compared": 'any(key == "planted" for key in body)',
    "chosen": '{key for key in body if key in ("a", "planted")}',
    "helper": 'self._read(body, "planted")',
    "kwargs": "def call(model, **kwargs): return inner(**kwargs)\ndef inner(planted=None): ...",
    "keyword only": "def call(*, planted): ...",
    "positional only": "def call(planted, /): ...",
    "keyword of a call": "inner(planted=body)",
    "pydantic": "class Request(BaseModel):\n    planted: str | None = None",
    "TypedDict": "class Request(TypedDict, total=False):\n    planted: str",
    "alias": 'class Request(BaseModel):\n    other: str = Field(alias="planted")',
    "list of optional parameters": 'OPTIONAL = ["a", "planted"]',
    "dict of defaults": 'DEFAULTS = {"planted": None}',
    "constant": 'NAME = "planted"',
    "matched": 'match kind:\n    case "planted": ...',
    "matched key": 'match body:\n    case {"planted": value}: ...',
    "chosen name": 'name = "planted" if x else "other"',
    "lambda": "f = lambda planted: planted",
}


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_read_of_each_kind_is_found(kind: str) -> None:
    assert "planted" in names(PLANTED[kind])


def test_a_text_of_people_is_no_name() -> None:
    assert not names('"""Reads the planted field."""\nprint("planted here")')
