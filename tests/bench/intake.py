"""How long the intake takes for one request, in process: python -m tests.bench.intake

The application behind it answers at once, so that what is measured is the intake's own: headers, strict parse, schema,
canonical form, and the way back.
"""

import asyncio
import json
import statistics
import time

from hearth.intake.application import Intake, Message, Receive, Scope, Send
from tests.unit.intake.bodies import SETTINGS

CALLS = 10_000
KEY = (b"authorization", b"Bearer sk-0123456789abcdef")
HEADERS = [KEY, (b"content-type", b"application/json"), (b"host", b"x"), (b"user-agent", b"x")]


async def _application(scope: Scope, receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": b"{}"})


async def _calls(body: bytes, calls: int) -> list[float]:
    intake = Intake(_application, SETTINGS)
    path = "/v1/chat/completions"
    taken = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        assert message.get("status", 200) == 200

    for _ in range(calls):
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "method": "POST", "path": path, "raw_path": path.encode(),
            "query_string": b"", "headers": HEADERS, "client": None, "server": None,
        }  # fmt: skip
        start = time.perf_counter()
        await intake(scope, receive, send)
        taken.append((time.perf_counter() - start) * 1_000)
    return taken


async def _longest_pause(body: bytes) -> float:
    """Return how long other requests had to wait while the largest body was judged, in ms."""
    paused, done = 0.0, False

    async def watch() -> None:
        nonlocal paused
        while not done:
            start = time.perf_counter()
            await asyncio.sleep(0.001)
            paused = max(paused, (time.perf_counter() - start) * 1_000 - 1)

    watching = asyncio.create_task(watch())
    await asyncio.sleep(0.01)
    paused = 0.0
    await _calls(body, 1)
    done = True
    await watching
    return paused


def _chat(size: int, messages: int) -> bytes:
    text = "Which colour has the sky, and why? " * (size // messages // 35)
    return json.dumps(
        {"model": "gemma", "messages": [{"role": "user", "content": text} for _ in range(messages)], "temperature": 0.2}
    ).encode()


def main() -> None:
    """Print one line for each size."""
    for size, calls in ((1_000, CALLS), (10_000, CALLS), (100_000, CALLS // 10)):
        body = _chat(size, 20 if size >= 10_000 else 1)
        taken = asyncio.run(_calls(body, calls))
        p50, p99 = statistics.median(taken), statistics.quantiles(taken, n=100)[98]
        print(f"{len(body):>9} bytes, {calls} calls: p50 {p50:.3f} ms, p99 {p99:.3f} ms")
    for name, body in {
        "one image": json.dumps(
            {
                "model": "gemma",
                "messages": [
                    {
                        "role": "user",
                        "content": [
                            {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 16_000_000}}
                        ],
                    }
                ],
            }
        ).encode(),
        "prose": _chat(16_000_000, 4_000),
    }.items():
        print(f"{len(body):>9} bytes of {name}: longest pause of others {asyncio.run(_longest_pause(body)):.0f} ms")


if __name__ == "__main__":
    main()
