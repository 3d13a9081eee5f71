"""What a tenant's application gets with nothing but its Secret (S3-47, S4-2)."""

import json

import pytest

from tests.cluster.chats import ask
from tests.cluster.platform import Platform

pytestmark = pytest.mark.cluster


def test_the_real_model_answers_a_chat_by_the_sdk(platform: Platform) -> None:
    answer = ask(
        platform,
        """
r = client.chat.completions.create(model="gemma", max_tokens=16, messages=[{"role": "user", "content": "Say hello."}])
import json; print(json.dumps([r.choices[0].message.content, r.usage.completion_tokens]))
""",
    )
    text, tokens = json.loads(answer)
    assert text.strip()
    assert 1 <= tokens <= 16


def test_the_real_model_streams(platform: Platform) -> None:
    answer = ask(
        platform,
        """
pieces = [e.choices[0].delta.content for e in client.chat.completions.create(model="gemma", max_tokens=16, stream=True,
    messages=[{"role": "user", "content": "Count to five."}]) if e.choices and e.choices[0].delta.content]
print(len(pieces))
""",
    )
    assert int(answer) >= 3, "an answer in one piece is not a stream"


def test_the_real_model_with_a_template_by_name_says_that_it_takes_no_tools(platform: Platform) -> None:
    """llama.cpp itself answers it with 500, as if it were at fault."""
    answer = ask(
        platform,
        """
tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
try:
    messages = [{"role": "user", "content": "x"}]
    client.chat.completions.create(model="gemma", max_tokens=4, tools=[tool], messages=messages)
    print("answered")
except openai.APIStatusError as error:
    print(error.status_code, error.code, error.param)
""",
    )
    assert answer.strip() == "400 invalid_parameter tools"


def test_curl_works_with_the_three_values_of_the_secret(platform: Platform) -> None:
    secret = platform.kube.secret("tenant-family", "llm-credentials-notes")
    assert secret["OPENAI_API_BASE"] == secret["OPENAI_API_BASE_URL"] == secret["OPENAI_BASE_URL"]
    body = '{"model":"scripted","messages":[{"role":"user","content":"x"}],"stream":true}'
    text = platform.kube.execute(
        "tenant-family",
        "notes",
        "sh",
        "-c",
        'curl -sS -N -H "Authorization: Bearer $OPENAI_API_KEY" -H "Content-Type: application/json" '
        '-d @- "$OPENAI_API_BASE/chat/completions"',
        stdin=body,
    )
    assert text.rstrip().endswith("data: [DONE]")
    assert '"content":"a "' in text


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (
            'r = client.chat.completions.create(model="scripted", messages=[{"role": "user", "content": "x"}])\n'
            "print(r.choices[0].message.content, r.usage.total_tokens)",
            "a scripted answer 15",
        ),
        (
            'r = client.completions.create(model="scripted", prompt="x")\n'
            "print(r.choices[0].text, r.usage.total_tokens)",
            "a scripted answer 15",
        ),
        (
            'r = client.embeddings.create(model="vectors", input=["x", "y"], encoding_format="float")\n'
            "print([d.embedding for d in r.data])",
            "[[0.25, -0.5, 0.75], [0.25, -0.5, 0.75]]",
        ),
        (
            'r = client.responses.create(model="answers", input="x")\nprint(r.output_text, r.usage.total_tokens)',
            "a scripted answer 15",
        ),
    ],
    ids=["chat", "completions", "embeddings", "responses"],
)
def test_client_contracts_hold_through_the_gateway(platform: Platform, program: str, expected: str) -> None:
    assert ask(platform, program).strip() == expected


def hits(platform: Platform) -> dict[str, int]:
    text = platform.kube.python(
        "scripted",
        "upstream",
        "import ssl, urllib.request\nc = ssl._create_unverified_context()\n"
        "print(urllib.request.urlopen('https://127.0.0.1:8443/hits', context=c).read().decode())",
    )
    return dict(json.loads(text)["hits"])


@pytest.mark.parametrize(
    ("program", "path"),
    [
        ('client.completions.create(model="scripted", prompt="x")', "/v1/completions"),
        ('client.responses.create(model="answers", input="x")', "/v1/responses"),
    ],
)
def test_an_operation_reaches_its_own_path_upstream(platform: Platform, program: str, path: str) -> None:
    before = hits(platform).get(path, 0)
    ask(platform, program)
    assert hits(platform).get(path, 0) == before + 1


def test_an_operation_that_is_not_declared_is_refused(platform: Platform) -> None:
    before = hits(platform)
    answer = ask(
        platform,
        """
try:
    client.embeddings.create(model="scripted", input="x", encoding_format="float"); print("answered")
except openai.APIStatusError as error:
    print(error.status_code)
""",
    )
    assert answer.strip() != "answered"
    assert hits(platform) == before


def test_an_application_sees_the_models_of_its_own_key(platform: Platform) -> None:
    program = "print(sorted(m.id for m in client.models.list()))"
    assert ask(platform, program) == f"{sorted(platform.claim['aliases'])}\n"
    assert ask(platform, program, "tenant-guests", "kiosk") == "['scripted']\n"


@pytest.mark.parametrize("model", ["gemma", "no-such-model"])
def test_a_model_outside_the_key_is_not_there(platform: Platform, model: str) -> None:
    program = f"""
try:
    client.chat.completions.create(model="{model}", messages=[{{"role": "user", "content": "x"}}]); print("answered")
except openai.APIStatusError as error:
    print(error.status_code, error.code)
"""
    assert ask(platform, program, "tenant-guests", "kiosk").strip() == "404 model_not_found"


def test_a_wrong_key_is_401(platform: Platform) -> None:
    program = """
try:
    openai.OpenAI(api_key="sk-wrong-0123456789abcdef", max_retries=0).models.list(); print("answered")
except openai.APIStatusError as error:
    print(error.status_code)
"""
    assert ask(platform, program).strip() == "401"
