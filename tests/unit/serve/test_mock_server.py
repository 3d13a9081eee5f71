"""The mock model server, over real connections on loopback."""

import http.client
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest

from hearth.serve.mock_server import ANSWER, DIMENSIONS, LARGEST_REQUEST, MODEL, MOST_INPUTS, Server
from tests.support.serving import serving


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(Server(("127.0.0.1", 0))) as made:
        yield made


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"http://127.0.0.1:{server.server_address[1]}", timeout=30) as made:
        yield made


@pytest.fixture
def sdk(server: Server) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"http://127.0.0.1:{server.server_address[1]}/v1", api_key="none", max_retries=0)


def test_it_says_that_it_is_a_mock(client: httpx.Client) -> None:
    assert client.get("/health").json() == {"status": "ok", "mock": True}
    assert [model["id"] for model in client.get("/v1/models").json()["data"]] == [MODEL]


def test_chat(sdk: openai.OpenAI) -> None:
    answer = sdk.chat.completions.create(model="any", messages=[{"role": "user", "content": "one two three"}])
    assert answer.choices[0].message.content == ANSWER
    assert answer.model == "any"
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (3, len(ANSWER.split()))


def test_chat_with_content_in_parts(sdk: openai.OpenAI) -> None:
    parts: Any = [{"type": "text", "text": "one two"}, {"type": "text", "text": "three"}]
    answer = sdk.chat.completions.create(model="any", messages=[{"role": "user", "content": parts}])
    assert answer.usage is not None
    assert answer.usage.prompt_tokens == 3


def test_a_stream_ends_with_its_usage(sdk: openai.OpenAI) -> None:
    chunks = list(
        sdk.chat.completions.create(
            model="any",
            messages=[{"role": "user", "content": "hello"}],
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == ANSWER
    assert len({chunk.id for chunk in chunks}) == 1
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.prompt_tokens == 1


def test_answers_have_ids_of_their_own(sdk: openai.OpenAI) -> None:
    ids = {sdk.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}]).id for _ in range(3)}
    assert len(ids) == 3


def test_completion_and_its_stream(sdk: openai.OpenAI) -> None:
    assert sdk.completions.create(model="m", prompt="hello").choices[0].text == ANSWER
    chunks = sdk.completions.create(model="m", prompt="hello", stream=True)
    assert "".join(chunk.choices[0].text for chunk in chunks) == ANSWER


def test_embeddings_are_the_same_for_the_same_text(client: httpx.Client) -> None:
    answer = client.post("/v1/embeddings", json={"model": "m", "input": ["a", "b", "a"]}).json()
    vectors = [entry["embedding"] for entry in answer["data"]]
    assert vectors[0] == vectors[2] != vectors[1]
    assert all(len(vector) == DIMENSIONS and all(-1 <= value <= 1 for value in vector) for vector in vectors)
    assert [entry["index"] for entry in answer["data"]] == [0, 1, 2]
    assert answer["usage"] == {"prompt_tokens": 3, "total_tokens": 3}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", {}),
        ("/v1/chat/completions", {"messages": []}),
        ("/v1/chat/completions", {"messages": ["x"]}),
        ("/v1/chat/completions", {"messages": "x", "stream": True}),
        ("/v1/completions", {}),
        ("/v1/embeddings", {"input": []}),
        ("/v1/embeddings", {"input": [1]}),
        ("/v1/embeddings", {"input": ["x"] * (MOST_INPUTS + 1)}),
        ("/v1/embeddings", ["x"]),
    ],
)
def test_a_wrong_request_gets_an_error_of_the_api(client: httpx.Client, path: str, body: object) -> None:
    answer = client.post(path, json=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "invalid_request_error"


def test_what_is_not_json_is_refused(client: httpx.Client) -> None:
    assert client.post("/v1/chat/completions", content=b"{").status_code == 400


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("GET", "/v1/chat/completions"),
        ("GET", "/health/"),
        ("GET", "/v1/./models"),
        ("GET", "/v1/models?x=1"),
        ("POST", "/v1/models"),
        ("POST", "/v1//chat/completions"),
    ],
)
def test_only_exact_paths_answer(server: Server, method: str, path: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=30)
    connection.request(method, path, body="{}" if method == "POST" else None)
    assert connection.getresponse().status == 404
    connection.close()


def test_a_request_has_a_length_and_a_bound(server: Server) -> None:
    def status(head: str) -> bytes:
        with socket.create_connection(("127.0.0.1", server.server_address[1]), timeout=30) as connection:
            connection.sendall(f"POST /v1/completions HTTP/1.1\r\nHost: x\r\n{head}\r\n\r\n".encode())
            return connection.recv(64).split(b" ")[1]

    assert status("Content-Length: -1") == b"411"
    assert status("Transfer-Encoding: chunked") == b"411"
    assert status(f"Content-Length: {LARGEST_REQUEST + 1}") == b"413"


def test_an_error_closes_the_connection_so_that_a_body_is_no_request(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.server_address[1]), timeout=30) as connection:
        inner = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
        head = f"POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: {LARGEST_REQUEST + 1}\r\n\r\n"
        connection.sendall((head + inner).encode())
        received = b""
        try:
            while block := connection.recv(4096):
                received += block
        except ConnectionResetError:
            pass
        assert received.count(b"HTTP/1.1 ") == 1


def test_no_answer_says_what_runs_it(client: httpx.Client) -> None:
    assert "Python" not in client.get("/health").headers["server"]


def test_it_ends_when_told_to(tmp_path: Any) -> None:
    import signal
    import subprocess
    import sys
    from pathlib import Path

    program = Path(__file__).resolve().parents[3] / "hearth" / "serve" / "mock_server.py"
    process = subprocess.Popen(
        [sys.executable, "-I", str(program), "--host", "127.0.0.1", "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    with process.stdout as output:
        line = output.readline()
        port = int(line.rsplit(":", 1)[1])
        assert httpx.get(f"http://127.0.0.1:{port}/health", timeout=30).status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0
