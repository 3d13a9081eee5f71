"""kubectl as the tests use it, against the cluster of the test run and no other."""

import json
import os
import subprocess
import time
from collections.abc import Callable
from typing import Any


class Kube:
    """kubectl with the kubeconfig of one cluster."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment

    def run(self, *arguments: str, stdin: str | None = None, check: bool = True) -> str:
        done = subprocess.run(
            ["kubectl", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            env={**os.environ, **self.environment},
            timeout=600,
        )
        if check and done.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(arguments[:8])}: {done.stderr[-2000:]}")
        return done.stdout

    def json(self, *arguments: str) -> Any:
        return json.loads(self.run(*arguments, "-o", "json"))

    def apply(self, *manifests: dict[str, Any]) -> None:
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(manifests)})
        self.run("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=text)

    def pods(self, namespace: str, selector: str) -> list[dict[str, Any]]:
        """Pods that are not on their way out, sorted by name."""
        found = self.json("-n", namespace, "get", "pods", "-l", selector)["items"]
        return sorted(
            (pod for pod in found if "deletionTimestamp" not in pod["metadata"]), key=lambda p: p["metadata"]["name"]
        )

    def pod_names(self, namespace: str, selector: str) -> list[str]:
        return [pod["metadata"]["name"] for pod in self.pods(namespace, selector)]

    def execute(self, namespace: str, pod: str, *command: str, stdin: str = "", container: str | None = None) -> str:
        where = ["-c", container] if container else []
        return self.run("-n", namespace, "exec", "-i", pod, *where, "--", *command, stdin=stdin)

    def start(self, namespace: str, pod: str, *command: str) -> subprocess.Popen[str]:
        """Start a command in a Pod, with its standard input held open until somebody closes it."""
        return subprocess.Popen(
            ["kubectl", "-n", namespace, "exec", "-i", pod, "--", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **self.environment},
        )

    def python(self, namespace: str, pod: str, program: str, *arguments: str) -> str:
        """Run a Python program in a Pod; the program goes in by standard input."""
        return self.execute(namespace, pod, "python3", "-", *arguments, stdin=program)

    def secret(self, namespace: str, name: str) -> dict[str, str]:
        import base64

        data = self.json("-n", namespace, "get", "secret", name)["data"]
        return {key: base64.b64decode(value).decode() for key, value in data.items()}


def eventually(what: str, condition: Callable[[], Any], seconds: float = 120, pause: float = 1.0) -> Any:
    """Return the condition's first true value; fail when it does not come within a bounded number of tries."""
    last: Any = None
    for _ in range(int(seconds / pause)):
        last = condition()
        if last:
            return last
        time.sleep(pause)
    raise AssertionError(f"{what}: not within {seconds} s; last seen: {last!r}")
