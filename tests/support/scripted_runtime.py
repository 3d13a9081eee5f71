"""A scripted runtime behind a sidecar, that answers as a model server should, or wrongly in one way."""

import base64
import hashlib
import json
import struct
import time
from dataclasses import dataclass
from typing import Any

from tests.wire.counting import Connection, Request

USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
WORDS = ("one ", "two ", "three ", "four ")


@dataclass(frozen=True)
class ScriptedRuntime:
    """Answers chat and embeddings; one switch at a time makes it wrong."""

    wrong: str = ""
    """What is wrong with it: a name that the methods below look for."""

    def __call__(self, connection: Connection, request: Request) -> None:
        body = json.loads(request.body)
        if request.line.split()[1].endswith("/embeddings"):
            self._embeddings(connection, body)
        elif body.get("stream"):
            self._stream(connection, body)
        else:
            self._chat(connection)

    def _chat(self, connection: Connection) -> None:
        text = "" if self.wrong == "answer without text" else "".join(WORDS)
        answer: dict[str, Any] = {"choices": [{"message": {"role": "assistant", "content": text}}], "usage": USAGE}
        if self.wrong == "no usage":
            del answer["usage"]
        if self.wrong == "wrong usage":
            answer["usage"] = {**USAGE, "total_tokens": 99}
        connection.json(500 if self.wrong == "an error" else 200, answer)

    def _stream(self, connection: Connection, body: dict[str, Any]) -> None:
        if self.wrong == "one piece":
            connection.json(200, {"choices": []})
            return
        connection.start_stream()
        chunks: list[dict[str, Any]] = [{"choices": [{"delta": {"content": word}}]} for word in WORDS]
        for _ in range(100 if body["max_tokens"] >= 100 else 1):
            for chunk in chunks:
                connection.chunk(b"data: " + json.dumps(chunk).encode() + b"\n\n")
            if body["max_tokens"] >= 100 and self._gone(connection):
                return
        for _ in range(2 if self.wrong == "usage twice" else 1):
            connection.chunk(b"data: " + json.dumps({"choices": [], "usage": USAGE}).encode() + b"\n\n")
        if self.wrong != "no end":
            connection.chunk(b"data: [DONE]\n\n")
        connection.end_stream()

    def _gone(self, connection: Connection) -> bool:
        """Wait a little, and return whether the sidecar has closed the connection."""
        if self.wrong == "deaf":
            time.sleep(0.05)
            return False
        return connection.wait_closed(0.05)

    def _embeddings(self, connection: Connection, body: dict[str, Any]) -> None:
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        order = list(reversed(texts)) if self.wrong == "other order" else texts
        rows = [{"index": index, "embedding": self._vector(text, body)} for index, text in enumerate(order)]
        usage = {"prompt_tokens": 10, "total_tokens": 10}
        connection.json(200, {"data": rows[:1] if self.wrong == "one vector" else rows, "usage": usage})

    def _vector(self, text: str, body: dict[str, Any]) -> list[float] | str:
        seed = b"" if self.wrong == "constant" else text.encode()
        vector = [byte - 127.5 for byte in hashlib.sha256(seed).digest()]
        if body.get("encoding_format") != "base64" or self.wrong == "floats for base64":
            return vector
        return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
