"""The OpenAI SDK against the sidecar: it reads every answer, and every refusal becomes the error that it means."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam

from tests.support.proxy_claims import capacity, claim, sidecar_endpoint
from tests.wire.client import wait_for
from tests.wire.counting import Connection, Gate, Request
from tests.wire.sidecar_bench import ENDPOINT, TOKEN, Bench, running_sidecar

pytestmark = pytest.mark.wire

ASK: list[ChatCompletionMessageParam] = [{"role": "user", "content": "hello"}]
CHUNK = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}


@pytest.fixture(scope="module")
def bench(haproxy_binary: str, folder: Path) -> Iterator[Bench]:
    found = claim({ENDPOINT: sidecar_endpoint(runtimeCapacity=capacity(1, 0))}, operations=("chat", "embedding"))
    with running_sidecar(haproxy_binary, folder, found) as running:
        yield running


@pytest.fixture(autouse=True)
def _fresh(bench: Bench) -> None:
    bench.upstream.reset()


def sdk(bench: Bench, token: str = TOKEN) -> openai.OpenAI:
    assert bench.server.tls is not None
    client = httpx.Client(verify=bench.server.tls, trust_env=False)
    return openai.OpenAI(base_url="https://127.0.0.1:8443/v1", api_key=token, max_retries=0, http_client=client)


def chat(connection: Connection, request: Request) -> None:
    if not json.loads(request.body).get("stream"):
        message = {"role": "assistant", "content": "good day"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        connection.json(200, {**CHUNK, "object": "chat.completion", "choices": [choice]})
        return
    connection.start_stream()
    for text in ("good", " day"):
        event = {**CHUNK, "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}
        connection.chunk(f"data: {json.dumps(event)}\n\n".encode())
    connection.chunk(b"data: [DONE]\n\n")
    connection.end_stream()


def test_chat_and_stream(bench: Bench) -> None:
    bench.upstream.behaviour = chat
    client = sdk(bench)
    answer = client.chat.completions.create(model="m", messages=ASK)
    assert answer.choices[0].message.content == "good day"
    events = client.chat.completions.create(model="m", messages=ASK, stream=True)
    assert [event.choices[0].delta.content for event in events] == ["good", " day"]


def test_embeddings(bench: Bench) -> None:
    data = [{"object": "embedding", "index": 0, "embedding": [0.5, -0.5]}]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    bench.upstream.behaviour = lambda connection, _: connection.json(
        200, {"object": "list", "data": data, "model": "m", "usage": usage}
    )
    answer = sdk(bench).embeddings.create(model="m", input="a", encoding_format="float")
    assert answer.data[0].embedding == [0.5, -0.5]


def test_refusals_are_the_errors_that_they_mean(bench: Bench) -> None:
    with pytest.raises(openai.AuthenticationError) as unknown:
        sdk(bench, "another-token").chat.completions.create(model="m", messages=ASK)
    assert unknown.value.code == "invalid_api_key"
    with pytest.raises(openai.NotFoundError) as undeclared:
        sdk(bench).responses.create(model="m", input="a")
    assert undeclared.value.code == "not_found"
    with pytest.raises(openai.APIStatusError) as large:
        sdk(bench).embeddings.create(model="m", input="x" * 300_000)
    assert (large.value.status_code, large.value.code) == (413, "request_too_large")
    assert bench.upstream.connections == 0


def test_a_full_queue_is_a_rate_limit_with_its_time(bench: Bench) -> None:
    gate = bench.upstream.behaviour = Gate()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(bench.post)
        assert wait_for(lambda: gate.held == 1)
        with pytest.raises(openai.RateLimitError) as full:
            sdk(bench).chat.completions.create(model="m", messages=ASK)
        gate.open()
        assert first.result().status == 200
    assert full.value.code == "queue_full"
    assert full.value.response.headers["retry-after"] == "1"
