"""Which bodies LiteLLM sees, and in which form."""

import json
from typing import Any

import pytest

from hearth.intake import errors
from hearth.intake.admission import MOST_EXTRA_BYTES, ModelRefusedError, admit
from hearth.intake.errors import RefusedError
from hearth.intake.fields import MOST_TOOLS
from hearth.intake.settings import Operation
from tests.unit.intake.bodies import BODIES, MESSAGES, SETTINGS, passed, refused

PNG = "data:image/png;base64,iVBORw0KGgo="


def test_a_body_is_written_anew() -> None:
    text = b' { "messages" : [ {"content":"\\u00e9","role":"user"} ] ,\n "model":"gemma", "max_tokens": 5 } '
    assert admit(SETTINGS, "chat", text).body == (
        '{"model":"gemma","messages":[{"role":"user","content":"é"}],"max_tokens":5}'.encode()
    )


@pytest.mark.parametrize("operation", BODIES)
def test_the_smallest_body_passes(operation: Operation) -> None:
    limit = {"chat": "max_tokens", "completion": "max_tokens", "responses": "max_output_tokens"}.get(operation)
    assert passed(operation) == {**BODIES[operation], **({limit: 1_024} if limit else {})}


@pytest.mark.parametrize("text", [b"null", b"[1]", b'"x"', b"1", b"true"])
def test_anything_but_an_object_is_refused(text: bytes) -> None:
    with pytest.raises(RefusedError) as caught:
        admit(SETTINGS, "chat", text)
    assert caught.value.refusal is errors.INVALID_JSON


