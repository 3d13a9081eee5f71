"""A mock of an OpenAI-compatible model server, for clusters that have no GPU (S3-3).

It computes nothing: its answers are fixed texts that say so, its vectors are digests of their input. It stands on the
standard library alone, so that it runs in any image with Python. Requests are bounded in size and in number.
"""

import argparse
import hashlib
import json
import signal
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Final

MODEL: Final = "mock"
"""The one model that it lists; requests may name any."""
ANSWER: Final = "This is the mock model server; no model has answered."
"""What every chat and completion says."""
DIMENSIONS: Final = 8
"""Length of a vector."""
LARGEST_REQUEST: Final = 1_048_576
"""Largest request body in bytes."""
MOST_INPUTS: Final = 256
"""Most texts in one embeddings request."""

Json = dict[str, Any]


class RequestError(Exception):
    """A request that cannot be answered."""

    def __init__(self, status: int, message: str) -> None:
        """Keep the HTTP status and what the client is told."""
        super().__init__(message)
        self.status = status


def _tokens(text: str) -> int:
    return len(text.split())


def _usage(prompt: str, completion: str) -> Json:
    given, made = _tokens(prompt), _tokens(completion)
    return {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}


def _text(value: object) -> str:
    """Return the text of a message's content or of a prompt, which may be in parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return " ".join(_text(part.get("text", "") if isinstance(part, dict) else part) for part in value)
    return ""


def _envelope(kind: str, request: Json, identifier: str) -> Json:
    return {"id": identifier, "object": kind, "created": int(time.time()), "model": request.get("model", MODEL)}


def _prompt(request: Json, *, chat: bool) -> str:
    if not chat:
        if "prompt" not in request:
            raise RequestError(400, "prompt is missing")
        return _text(request["prompt"])
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(entry, dict) for entry in messages):
        raise RequestError(400, "messages must be a list of at least one message")
    return " ".join(_text(entry.get("content")) for entry in messages)


def complete(request: Json, *, chat: bool) -> Json:
    """Return the answer to a chat or a completion that is not streamed."""
    prompt = _prompt(request, chat=chat)
    identifier = f"{'chatcmpl' if chat else 'cmpl'}-{uuid.uuid4().hex}"
    choice: Json = {"index": 0, "finish_reason": "stop"}
    if chat:
        choice["message"] = {"role": "assistant", "content": ANSWER}
    else:
        choice["text"] = ANSWER
    kind = "chat.completion" if chat else "text_completion"
    return {**_envelope(kind, request, identifier), "choices": [choice], "usage": _usage(prompt, ANSWER)}


def stream(request: Json, *, chat: bool) -> Iterator[Json]:
    """Return the events of a streamed chat or completion, one for each word."""
    prompt = _prompt(request, chat=chat)
    kind = "chat.completion.chunk" if chat else "text_completion"
    envelope = _envelope(kind, request, f"{'chatcmpl' if chat else 'cmpl'}-{uuid.uuid4().hex}")

    def event(content: str | None) -> Json:
        choice: Json = {"index": 0, "finish_reason": "stop" if content is None else None}
        if chat:
            choice["delta"] = {} if content is None else {"role": "assistant", "content": content}
        else:
            choice["text"] = content or ""
        return {**envelope, "choices": [choice]}

    for index, word in enumerate(ANSWER.split(" ")):
        yield event(word if index == 0 else f" {word}")
    yield event(None)
    options = request.get("stream_options")
    if isinstance(options, dict) and options.get("include_usage") is True:
        yield {**envelope, "choices": [], "usage": _usage(prompt, ANSWER)}


def embed(request: Json) -> Json:
    """Return a vector for each text: the bytes of its digest, scaled to -1 … 1."""
    given = request.get("input")
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not 0 < len(texts) <= MOST_INPUTS:
        raise RequestError(400, f"input must be a text or a list of 1 to {MOST_INPUTS} texts")
    if not all(isinstance(text, str) for text in texts):
        raise RequestError(400, "input must consist of texts")
    data = [
        {
            "object": "embedding",
            "index": index,
            "embedding": [byte / 127.5 - 1 for byte in hashlib.sha256(text.encode()).digest()[:DIMENSIONS]],
        }
        for index, text in enumerate(texts)
    ]
    usage = _usage(" ".join(texts), "")
    usage.pop("completion_tokens")
    return {"object": "list", "model": request.get("model", MODEL), "data": data, "usage": usage}


class Handler(BaseHTTPRequestHandler):
    """One connection. Only exact paths answer."""

    server_version = "hearth-mock"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    timeout = 30.0

    def do_GET(self) -> None:
        """Answer the health check and the list of models."""
        if self.path == "/health":
            self._send(200, {"status": "ok", "mock": True})
        elif self.path == "/v1/models":
            model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "hearth-mock"}
            self._send(200, {"object": "list", "data": [model]})
        else:
            self._fail(404, "Not found.")

    def do_POST(self) -> None:
        """Answer chat, completion and embeddings."""
        try:
            request = self._request()
            if self.path == "/v1/embeddings":
                self._send(200, embed(request))
            elif self.path in ("/v1/chat/completions", "/v1/completions"):
                chat = self.path == "/v1/chat/completions"
                if request.get("stream") is True:
                    self._send_events(stream(request, chat=chat))
                else:
                    self._send(200, complete(request, chat=chat))
            else:
                raise RequestError(404, "Not found.")
        except RequestError as error:
            self._fail(error.status, str(error))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        """Log nothing: a request line is the client's."""

    def _request(self) -> Json:
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit():
            raise RequestError(411, "Content-Length is required")
        if int(length) > LARGEST_REQUEST:
            raise RequestError(413, "The request is too large")
        try:
            found = json.loads(self.rfile.read(int(length)))
        except ValueError as error:
            raise RequestError(400, "The request is not JSON") from error
        if not isinstance(found, dict):
            raise RequestError(400, "The request is not a JSON object")
        return found

    def _send(self, status: int, body: Json) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _send_events(self, events: Iterator[Json]) -> None:
        first = next(events)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in (first, *events):
            self._chunk(f"data: {json.dumps(event)}\n\n".encode())
        self._chunk(b"data: [DONE]\n\n")
        self._chunk(b"")

    def _chunk(self, content: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(content), content))

    def _fail(self, status: int, message: str) -> None:
        # A body that was not read would be taken for the next request.
        self.close_connection = True
        error = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
        self._send(status, {"error": error})


class Server(ThreadingHTTPServer):
    """A thread for each connection, and no more of them than it can bear."""

    daemon_threads = True
    most_connections: ClassVar[int] = 64

    def __init__(self, address: tuple[str, int]) -> None:
        """Listen."""
        self._places = threading.BoundedSemaphore(self.most_connections)
        super().__init__(address, Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Wait for a free place before a thread is started."""
        self._places.acquire()
        super().process_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing about a client that went away."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Give the place back when the connection ends."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()


def main() -> None:
    """Serve until told to stop."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--host", default="0.0.0.0", help="address to listen on")  # noqa: S104 - a Pod's only address
    options.add_argument("--port", type=int, default=8000, help="TCP port to listen on")
    given = options.parse_args()
    server = Server((given.host, given.port))
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"mock model server on {given.host}:{server.server_address[1]}", flush=True)
    stop.wait()
    server.shutdown()


if __name__ == "__main__":
    main()
