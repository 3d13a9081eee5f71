"""The token server beside one that lists Secrets for each request: python -m tests.bench.token_server

Needs the cluster of HEARTH_CLUSTER (`local/cluster.sh`, `eval "$(local/env)"`) and makes a namespace of its own in it,
with 10, 1,000 and 10,000 tokens of 10 instances. Prints a table for docs/benchmarks.md. Both servers are processes of
this machine and reach the API server the same way; the peer does what the check that S2-12 describes does, and lists
the Secrets of the instance that is asked for.
"""

import asyncio
import base64
import json
import math
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx

from hearth.serve.secret_watch import Access
from hearth.serve.token_store import TOKEN_KEY, Instance, Instances
from tests.cluster.kube import Kube
from tests.cluster.test_token_server import rights
from tests.support.processes import PATIENCE_SECONDS, Processes, free_port
from tests.support.tokens import secret, token

SPACE = "token-test"
COUNTS = (10, 1_000, 10_000)
CALLERS = 8
"""Connections that ask, one request after the other."""
CALLS = 4_000
LISTED = 100_000
"""Secrets that the peer reads in one measurement at most, so that each takes about as long."""


async def lister(folder: Path, port: int) -> None:
    """Serve the peer."""
    import hmac

    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    access = Access.of_pod(folder)
    client = access.client()

    async def verify(request: Request) -> Response:
        given = request.headers["authorization"].removeprefix("Bearer ").encode()
        selector = {"labelSelector": f"hearth.dev/private-instance={request.headers['x-hearth-instance']}"}
        answer = await client.get(f"/api/v1/namespaces/{SPACE}/secrets", params=selector, headers=access.headers())
        found = [base64.b64decode(each["data"][TOKEN_KEY]) for each in answer.json()["items"]]
        return Response(status_code=200 if any(hmac.compare_digest(each, given) for each in found) else 401)

    application = Starlette(routes=[Route("/auth/verify", verify)])
    config = uvicorn.Config(application, host="127.0.0.1", port=port, access_log=False, log_level="warning")
    await uvicorn.Server(config).serve()


async def asked(port: int, asks: list[tuple[str, str]], calls: int) -> tuple[float, float]:
    """Return requests per second, and the 99th percentile of their milliseconds."""
    taken: list[float] = []
    waiting = iter(range(calls))

    async def caller() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for number in waiting:
            name, value = asks[number * 7919 % len(asks)]
            head = f"GET /auth/verify HTTP/1.1\r\nHost: x\r\nX-Hearth-Instance: {name}\r\nAuthorization: Bearer {value}"
            began = time.perf_counter()
            writer.write(f"{head}\r\n\r\n".encode())
            answer = await reader.readuntil(b"\r\n\r\n")
            taken.append(time.perf_counter() - began)
            assert answer.startswith(b"HTTP/1.1 200"), answer
        writer.close()

    began = time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(CALLERS)))
    seconds = time.perf_counter() - began
    return calls / seconds, sorted(taken)[math.ceil(calls * 0.99) - 1] * 1000


async def made(access: Access, secrets: list[dict[str, Any]]) -> None:
    """Make the Secrets, 16 at a time."""
    waiting = iter(secrets)
    async with access.client() as client:

        async def maker() -> None:
            for each in waiting:
                path = f"/api/v1/namespaces/{SPACE}/secrets"
                answer = await client.post(path, json=each, headers=access.headers())
                assert answer.status_code == 201, answer.text

        await asyncio.gather(*(maker() for _ in range(16)))


def up(port: int, path: str) -> bool:
    """Whether a server answers, with any status."""
    try:
        return httpx.get(f"http://127.0.0.1:{port}{path}").status_code < 500
    except httpx.TransportError:
        return False


def main() -> None:
    """Measure, print, and take the namespace away."""
    kube = Kube({})
    kube.run("delete", "namespace", SPACE, "--ignore-not-found", "--wait=true")
    objects = rights()
    next(each for each in objects if each["kind"] == "Role")["rules"][0]["verbs"].append("create")
    names = [f"bench-{number}" for number in range(10)]
    owners = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": SPACE}} for name in names
    ]
    kube.apply(*objects, *owners)
    uids = {each["metadata"]["name"]: each["metadata"]["uid"] for each in kube.json("-n", SPACE, "get", "cm")["items"]}
    instances = [Instance(name=name, uid=uids[name], slug=f"slug-bench-{number}") for number, name in enumerate(names)]
    cluster = json.loads(kube.run("config", "view", "--minify", "--raw", "-o", "json"))["clusters"][0]["cluster"]
    host, port = cluster["server"].removeprefix("https://").rsplit(":", 1)
    os.environ |= {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "token").write_text(kube.run("-n", SPACE, "create", "token", "tokens", "--duration=2h"))
        (folder / "ca.crt").write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
        given = Instances(namespace=SPACE, instances=tuple(instances))
        (folder / "instances.json").write_text(given.model_dump_json())
        access = Access.of_pod(folder)
        processes = Processes(folder)
        check, metrics, probes, peer = (free_port() for _ in range(4))
        command = [
            *(str(Path(sys.executable).with_name("hearth")), "token-server", "instances.json", "--host", "127.0.0.1"),
            *("--check-port", str(check), "--metrics-port", str(metrics), "--probe-port", str(probes)),
            *("--service-account", str(folder)),
        ]
        try:
            processes.start("server", command, os.environ)
            here = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
            module = [sys.executable, "-m", "tests.bench.token_server", "lister", name, str(peer)]
            processes.start("lister", module, here)
            processes.wait(lambda: up(probes, "/readyz") and up(peer, "/"))
            values: list[tuple[Instance, str]] = []
            for count in COUNTS:
                fresh = [(instances[number % 10], token()) for number in range(len(values), count)]
                places = range(len(values), count)
                asyncio.run(
                    made(
                        access,
                        [
                            secret(f"t-{place}", value, of, namespace=SPACE)
                            for place, (of, value) in zip(places, fresh, strict=True)
                        ],
                    )
                )
                values += fresh
                known = f"hearth_tokens {float(count)}"
                for _ in range(PATIENCE_SECONDS):
                    if known in httpx.get(f"http://127.0.0.1:{metrics}/metrics").text:
                        break
                    time.sleep(1)
                one = asyncio.run(asked(check, [(of.slug, value) for of, value in values], CALLS))
                calls = max(100, min(CALLS // 4, LISTED * len(instances) // count))
                other = asyncio.run(asked(peer, [(of.name, value) for of, value in values], calls))
                rows.append((count, one, calls, other))
        finally:
            processes.stop()
            kube.run("delete", "namespace", SPACE, "token-test-elsewhere", "--wait=false")
    print("| tokens | from memory, requests/s | p99, ms | a list each, requests/s | p99, ms | ratio | ratio of p99 |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for count, (rate, late), _, (slow, later) in rows:
        print(
            f"| {count:,} | {rate:,.0f} | {late:.1f} | {slow:,.1f} | {later:,.0f} | {rate / slow:,.0f} "
            f"| {later / late:,.0f} |"
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["lister"]:
        asyncio.run(lister(Path(sys.argv[2]), int(sys.argv[3])))
    else:
        main()