def parts(*content: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": list(content)}]}


# What was done with one request (each was seen to work against LiteLLM without an intake).
ATTACKS: dict[str, dict[str, Any]] = {
    "1 any address": {"custom_llm_provider": "gigachat", "gigachat_auth_url": "http://127.0.0.1:4001/key/generate"},
    "1 api_base": {"api_base": "http://127.0.0.1:4001"},
    "1 base_url": {"base_url": "http://127.0.0.1:4001"},
    "2 any file": {"custom_llm_provider": "oci", "oci_key_file": "/dev/zero"},
    "3 no price": {"custom_llm_provider": "lemonade"},
    "3 own price": {"input_cost_per_token": 0},
    "4 no spend row": {"no-log": True},
    "4 n_predict": {"max_tokens": 1, "n_predict": 60},
    "4 two spellings": {"max_tokens": 1, "max_completion_tokens": 60},
    "4 extra_body": {"max_tokens": 1, "extra_body": {"max_tokens": 60}},
    "5 NUL in user": {"user": "a\u0000b"},
    "5 long user": {"user": "x" * 8_000},
    "6 num_retries": {"num_retries": 5},
    "6 timeout": {"timeout": "abc"},
    "6 fallbacks": {"fallbacks": ["vendor/chat"]},
    "6 several models": {"model": "gemma,gemma,gemma"},
    "6 no bound": {"max_tokens": -1},
    "6 model null": {"model": None},
    "6 model list": {"model": ["gemma"]},
    "6 original_function": {"original_function": "x"},
    "6 client": {"client": {}},
    "9 top_logprobs": {"logprobs": True, "top_logprobs": 1_000_000},
    "9 tools": {"tools": [{"type": "function", "function": {"name": f"f{n}"}} for n in range(MOST_TOOLS + 1)]},
    "mock": {"mock_response": "x"},
    "guardrails": {"guardrails": ["x"]},
    "litellm_metadata": {"litellm_metadata": {}},
    "extra_headers": {"extra_headers": {"x-litellm-tags": "x"}},
    "cache": {"cache": {"no-cache": True}},
    "deployment id": {"model": "6f1c7d2e-5f0a-5c1e-9a7b-0d5f3f1e8a44"},
    "path as model": {"model": "../gemma"},
    "vendor prefix": {"model": "openai/gemma"},
    "choices": {"n": 9},
    "image address": parts({"type": "image_url", "image_url": {"url": "http://169.254.169.254/"}}),
    "image file": parts({"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}),
    "image text": parts({"type": "image_url", "image_url": "http://169.254.169.254/"}),
    "svg": parts({"type": "image_url", "image_url": {"url": "data:image/svg+xml;base64,AAAA"}}),
    "file id": parts({"type": "file", "file": {"file_id": "file-1"}}),
    "video": parts({"type": "video_url", "video_url": {"url": PNG}}),
    "message order": {"messages": [{"role": "user", "content": "x", "cache_control": {"type": "ephemeral"}}]},
    "mcp": {"tools": [{"type": "mcp", "server_label": "x", "server_url": "http://x"}]},
    "web search": {"web_search_options": {}},
    "tool name": {"tools": [{"type": "function", "function": {"name": "a'; DROP TABLE x; --"}}]},
    "schema elsewhere": {"tools": [{"type": "function", "function": {"name": "f", "parameters": {"$ref": "http://x"}}}]},
    "schema elsewhere in the answer": {
        "response_format": {"type": "json_schema", "json_schema": {"name": "f", "schema": {"a": [{"$ref": "file:///x"}]}}}
    },
    "stops": {"stop": ["x"] * 17},
    "biases": {"logit_bias": {str(n): 1 for n in range(1_025)}},
    "bias of a word": {"logit_bias": {"x": 1}},
    "template": {"chat_template": "{{ 7 * 7 }}"},
    "template by argument": {"chat_template_kwargs": {"chat_template": "x"}},
    "slot": {"id_slot": 1},
    "adapter": {"lora": [{"id": 0, "scale": 1}]},
}  # fmt: skip


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused(name: str) -> None:
    refusal = refused(**ATTACKS[name])
    assert refusal.refusal.status in (400, 404)
    assert refusal.message


@pytest.mark.parametrize(
    ("operation", "fields"),
    [
        ("embedding", {"input": [1, 2, 3]}),
        ("embedding", {"input": [[1, 2], [3]]}),
        ("completion", {"prompt": [1, 2, 3]}),
        ("completion", {"prompt": [[1]]}),
    ],
)
def test_token_numbers_are_refused_with_the_remedy(operation: Operation, fields: dict[str, Any]) -> None:
    assert "check_embedding_ctx_length" in refused(operation, **fields).message


@pytest.mark.parametrize(
    ("operation", "fields"),
    [
        ("embedding", {"input": []}),
        ("embedding", {"input": ""}),
        ("embedding", {"input": ["x"] * 2_049}),
        ("embedding", {"dimensions": 0}),
        ("completion", {"best_of": 2}),
        ("completion", {"prompt": ["x"] * 5, "n": 2}),
        ("completion", {"prompt": ["x"] * 9}),
        ("responses", {"background": True}),
        ("responses", {"previous_response_id": "resp_1"}),
        ("responses", {"conversation": "conv_1"}),
        ("responses", {"prompt": {"id": "x"}}),
        ("responses", {"tools": [{"type": "web_search"}]}),
        ("responses", {"tools": [{"type": "mcp", "server_url": "http://x"}]}),
        ("responses", {"tools": [{"type": "code_interpreter", "container": {"type": "auto"}}]}),
        ("responses", {"input": [{"type": "item_reference", "id": "x"}]}),
        ("responses", {"input": [{"type": "computer_call"}]}),
        ("responses", {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "http://x"}]}]}),
        ("responses", {"input": [{"role": "user", "content": [{"type": "input_image", "file_id": "x"}]}]}),
        ("responses", {"input": [{"role": "user", "content": [{"type": "input_file", "file_url": "http://x"}]}]}),
        ("responses", {"include": ["file_search_call.results"]}),
        ("responses", {"max_tokens": 5}),
    ],
)  # fmt: skip
def test_the_other_operations_have_bounds_too(operation: Operation, fields: dict[str, Any]) -> None:
    assert refused(operation, **fields).refusal.status == 400


