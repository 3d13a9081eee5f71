"""What real LiteLLM does with the compiled configuration: paths, order, retries, time, parameters.

LiteLLM runs here without database and Valkey, and the model servers are scripted.
"""

import contextlib
import json
import re
import secrets
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from hearth.claim.operations import OPERATIONS
from hearth.compile.litellm import compile_litellm, litellm_yaml
from hearth.compile.manifests.credentials import SecretNames
from hearth.compile.manifests.gateway import _litellm_environment
from hearth.topology.resolve import resolve
from tests.support.litellm import LiteLLMProgram, is_alive
from tests.support.processes import Processes, free_port
from tests.unit.claim import examples

pytestmark = pytest.mark.wire

BODIES: dict[str, dict[str, Any]] = {
    "chat": {"messages": [{"role": "user", "content": "x"}]},
    "completion": {"prompt": "x"},
    "embedding": {"input": "x"},
    "responses": {"input": "x"},
}


class ModelServer(ThreadingHTTPServer):
    """A model server that answers with one status, after a delay, and remembers what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status, self.delay = 200, 0.0
        self.asked: list[tuple[str, dict[str, Any]]] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def paths(self) -> list[str]:
        """What was asked, by the path that the guard goes on with."""
        return [re.sub(r"^/u/endpoint-(host|pod)/", "/v1/", path) for path, _ in self.asked]


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer

    def log_message(self, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, body))
        time.sleep(self.server.delay)
        answer = self._answer(body) if self.server.status == 200 else {"error": {"message": "scripted"}}
        data = json.dumps(answer).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        with contextlib.suppress(BrokenPipeError):
            self.wfile.write(data)

    def _answer(self, body: dict[str, Any]) -> dict[str, Any]:
        base = {"id": secrets.token_hex(8), "model": body["model"], "created": 1}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        if self.path.endswith("/chat/completions"):
            choice = {"index": 0, "message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}
            return {**base, "object": "chat.completion", "choices": [choice], "usage": usage}
        if self.path.endswith("/completions"):
            choice = {"index": 0, "text": "x", "finish_reason": "stop", "logprobs": None}
            return {**base, "object": "text_completion", "choices": [choice], "usage": usage}
        if self.path.endswith("/embeddings"):
            return {**base, "object": "list", "data": [{"object": "embedding", "index": 0, "embedding": [0.5]}]}
        return {**base, "object": "response", "created_at": 1, "status": "completed", "output": []}


class Gateway:
    """LiteLLM in front of the two model servers of the alias `house`, in the order of the claim."""

    def __init__(self, program: LiteLLMProgram, folder: Path) -> None:
        self.first, self.second = ModelServer(), ModelServer()
        short = [
            examples.put(f"endpoints/{name}/runtimeCapacity/{field}", 2_000)
            for name in ("host", "pod")
            for field in ("requestTimeoutMs", "streamSetupTimeoutMs", "coldStartTimeoutMs")
        ]
        config = compile_litellm(resolve(examples.load(examples.claim(examples.two_deployments, *short)).claim))
        # Without database and Valkey; everything that decides about routing stays as it was compiled.
        config["general_settings"] = {"master_key": config["general_settings"]["master_key"]}
        for model in config["model_list"]:
            server = {"host": self.first, "pod": self.second}.get(model["model_info"].get("endpoint"), self.first)
            base = model["litellm_params"]["api_base"]
            model["litellm_params"]["api_base"] = re.sub(r":\d+", f":{server.server_address[1]}", base, count=1)
        (folder / "config.yaml").write_text(litellm_yaml(config))
        self.key, self.port = f"sk-{secrets.token_hex(16)}", free_port()
        topology = resolve(examples.load(examples.claim()).claim)
        names = SecretNames.by_reference(topology)
        compiled = {item["name"]: item["value"] for item in _litellm_environment(topology, names) if "value" in item}
        plain = {name: value for name, value in compiled.items() if not name.startswith("REDIS_")}
        environment = {**plain, **program.environment(folder), "LITELLM_MASTER_KEY": self.key}
        self._processes = Processes(folder)
        self._processes.start("litellm", program.command(folder / "config.yaml", self.port), environment)

    def wait(self) -> None:
        self._processes.wait(lambda: is_alive(f"http://127.0.0.1:{self.port}"))

    def ask(self, operation: str, model: str = "house", **parameters: Any) -> httpx.Response:
        url = f"http://127.0.0.1:{self.port}/v1{OPERATIONS[operation].path}"  # type: ignore[index]
        body = {"model": model, **BODIES[operation], **parameters}
        return httpx.post(url, headers={"Authorization": f"Bearer {self.key}"}, json=body, timeout=60)

    def stop(self) -> None:
        self._processes.stop()
        for server in (self.first, self.second):
            server.shutdown()
            server.server_close()


@pytest.fixture(scope="module")
def started(litellm_program: LiteLLMProgram, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    gateway = Gateway(litellm_program, tmp_path_factory.mktemp("litellm"))
    try:
        gateway.wait()
        yield gateway
    finally:
        gateway.stop()


@pytest.fixture
def gateway(started: Gateway) -> Gateway:
    for server in (started.first, started.second):
        server.status, server.delay = 200, 0.0
        server.asked.clear()
    return started


@pytest.mark.parametrize("operation", BODIES)
def test_each_operation_goes_to_its_own_path_of_the_first(gateway: Gateway, operation: str) -> None:
    assert gateway.ask(operation).status_code == 200
    path = OPERATIONS[operation].path  # type: ignore[index]
    assert (gateway.first.paths, gateway.second.paths) == ([f"/v1{path}"], [])
    assert gateway.first.asked[0][1]["model"] == "gemma3:270m"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504])
@pytest.mark.parametrize("operation", BODIES)
def test_the_second_is_asked_once_when_the_first_cannot(gateway: Gateway, operation: str, status: int) -> None:
    gateway.first.status = status
    assert gateway.ask(operation).status_code == 200
    assert (len(gateway.first.asked), len(gateway.second.asked)) == (1, 1)


@pytest.mark.parametrize("status", [422, 429, 503])
def test_an_alias_with_one_deployment_goes_nowhere_else(gateway: Gateway, status: int) -> None:
    gateway.second.status = status
    assert gateway.ask("chat", model="gemma").status_code == status
    assert (gateway.first.paths, gateway.second.paths) == ([], ["/v1/chat/completions"])


def test_failures_take_nothing_away_from_the_next_request(gateway: Gateway) -> None:
    gateway.second.status = 404
    for _ in range(5):
        assert gateway.ask("embedding", model="gemma").status_code == 404
    gateway.second.status = 200
    assert gateway.ask("chat", model="gemma").status_code == 200


def test_a_deployment_that_is_too_slow_counts_as_failed(gateway: Gateway) -> None:
    gateway.first.delay = 6
    assert gateway.ask("chat").status_code == 200
    assert (len(gateway.first.asked), len(gateway.second.asked)) == (1, 1)


def test_parameters_are_passed_on_or_refused_and_a_person_stays_unnamed(gateway: Gateway) -> None:
    sent: dict[str, dict[str, Any]] = {
        "chat": {"tools": [{"type": "function", "function": {"name": "f", "strict": True}}], "top_k": 5, "seed": 1},
        "completion": {"prompt": [[1, 2], [3]], "echo": True},
        "embedding": {"dimensions": 4, "encoding_format": "float"},
        "responses": {"reasoning": {"effort": "low"}, "metadata": {"a": "b"}},
    }
    for operation, parameters in sent.items():
        assert gateway.ask(operation, user="alice", **parameters).status_code == 200
        body = gateway.first.asked[-1][1]
        assert {name: body.get(name) for name in parameters} == parameters
        assert "alice" not in json.dumps(body)


@pytest.mark.parametrize("name", ["api_base", "base_url"])
def test_a_caller_cannot_choose_the_address(gateway: Gateway, name: str) -> None:
    other = f"http://127.0.0.1:{gateway.second.server_address[1]}/v1"
    assert gateway.ask("chat", **{name: other}).status_code == 401
    assert (gateway.first.asked, gateway.second.asked) == ([], [])


def test_a_name_that_the_claim_does_not_have_is_refused(gateway: Gateway) -> None:
    assert gateway.ask("chat", model="gpt-4o").status_code == 400
    assert (gateway.first.asked, gateway.second.asked) == ([], [])
