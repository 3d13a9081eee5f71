"""The real thing on loopback: `python -m hearth.intake` in LiteLLM's own Python, before a scripted model server.

Without database and cache: LiteLLM's master key is the one key. `local/test-tools.sh` makes both versions.
"""

import contextlib
import json
import secrets
import socket
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import yaml

from tests.support.litellm import LITELLM_PROGRAMS, LiteLLMProgram

VERSIONS = LITELLM_PROGRAMS
START_SECONDS = 240
USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
ANSWERS: dict[str, dict[str, Any]] = {
    "/chat/completions": {
        "id": "c", "object": "chat.completion", "created": 1, "model": "m", "usage": USAGE,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "blue"}, "finish_reason": "stop"}],
    },
    "/completions": {
        "id": "c", "object": "text_completion", "created": 1, "model": "m", "usage": USAGE,
        "choices": [{"index": 0, "text": "blue", "finish_reason": "stop"}],
    },
    "/embeddings": {
        "object": "list", "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1},
        "data": [{"object": "embedding", "index": 0, "embedding": [0.5]}],
    },
    "/responses": {
        "id": "r", "object": "response", "created_at": 1, "model": "m", "status": "completed", "tools": [],
        "parallel_tool_calls": True, "tool_choice": "auto",
        "usage": {
            "input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
        "output": [
            {
                "type": "message", "id": "m", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": "blue", "annotations": []}],
            }
        ],
    },
}  # fmt: skip
CHUNK = {
    "id": "c",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "delta": {"role": "assistant", "content": "blue"}, "finish_reason": None}],
}
LEAK = "scripted text of 10.1.2.3"


class ModelServers(ThreadingHTTPServer):
    """Model servers behind one port, by the path that the guard would route by: /u/<name>/v1/…"""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.plans: dict[str, dict[str, Any]] = {}
        self.asked: list[tuple[str, str, dict[str, Any]]] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def script(self, **plans: dict[str, Any]) -> None:
        """Say how each model server answers from now on, and forget what was asked."""
        self.plans = plans
        self.asked.clear()

    @property
    def names(self) -> list[str]:
        return [name for name, _, _ in self.asked]


class _Handler(BaseHTTPRequestHandler):
    server: ModelServers
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        _, _, name, _, path = self.path.split("/", 4)
        self.server.asked.append((name, f"/{path}", body))
        plan = self.server.plans.get(name, {})
        with contextlib.suppress(OSError):  # the gateway may close the connection meanwhile
            for _ in range(plan.get("processing", 0)):
                self.wfile.write(b"HTTP/1.1 102 Processing\r\n\r\n")
                time.sleep(0.1)
        time.sleep(plan.get("delay", 0))
        status = plan.get("status", 200)
        if status == "closed":
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        elif status == 200 and body.get("stream") and path == "chat/completions":
            self._stream(plan)
        else:
            error = {"error": {"message": LEAK, "type": "x", "code": "y"}}
            content = ANSWERS[f"/{path}"] if status == 200 else plan.get("body", error)
            self._answer(status, content, plan.get("headers", {}), plan.get("dribble", 0))

    def _answer(self, status: int, content: Any, headers: dict[str, str], dribble: int) -> None:
        text = json.dumps(content).encode()
        self.send_response(status)
        for key, value in {"Content-Type": "application/json", "Content-Length": str(len(text)), **headers}.items():
            self.send_header(key, value)
        self.end_headers()
        with contextlib.suppress(OSError):  # as above
            for place in range(dribble):
                self.wfile.write(text[place : place + 1])
                time.sleep(0.1)
            self.wfile.write(text[dribble:])

    def _stream(self, plan: dict[str, Any]) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        time.sleep(plan.get("hold", 0))
        try:
            for _ in range(plan.get("chunks", 2)):
                self.wfile.write(b"data: " + json.dumps(CHUNK).encode() + b"\n\n")
                self.wfile.flush()
                time.sleep(plan.get("pause", 0))
            last = json.dumps({"error": {"message": LEAK}}) if plan.get("broken") else "[DONE]"
            self.wfile.write(f"data: {last}\n\n".encode())
        except OSError:
            return  # the gateway closed the stream, which some tests make it do


