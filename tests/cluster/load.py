"""A load from inside a tenant's Pod, by the application's own Secret and without retries.

It lasts as long as what it watches: it is there when its workers were answered once, and after the end that the test
sets it goes on for some answers more.
"""

import json
from dataclasses import dataclass
from typing import Any, Self

from tests.cluster.platform import Platform

LONGEST_SECONDS = 900
"""When a load ends that nobody finishes, because the test run died; no test's proof depends on it."""

# What both programs share: `stopped` is set when standard input ends; `begun` says when each worker was answered.
_COMMON = r"""
import json, os, sys, threading, time

stopped, lock, start, said = threading.Event(), threading.Lock(), time.monotonic(), []

def watch():
    sys.stdin.read()
    stopped.set()

def begun(worker):
    with lock:
        if worker not in said:
            said.append(worker)
            if len(said) == workers:
                print("begun", flush=True)

def too_long():
    return time.monotonic() - start > longest

def run(work):
    threading.Thread(target=watch, daemon=True).start()
    threads = [threading.Thread(target=work, args=(number,)) for number in range(workers)]
    [t.start() for t in threads]
    [t.join() for t in threads]
"""

PROGRAM = (
    _COMMON
    + r"""
import collections
import httpx

longest, workers, more, pause, model = float(sys.argv[1]), *map(int, sys.argv[2:4]), float(sys.argv[4]), sys.argv[5]
url = os.environ["OPENAI_API_BASE"] + "/chat/completions"
headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
body = {"model": model, "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}]}
outcomes, firsts, last = collections.Counter(), {}, {}

def work(number):
    client, left = httpx.Client(headers=headers, timeout=60), more
    while left > 0 and not too_long():
        left -= stopped.is_set()
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
        begun(number)
        time.sleep(pause)

run(work)
print(json.dumps({"outcomes": outcomes, "first": firsts, "last": last}))
"""
)

STREAMS = (
    _COMMON
    + r"""
import openai

longest, workers, model = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
client = openai.OpenAI(max_retries=0, timeout=120)
whole, broken = [], []

def work(number):
    while not stopped.is_set() and not too_long():
        finish = None
        try:
            for event in client.chat.completions.create(
                model=model, max_tokens=100, stream=True, messages=[{"role": "user", "content": "a long answer"}]
            ):
                begun(number)
                if event.choices and event.choices[0].finish_reason:
                    finish = event.choices[0].finish_reason
        except Exception as error:
            broken.append(f"{type(error).__name__} {str(error)[:120]}")
            begun(number)
            time.sleep(0.5)
            continue
        (whole if finish else broken).append(finish or "no finish")

run(work)
print(json.dumps({"whole": len(whole), "broken": broken}))
"""
)


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
    """A program that runs in a Pod while the test does something else, from when each of its workers was answered.

    The program says that by a line on standard output, and ends a little after its standard input does.
    """

    def __init__(self, platform: Platform, namespace: str, pod: str, program: str, *arguments: str) -> None:
        self._process = platform.kube.start(namespace, pod, "python3", "-c", program, str(LONGEST_SECONDS), *arguments)
        if self._read(line=True) != "begun\n":
            self._process.kill()
            raise AssertionError(f"a load did not begin: {self._process.communicate()[1][-2000:]}")

    def _read(self, *, line: bool = False) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline() if line else self._process.stdout.read()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        with self._process:
            pass

    def json(self) -> Any:
        """End the program and return what it found."""
        assert self._process.stdin is not None
        assert self._process.stderr is not None
        self._process.stdin.close()
        text, errors = self._read(), self._process.stderr.read()
        if self._process.wait() != 0:
            raise AssertionError(f"a load failed: {errors[-2000:]}")
        return json.loads(text)


class Streams(Background):
    """Slow streams, one after another, from the Pod of an application; `json` waits until the last one is whole."""

    def __init__(self, platform: Platform, namespace: str, pod: str, *, workers: int = 2) -> None:
        super().__init__(platform, namespace, pod, STREAMS, str(workers), "scripted")


class Load(Background):
    """Requests one after another, from the Pod of an application."""

    def __init__(
        self,
        platform: Platform,
        *,
        workers: int = 3,
        model: str = "scripted",
        more: int = 5,
        pause: float = 0.1,
        namespace: str = "tenant-family",
        pod: str = "notes",
    ) -> None:
        """Start it.

        Args:
            platform: the platform.
            workers: how many ask at a time.
            model: the alias.
            more: how many answers each worker still gets after `finish` was called.
            pause: seconds between two requests of a worker.
            namespace: namespace of the Pod.
            pod: the Pod.
        """
        super().__init__(platform, namespace, pod, PROGRAM, str(workers), str(more), str(pause), model)

    def finish(self) -> Result:
        """Wait for some answers more, and return what became of all requests."""
        return Result(**self.json())