def test_an_unknown_field_is_named_with_the_way_to_allow_it() -> None:
    refusal = refused(top_kk=1, **{"no-log": True})
    assert refusal.refusal is errors.UNKNOWN_PARAMETER
    assert refusal.param == "top_kk"
    assert "top_kk" in refusal.message
    assert "no-log" in refusal.message
    assert "`extraFields`" in refusal.message


def test_a_name_of_the_caller_is_shown_in_bounds() -> None:
    refusal = refused(**{"<script>\u202e" + "x" * 10_000: 1})
    assert refusal.message.isascii()
    assert len(refusal.message) < 300


def test_every_wrong_field_is_told_at_once() -> None:
    message = refused(temperature="1", n=0, messages=[{"role": "user"}]).message
    for path in ("temperature: ", "n: ", "messages[0].content: is required"):
        assert path in message


@pytest.mark.parametrize(
    "fields",
    [
        {"store": True},
        {"service_tier": "auto"},
        {"prompt_cache_key": "x"},
        {"safety_identifier": "x"},
        {"metadata": {"user_id": "x", "tags": ["y"]}},
        {"modalities": ["text"]},
        {"stop": None, "tools": None, "response_format": None, "seed": None, "user": None},
        {"stream_options": {"include_usage": True}},
    ],
)
def test_what_clients_send_unasked_is_left_out(fields: dict[str, Any]) -> None:
    assert passed(**fields) == passed()


def test_an_answer_can_be_given_back_as_it_came() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    answer = {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "annotations": [],
        "audio": None,
        "function_call": None,
        "tool_calls": [call],
        "provider_specific_fields": {"refusal": None},
    }
    result = {"role": "tool", "tool_call_id": "call_1", "content": "42"}
    assert passed(messages=[*MESSAGES, answer, result])["messages"] == [
        *MESSAGES,
        {"role": "assistant", "content": None, "refusal": None, "tool_calls": [call]},
        result,
    ]


