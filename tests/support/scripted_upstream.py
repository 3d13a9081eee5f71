"""A scripted OpenAI-compatible upstream, for what the small real model server cannot answer.

It is not a model: every answer is fixed. It is used by contract tests and as a fast upstream under load. One file,
standard library only, so that it runs in any container with Python. Settings come from the environment: PORT, and
TLS_CERTIFICATE with TLS_KEY (PEM files) for HTTPS; EXPECTED_BEARERS, separated by spaces, without which any credential
is accepted.
"""

import json
import os
import ssl
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
WORDS = ["a ", "scripted ", "answer"]
VECTOR = [0.25, -0.5, 0.75]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hits: ClassVar[dict[str, int]] = {}
    last: ClassVar[dict[str, Any]] = {}
    delay: ClassVar[float] = 0.0
    fail: ClassVar[int] = 0
    lock = threading.Lock()

    def log_message(self, *args: object) -> None:
        pass

    def _json(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _events(self, events: list[object], pause: float) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in events:
            text = event if isinstance(event, str) else json.dumps(event)
            kind = f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
            chunk = f"{kind}data: {text}\n\n".encode()
            self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
            self.wfile.flush()
            time.sleep(pause)
        self.wfile.write(b"0\r\n\r\n")

    def do_GET(self) -> None:
        if self.path == "/health":
            self._json(200, {"status": "ok"})
        elif self.path == "/hits":
            self._json(200, {"hits": Handler.hits, "last": Handler.last})
        else:
            self._json(404, {"error": {"message": "not scripted"}})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))) or b"{}")
        if self.path == "/control":
            Handler.delay, Handler.fail = float(body.get("delay", 0)), int(body.get("fail", 0))
            self._json(200, {})
            return
        with Handler.lock:
            Handler.hits[self.path] = Handler.hits.get(self.path, 0) + 1
            Handler.last = {"path": self.path, "body": body, "headers": sorted(k.lower() for k in self.headers)}
        expected = [f"Bearer {bearer}" for bearer in os.environ.get("EXPECTED_BEARERS", "").split()]
        if expected and self.headers.get("Authorization") not in expected:
            self._json(401, {"error": {"message": "wrong credential", "type": "authentication_error"}})
            return
        time.sleep(Handler.delay)
        if Handler.fail:
            self._json(Handler.fail, {"error": {"message": "injected", "type": "server_error"}})
            return
        answers = {
            "/v1/chat/completions": self._chat,
            "/v1/completions": self._completion,
            "/v1/embeddings": self._embedding,
            "/v1/responses": self._response,
        }
        answer = answers.get(self.path)
        if answer is None:
            self._json(404, {"error": {"message": "not scripted"}})
        else:
            answer(body)

    def _chat(self, body: dict[str, Any]) -> None:
        base = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": body["model"]}
        if not body.get("stream"):
            message = {"role": "assistant", "content": "".join(WORDS)}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            self._json(200, {**base, "object": "chat.completion", "choices": [choice], "usage": USAGE})
            return
        chunk = {**base, "object": "chat.completion.chunk"}
        words = WORDS * int(body.get("n_repeat", 1))
        deltas: list[dict[str, Any]] = [
            {"role": "assistant", "content": words[0]},
            *({"content": w} for w in words[1:]),
        ]
        events: list[object] = [
            {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
        ]
        events.append({**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        if (body.get("stream_options") or {}).get("include_usage"):
            events.append({**chunk, "choices": [], "usage": USAGE})
        # A request for a long answer (max_tokens of 100 and more) is streamed slowly, in twenty seconds: longer than a
        # Pod that is replaced goes on serving before it is told to end.
        pause = 4.0 if int(body.get("max_tokens") or 0) >= 100 else 0.01
        self._events([*events, "[DONE]"], pause)

    def _completion(self, body: dict[str, Any]) -> None:
        choice = {"index": 0, "text": "".join(WORDS), "finish_reason": "stop", "logprobs": None}
        base = {"id": f"cmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": body["model"]}
        self._json(200, {**base, "object": "text_completion", "choices": [choice], "usage": USAGE})

    def _embedding(self, body: dict[str, Any]) -> None:
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        data = [{"object": "embedding", "index": i, "embedding": VECTOR} for i in range(len(texts))]
        usage = {"prompt_tokens": 10, "total_tokens": 10}
        self._json(200, {"object": "list", "data": data, "model": body["model"], "usage": usage})

    def _response(self, body: dict[str, Any]) -> None:
        content = [{"type": "output_text", "text": "".join(WORDS), "annotations": []}]
        message = {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": content}
        usage = {
            "input_tokens": 10,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 15,
        }
        answer = {
            "id": f"resp_{uuid.uuid4().hex}",
            "object": "response",
            "created_at": int(time.time()),
            "status": "completed",
            "model": body["model"],
            "output": [message],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": usage,
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "temperature": 1.0,
            "top_p": 1.0,
        }
        self._json(200, answer)


def main() -> None:
    server = ThreadingHTTPServer(("0.0.0.0", int(os.environ.get("PORT", "8443"))), Handler)
    server.daemon_threads = True
    if "TLS_CERTIFICATE" in os.environ:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.environ["TLS_CERTIFICATE"], os.environ["TLS_KEY"])
        server.socket = context.wrap_socket(server.socket, server_side=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
