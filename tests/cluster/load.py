"""A bounded load from inside a tenant's Pod, by the application's own Secret and without retries."""

import json
import subprocess
import threading
from dataclasses import dataclass
from typing import Any

from tests.cluster.conftest import Platform

PROGRAM = r"""
import collections, json, os, sys, threading, time
import httpx

seconds, workers, model, fresh = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4] == "fresh"
url = os.environ["OPENAI_API_BASE"] + "/chat/completions"
headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
body = {"model": model, "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}]}
outcomes, lock, start = collections.Counter(), threading.Lock(), time.monotonic()
firsts, last = {}, {}

def work():
    client = httpx.Client(headers=headers, timeout=60)
    while time.monotonic() - start < seconds:
        try:
            answer = client.post(url, json=body)
            outcome = "200" if answer.status_code == 200 else f"{answer.status_code} {answer.text[:160]}"
        except Exception as error:
            outcome = f"{type(error).__name__} {str(error)[:100]}"
        now = round(time.monotonic() - start, 1)
        with lock:
            outcomes[outcome] += 1
            firsts.setdefault(outcome, now)
            last[outcome] = now
        if fresh:
            client.close()
            client = httpx.Client(headers=headers, timeout=60)
        time.sleep(0.1)

threads = [threading.Thread(target=work) for _ in range(workers)]
[t.start() for t in threads]
[t.join() for t in threads]
print(json.dumps({"outcomes": outcomes, "first": firsts, "last": last}))
"""

STREAMS = r"""
import json, os, sys, time
import openai

client = openai.OpenAI(max_retries=0, timeout=120)
start, whole, broken = time.monotonic(), 0, []
while time.monotonic() - start < float(sys.argv[1]):
    finish = None
    try:
        for event in client.chat.completions.create(
            model=sys.argv[2], max_tokens=100, stream=True, messages=[{"role": "user", "content": "a long answer"}]
        ):
            if event.choices and event.choices[0].finish_reason:
                finish = event.choices[0].finish_reason
    except Exception as error:
        broken.append(f"{type(error).__name__} {str(error)[:120]}")
        time.sleep(0.5)
        continue
    if finish:
        whole += 1
    else:
        broken.append("no finish")
print(json.dumps({"whole": whole, "broken": broken}))
"""


@dataclass
class Result:
    """What came out of a load."""

    outcomes: dict[str, int]
    first: dict[str, float]
    last: dict[str, float]

    @property
    def failures(self) -> dict[str, int]:
        return {kind: count for kind, count in self.outcomes.items() if kind != "200"}

    @property
    def answered(self) -> int:
        return self.outcomes.get("200", 0)


class Background:
    """A program that runs in a Pod while the test does something else."""

    def __init__(self, platform: Platform, namespace: str, pod: str, program: str, *arguments: str) -> None:
        self._result: str = ""
        self._error: BaseException | None = None

        def run() -> None:
            try:
                self._result = platform.kube.python(namespace, pod, program, *arguments)
            except (AssertionError, subprocess.SubprocessError) as error:
                self._error = error

        self._thread = threading.Thread(target=run)
        self._thread.start()

    def json(self) -> Any:
        self._thread.join()
        if self._error:
            raise self._error
        return json.loads(self._result)


class Load:
    """Requests for a number of seconds, from the Pod of an application."""

    def __init__(
        self,
        platform: Platform,
        seconds: float,
        *,
        workers: int = 3,
        model: str = "scripted",
        fresh: bool = False,
        namespace: str = "tenant-family",
        pod: str = "notes",
    ) -> None:
        kind = "fresh" if fresh else "keep"
        self._background = Background(platform, namespace, pod, PROGRAM, str(seconds), str(workers), model, kind)

    def result(self) -> Result:
        return Result(**self._background.json())
