"""Servers that stand on a container host where a runtime was, for what a real model proves nothing more about."""

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.support.edge import ROOT, EdgeHost
from tests.wire.client import wait_for

FOLDER = "/run/stand-in"


@contextlib.contextmanager
def _in_its_place(host: EdgeHost, files: Mapping[str, str], *arguments: str) -> Iterator[None]:
    """Stop the host's first runtime, run `main.py` on its port until the end, and start the runtime again."""
    runtime = host.plan.runtimes[0]
    listening = f"tcp://127.0.0.1:{runtime.port}"
    for name, text in files.items():
        path = f"{FOLDER}/{name}"
        host.run(f"mkdir -p $(dirname {path}); printf %%s %s >{path}", text)
    host.run(f"systemctl stop {runtime.unit}")
    try:
        command = " ".join(["python3", f"{FOLDER}/main.py", str(runtime.port), *arguments])
        host.run(f"systemd-run --quiet --unit=stand-in {command}")
        assert wait_for(lambda: host.inside.socket(listening).is_listening, 60)
        assert wait_for(lambda: all(sidecar.is_healthy() for sidecar in host.sidecars), 60)
        yield
    finally:
        host.run(f"systemctl stop stand-in; rm -r {FOLDER}; systemctl start {runtime.unit}")
        assert wait_for(lambda: host.inside.service(runtime.unit).is_running, 120)
        assert wait_for(lambda: host.inside.socket(listening).is_listening, 60)
        assert wait_for(lambda: all(sidecar.is_healthy() for sidecar in host.sidecars), 60)


COUNTING = """\
import json, os, sys, time
from tests.wire.counting import CountingUpstream, answer_ok
def behave(connection, request):
    while os.path.exists("hold"):
        time.sleep(0.02)
    answer_ok(connection, request)
os.chdir(os.path.dirname(__file__))
with CountingUpstream("127.0.0.1", int(sys.argv[1])) as upstream:
    upstream.behaviour = behave
    while True:
        requests = [[one.line, one.headers] for one in upstream.requests]
        seen = {"connections": upstream.connections, "active": upstream.active, "requests": requests}
        with open("seen.part", "w") as file:
            json.dump(seen, file)
        os.replace("seen.part", "seen.json")
        time.sleep(0.05)
"""


@dataclass(frozen=True)
class CountingRuntime:
    """A server that counts what arrives, its sidecar's health checks left out."""

    host: EdgeHost

    def seen(self) -> dict[str, object]:
        """Return how many connections and requests have arrived and how many of these wait for their answer."""
        found: dict[str, object] = json.loads(self.host.run(f"sleep 0.2; cat {FOLDER}/seen.json"))
        return found

    def hold(self) -> None:
        """Let every request wait for its answer."""
        self.host.run(f"touch {FOLDER}/hold")

    def release(self) -> None:
        """Answer those that wait."""
        self.host.run(f"rm -f {FOLDER}/hold")


@contextlib.contextmanager
def counting_runtime(host: EdgeHost) -> Iterator[CountingRuntime]:
    """Put a counting server in the place of the host's first runtime, for connections that must not be opened."""
    modules = ("tests/wire/counting.py", "tests/wire/client.py")
    files = {**{name: (ROOT / name).read_text() for name in modules}, "main.py": COUNTING}
    with _in_its_place(host, files):
        yield CountingRuntime(host)


PACED = """\
import sys, time
import mock_server
plain = mock_server.Handler._chunk
def paced(self, content):
    time.sleep(0.25)
    plain(self, content)
mock_server.Handler._chunk = paced
sys.argv[1:] = ["--host", "127.0.0.1", "--port", sys.argv[1]]
mock_server.main()
"""


@contextlib.contextmanager
def paced_runtime(host: EdgeHost) -> Iterator[None]:
    """Put a server in the place of the host's first runtime whose streams last some seconds and cost no processor."""
    files = {"mock_server.py": (ROOT / "hearth/serve/mock_server.py").read_text(), "main.py": PACED}
    with _in_its_place(host, files):
        yield