class Gateway:
    """One process of the gateway, and what it calls."""

    def __init__(
        self, version: str, folder: Path, *, longest: int = 60, settings: dict[str, Any] | None = None
    ) -> None:
        self.program = LiteLLMProgram.of(version)
        self.folder, self.key = folder, f"sk-{secrets.token_hex(16)}"
        self.models = ModelServers()
        self.client_socket, self.management_socket = folder / "client.sock", folder / "management.sock"
        (folder / "config.yaml").write_text(yaml.safe_dump(self._config()))
        (folder / "settings.json").write_text(json.dumps(settings or self._settings(longest)))
        self.log = folder / "log"
        self.environment = {
            **self.program.environment(folder),
            "LITELLM_MODE": "PRODUCTION",
            "LITELLM_MASTER_KEY": self.key,
            "DEFAULT_MAX_RETRIES": "0",
        }
        self.start_by = ["-m", "hearth.intake"]
        self.process: subprocess.Popen[bytes] | None = None

    def _config(self) -> dict[str, Any]:
        def entry(public: str, name: str, order: int, whole: float = 20, setup: float = 20) -> dict[str, Any]:
            return {
                "model_name": public,
                "litellm_params": {
                    "model": f"openai/{name}",
                    "api_base": f"http://127.0.0.1:{self.models.server_address[1]}/u/{name}/v1",
                    "api_key": "unused",
                    "timeout": whole,
                    "stream_timeout": setup,
                    "max_retries": 0,
                    "order": order,
                    "allowed_openai_params": ["dimensions", "verbosity"],
                    "additional_drop_params": ["user"],
                },
                "model_info": {"id": f"{public}-{name}", "supports_reasoning": True},
            }

        three = [entry("gemma", name, order) for order, name in enumerate(("first", "second", "third"), start=1)]
        brief = [
            entry("brief", "first", 1, whole=2, setup=2),
            entry("brief", "second", 2, whole=6, setup=2),
            entry("brief", "third", 3, whole=6, setup=2),
        ]
        spaces = [entry("vectors", name, order) for order, name in enumerate(("first", "second", "third"), start=1)]
        for model, space in zip(spaces, ("old", "new", None), strict=True):
            model["model_info"] |= {"embedding_space": space} if space else {}
        return {
            "model_list": [*three, entry("vendor/chat", "vendor", 1), *brief, *spaces],
            "general_settings": {"master_key": "os.environ/LITELLM_MASTER_KEY", "cancel_on_disconnect": True},
            "router_settings": {"routing_strategy": "simple-shuffle", "num_retries": 0, "disable_cooldowns": True},
            "litellm_settings": {
                "drop_params": False,
                "num_retries": 0,
                "json_logs": True,
                "redact_messages_in_exceptions": True,
                "turn_off_message_logging": True,
                "expose_router_debug_in_errors": False,
                "callbacks": "hearth.intake.hook.HOOK",
            },
        }

    @staticmethod
    def _settings(longest: int) -> dict[str, Any]:
        model = {"contextTokens": 8_192, "defaultMaxTokens": 1_024, "engines": ["llamaCpp"], "deadlineMs": 60_000}
        return {
            "version": 1,
            "maxRequestBytes": 16_777_216,
            "longestAnswerSeconds": longest,
            "models": {
                "gemma": {**model, "operations": ["chat", "completion", "embedding", "responses"]},
                "brief": {**model, "operations": ["chat", "embedding", "responses"], "deadlineMs": 6_000},
                "vectors": {**model, "operations": ["embedding"], "embeddingSpace": "new"},
                "vendor/chat": {**model, "operations": ["chat"], "engines": [None]},
            },
        }

    def start(self, *, wait: bool = True) -> None:
        arguments = [self.folder / "config.yaml", self.folder / "settings.json"]
        arguments += [self.client_socket, self.management_socket]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [self.program.home / "bin/python", *self.start_by, *arguments],
                env=self.environment,
                cwd=self.folder,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        if wait:
            self.wait()

    def wait(self) -> None:
        assert self.process is not None
        for _ in range(START_SECONDS):
            try:
                with self.client() as client:
                    if client.get("/health/liveliness").status_code == 200:
                        return
            except httpx.HTTPError:
                pass
            if self.process.poll() is not None:
                break
            time.sleep(1)
        raise AssertionError(f"LiteLLM did not start:\n{self.log.read_text()[-3000:]}")

    def client(self, *, management: bool = False, **options: Any) -> httpx.Client:
        door = self.management_socket if management else self.client_socket
        headers = {"Authorization": f"Bearer {self.key}"}
        transport = httpx.HTTPTransport(uds=str(door))
        return httpx.Client(transport=transport, base_url="http://gateway", headers=headers, timeout=60, **options)

    def stop(self) -> None:
        self.models.shutdown()
        self.models.server_close()
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