def test_images_inside_the_request_pass() -> None:
    content = [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": PNG, "detail": "low"}}]
    assert passed(messages=[{"role": "user", "content": content}])["messages"][0]["content"] == content


@pytest.mark.parametrize("spelling", ["max_tokens", "max_completion_tokens"])
def test_every_spelling_means_one_number(spelling: str) -> None:
    body = passed(**{spelling: 7})
    assert body["max_tokens"] == 7
    assert "max_completion_tokens" not in body
    assert passed(max_tokens=7, max_completion_tokens=7) == body


def test_no_answer_is_longer_than_the_context() -> None:
    assert passed(max_tokens=8_192)["max_tokens"] == 8_192
    refusal = refused(max_tokens=8_193)
    assert isinstance(refusal, ModelRefusedError)
    assert "8192" in refusal.message


def test_the_model_servers_own_fields_travel_where_litellm_does_not_look() -> None:
    body = passed(top_k=40, min_p=0.1, special_knob={"a": 1}, chat_template_kwargs={"enable_thinking": False})
    assert body.pop("extra_body") == {
        "top_k": 40,
        "min_p": 0.1,
        "special_knob": {"a": 1},
        "chat_template_kwargs": {"enable_thinking": False},
    }
    assert body == passed()


def test_only_what_every_deployment_takes_passes() -> None:
    assert passed(model="mixed", top_k=4)["extra_body"] == {"top_k": 4}
    assert passed(model="large", repetition_penalty=1.1)["extra_body"] == {"repetition_penalty": 1.1}
    for model, field in (("mixed", "repetition_penalty"), ("large", "mirostat"), ("vendor/chat", "top_k")):
        refusal = refused(model=model, **{field: 1})
        assert isinstance(refusal, ModelRefusedError)
        assert refusal.refusal is errors.UNKNOWN_PARAMETER


def test_no_claim_allows_a_second_bound() -> None:
    assert refused(n_predict=5).refusal is errors.UNKNOWN_PARAMETER  # although extraFields names it


@pytest.mark.parametrize(
    "fields", [{"top_k": "x"}, {"n_probs": 1_000_000}, {"samplers": "x"}, {"special_knob": "x" * MOST_EXTRA_BYTES}]
)
def test_the_model_servers_own_fields_have_types_and_bounds(fields: dict[str, Any]) -> None:
    assert refused(**fields).refusal is errors.INVALID_PARAMETER


def test_a_model_that_is_not_there_and_one_without_the_operation() -> None:
    unknown = refused(model="nothing")
    assert isinstance(unknown, ModelRefusedError)
    assert unknown.refusal is errors.MODEL_NOT_FOUND
    other = refused("embedding", model="large")
    assert isinstance(other, ModelRefusedError)
    assert other.refusal is errors.OPERATION_NOT_OFFERED


def test_what_is_wrong_for_every_model_is_said_without_looking_for_it() -> None:
    first, second = refused(model="nothing", temperature=9), refused(model="gemma", temperature=9)
    assert not isinstance(first, ModelRefusedError)
    assert first.message == second.message


@pytest.mark.parametrize("person", ["alice", "a@b.example", "tenant|42", "x" * 128])
def test_a_person_is_named_by_field_or_header(person: str) -> None:
    assert passed(user=person)["user"] == person
    assert passed(header_user=person)["user"] == person
    assert passed(user=person, header_user=person)["user"] == person


@pytest.mark.parametrize("person", ["", "a b", "a\nb", "x" * 129, "é"])
def test_a_person_has_a_plain_name(person: str) -> None:
    assert refused(user=person).param == "user"
    assert refused(header_user=person).param == "user"


def test_two_persons_are_refused() -> None:
    assert refused(user="alice", header_user="bob").param == "user"


def test_a_refusal_repeats_no_value() -> None:
    secret = "sk-value-of-the-caller"
    for fields in ({"user": secret + "\n"}, {"temperature": secret}, {"stop": {"a": secret}}, {"model": secret + ","}):
        assert secret not in refused(**fields).message


def test_a_stream_is_known_as_one() -> None:
    text = json.dumps({**BODIES["chat"], "stream": True, "stream_options": {"include_usage": True}}).encode()
    admitted = admit(SETTINGS, "chat", text)
    assert admitted.stream
    assert json.loads(admitted.body)["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize("options", [{}, {"stream_options": None}, {"stream_options": {"include_usage": False}}])
def test_a_streamed_completion_says_what_it_cost(options: dict[str, Any]) -> None:
    assert passed("completion", stream=True, **options)["stream_options"] == {"include_usage": True}
    assert "stream_options" not in passed("completion", **options)


@pytest.mark.parametrize("operation", ["chat", "responses"])
@pytest.mark.parametrize("choice", [{}, {"tool_choice": "none"}])
def test_a_model_that_takes_no_tools_is_asked_for_none(operation: Operation, choice: dict[str, Any]) -> None:
    function = {"name": "f", "parameters": {"type": "object"}}
    tool = {"type": "function", **(function if operation == "responses" else {"function": function})}
    body = {**BODIES[operation], "tools": [tool], **choice}
    plain = SETTINGS.models[body["model"]]
    without = SETTINGS.model_copy(update={"models": {body["model"]: plain.model_copy(update={"tools": False})}})
    assert admit(SETTINGS, operation, json.dumps(body).encode())
    with pytest.raises(ModelRefusedError) as caught:
        admit(without, operation, json.dumps(body).encode())
    assert (caught.value.refusal, caught.value.param) == (errors.INVALID_PARAMETER, "tools")
    assert "tools: this model takes no tools." in caught.value.message
    assert admit(without, operation, json.dumps({**BODIES[operation], "tools": []}).encode())
