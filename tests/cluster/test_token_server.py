"""The token server and a real Kubernetes API: what it follows, what it believes, and what it does without (C-7)."""

import asyncio
import base64
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from hearth.serve.secret_watch import Access, SecretWatch
from hearth.serve.token_store import Instance, Instances, TokenStore
from tests.cluster.kube import Kube, eventually
from tests.support.processes import Processes, free_port
from tests.support.severable import Severable
from tests.support.tokens import secret, token

pytestmark = [pytest.mark.cluster, pytest.mark.apart]

NAMESPACE, ELSEWHERE, ACCOUNT = "token-test", "token-test-elsewhere", "tokens"
SLUGS = {"alpha": "aB3_-defGh12", "beta": "Zz9_-defGh34", "gamma": "Cc5_-defGh56"}
STALE_SECONDS = 4


def rights() -> list[dict[str, Any]]:
    """A ServiceAccount that may list and watch the Secrets of its namespace, and nothing else."""
    meta = {"name": ACCOUNT, "namespace": NAMESPACE}
    group = "rbac.authorization.k8s.io"
    return [
        *({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in (NAMESPACE, ELSEWHERE)),
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta},
        {
            "apiVersion": f"{group}/v1",
            "kind": "Role",
            "metadata": meta,
            "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["list", "watch"]}],
        },
        {
            "apiVersion": f"{group}/v1",
            "kind": "RoleBinding",
            "metadata": meta,
            "roleRef": {"apiGroup": group, "kind": "Role", "name": ACCOUNT},
            "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}],
        },
    ]


@dataclass
class Running:
    """A token server that reaches the API through a line that can be cut."""

    kube: Kube
    instances: dict[str, Instance]
    line: Severable
    account: Path
    check: str
    probes: str

    def make(self, name: str, value: str, instance: str = "alpha", **metadata: Any) -> None:
        made = secret(name, value, self.instances[instance], **{"namespace": NAMESPACE, **metadata})
        self.kube.apply(made)

    def ask(self, value: str, instance: str = "alpha") -> int:
        headers = {"X-Hearth-Instance": SLUGS[instance], "Authorization": f"Bearer {value}"}
        return httpx.get(f"{self.check}/auth/verify", headers=headers).status_code

    def comes(self, value: str, status: int, instance: str = "alpha") -> None:
        eventually(f"the answer {status}", lambda: self.ask(value, instance) == status, 60, 0.1)

    def ready(self) -> bool:
        try:
            return httpx.get(f"{self.probes}/readyz").is_success
        except httpx.TransportError:
            return False

    def made(self, name: str) -> str:
        """Make a token and wait until it opens its instance: what was made before is then known too."""
        value = token()
        self.make(name, value)
        self.comes(value, 200)
        return value


@pytest.fixture(scope="module")
def running(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("tokens")
    kube = Kube(environment)
    owners = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": NAMESPACE}} for name in SLUGS
    ]
    # a cluster that was kept
    kube.run("delete", "namespace", NAMESPACE, ELSEWHERE, "--ignore-not-found", "--wait=true")
    kube.apply(*rights(), *owners)
    instances = {
        name: Instance(name=name, slug=slug, uid=kube.json("-n", NAMESPACE, "get", "cm", name)["metadata"]["uid"])
        for name, slug in SLUGS.items()
    }
    (folder / "token").write_text(kube.run("-n", NAMESPACE, "create", "token", ACCOUNT, "--duration=1h"))
    cluster = json.loads(kube.run("config", "view", "--minify", "--raw", "-o", "json"))["clusters"][0]["cluster"]
    (folder / "ca.crt").write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
    given = Instances(namespace=NAMESPACE, instances=tuple(instances.values()))
    (folder / "instances.json").write_text(given.model_dump_json())
    server = urlsplit(cluster["server"])
    assert server.hostname is not None
    assert server.port is not None
    line = Severable(server.hostname, server.port)
    check, metrics, probes = free_port(), free_port(), free_port()
    processes = Processes(folder)
    found = Running(kube, instances, line, folder, f"http://127.0.0.1:{check}", f"http://127.0.0.1:{probes}")
    found.make("first", FIRST)
    command = [
        *(str(Path(sys.executable).with_name("hearth")), "token-server", "instances.json", "--host", "127.0.0.1"),
        *("--check-port", str(check), "--metrics-port", str(metrics), "--probe-port", str(probes)),
        *("--stale-seconds", str(STALE_SECONDS), "--service-account", str(folder)),
    ]
    pod = {**os.environ, "KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(line.port)}
    try:
        processes.start("server", command, pod)
        processes.wait(found.ready)
        yield found
    finally:
        processes.stop()
        line.cut()
        kube.run("delete", "namespace", NAMESPACE, ELSEWHERE, "--wait=false")


FIRST = token()
"""A token that is there before the server is."""


def test_a_token_opens_its_instance_until_it_is_deleted(running: Running) -> None:
    assert running.ask(FIRST) == 200
    assert running.ask(FIRST, "beta") == 401
    value = running.made("later")
    assert running.ask(value, "beta") == 401
    running.kube.run("-n", NAMESPACE, "delete", "secret", "later")
    running.comes(value, 401)
    assert running.ask(FIRST) == 200


def test_a_secret_that_somebody_planted_opens_nothing(running: Running) -> None:
    values = {name: token() for name in ("elsewhere", "unowned", "former")}
    running.make("elsewhere", values["elsewhere"], namespace=ELSEWHERE, ownerReferences=[])
    running.make("unowned", values["unowned"], ownerReferences=[])
    # The garbage collector takes this one away in the end; until then it is there, and opens nothing.
    former = {"apiVersion": "v1", "kind": "ConfigMap", "name": "alpha", "uid": "00000000-0000-0000-0000-000000000000"}
    running.make("former", values["former"], ownerReferences=[former])
    running.made("after")
    assert {name: running.ask(value) for name, value in values.items()} == dict.fromkeys(values, 401)


def test_without_the_api_the_last_state_counts_for_its_time_and_then_nobody_comes_in(running: Running) -> None:
    kept, deleted = running.made("kept"), running.made("deleted")
    running.line.cut()
    try:
        assert running.ask(kept) == 200
        running.kube.run("-n", NAMESPACE, "delete", "secret", "deleted")
        running.comes(kept, 503)
        assert running.ask(token()) == 503
        assert not running.ready()
    finally:
        running.line.mend()
    running.comes(kept, 200)
    assert running.ask(deleted) == 401
    assert running.ready()


def test_a_list_of_many_pages_is_taken_over_as_a_whole(running: Running) -> None:
    values = [token() for _ in range(3)]
    for index, value in enumerate(values):
        running.make(f"many-{index}", value, "beta")
    given = Instances(namespace=NAMESPACE, instances=tuple(running.instances.values()))
    store = TokenStore(given)
    watch = SecretWatch(store, Access(f"https://127.0.0.1:{running.line.port}", running.account), page=1)

    async def listed() -> None:
        following = asyncio.create_task(watch.run())
        for _ in range(600):
            if watch.age is not None or following.done():
                break
            await asyncio.sleep(0.1)
        following.cancel()

    asyncio.run(listed())
    assert [store.allows(SLUGS["beta"], value) for value in values] == [True] * 3
    assert store.allows(SLUGS["alpha"], FIRST)


def test_the_end_of_an_instance_is_the_end_of_its_tokens(running: Running) -> None:
    value = token()
    running.make("orphan", value, "gamma")
    running.comes(value, 200, "gamma")
    running.kube.run("-n", NAMESPACE, "delete", "configmap", "gamma")
    running.comes(value, 401, "gamma")
    assert running.ask(FIRST) == 200
