"""One platform for all cluster tests: a cluster of their own, the test claim deployed, and Pods of tenants.

The cluster is HEARTH_TEST_CLUSTER (default `hearth-test`); it is deleted at the end unless HEARTH_KEEP_CLUSTER is set.
Every test leaves the claim deployed as it found it: they run in any order, and again on a cluster that was kept.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from hearth.versions import versions
from tests.cluster import claims
from tests.cluster.box import SECRET_KEY, Box
from tests.cluster.deployer import deployer
from tests.cluster.kube import Kube, eventually
from tests.cluster.outage import Outage, stopped_and_started
from tests.cluster.platform import SCRIPTED_BEARER, STEADY_BEARER, Platform
from tests.cluster.stack import ROOT, Stack
from tests.support import pki

CLUSTER = os.environ.get("HEARTH_TEST_CLUSTER", "hearth-test")
PODS = (
    ("tenant-family", "notes"),
    ("tenant-family", "photos"),
    ("tenant-guests", "kiosk"),
    ("stranger", "notes"),
    (claims.SCRIPTED_NAMESPACE, "upstream"),
)
"""Namespaces and names of the Pods that the tests work with."""
MADE_BEFORE = {"app.kubernetes.io/managed-by": "hearth", "hearth.dev/environment": "test"}
"""Labels of a namespace that an operator makes for Hearth, to put credentials into it before the first deployment."""
CLIENT_SECURITY: dict[str, Any] = {
    "runAsNonRoot": True,
    "runAsUser": 20001,
    "runAsGroup": 20001,
    "seccompProfile": {"type": "RuntimeDefault"},
}
CONTAINER_SECURITY: dict[str, Any] = {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
}


def client_pod(namespace: str, app: str, *, secret: str | None = None, label: bool = True) -> dict[str, Any]:
    """A Pod that sleeps, for programs that the tests run in it."""
    container: dict[str, Any] = {
        "name": "app",
        "image": versions()["IMAGE_CLIENT"],
        "imagePullPolicy": "IfNotPresent",
        "command": ["sleep", "infinity"],
        "securityContext": CONTAINER_SECURITY,
        "resources": {"requests": {"cpu": "20m", "memory": "32Mi"}, "limits": {"memory": "384Mi"}},
    }
    if secret:
        container["envFrom"] = [{"secretRef": {"name": secret}}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": app, "namespace": namespace, "labels": {"hearth.dev/app": app} if label else {}},
        "spec": {
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "terminationGracePeriodSeconds": 1,
            "securityContext": CLIENT_SECURITY,
            "containers": [container],
        },
    }


def scripted_upstream(certificate: str, key: str) -> list[dict[str, Any]]:
    program = (ROOT / "tests/support/scripted_upstream.py").read_text()
    name, namespace = "upstream", claims.SCRIPTED_NAMESPACE
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": namespace},
            "data": {"scripted_upstream.py": program},
        },
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": name, "namespace": namespace},
            "stringData": {"tls.crt": certificate, "tls.key": key, "bearers": f"{SCRIPTED_BEARER} {STEADY_BEARER}"},
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"clusterIP": "None", "selector": {"app": name}, "ports": [{"name": "https", "port": 8443}]},
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": namespace, "labels": {"app": name}},
            "spec": {
                "automountServiceAccountToken": False,
                "enableServiceLinks": False,
                "terminationGracePeriodSeconds": 1,
                "securityContext": {**CLIENT_SECURITY, "fsGroup": 20001},
                "containers": [
                    {
                        "name": name,
                        "image": versions()["IMAGE_CLIENT"],
                        "imagePullPolicy": "IfNotPresent",
                        "command": ["python3", "/program/scripted_upstream.py"],
                        "env": [
                            {"name": "TLS_CERTIFICATE", "value": "/tls/tls.crt"},
                            {"name": "TLS_KEY", "value": "/tls/tls.key"},
                            {
                                "name": "EXPECTED_BEARERS",
                                "valueFrom": {"secretKeyRef": {"name": name, "key": "bearers"}},
                            },
                        ],
                        "securityContext": CONTAINER_SECURITY,
                        "volumeMounts": [
                            {"name": "program", "mountPath": "/program"},
                            {"name": "tls", "mountPath": "/tls"},
                        ],
                    }
                ],
                "volumes": [
                    {"name": "program", "configMap": {"name": name}},
                    {"name": "tls", "secret": {"secretName": name, "defaultMode": 0o440}},
                ],
            },
        },
    ]


def _environment() -> dict[str, str]:
    """What local/env prints for the test cluster."""
    text = subprocess.run(
        ["bash", "-c", ". local/env.sh && env -0"],
        cwd=ROOT,
        env={**os.environ, "HEARTH_CLUSTER": CLUSTER},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    found = dict(entry.split("=", 1) for entry in text.split("\0") if "=" in entry)
    # Each run of Pulumi is several processes of the program, whose byte code is kept; but not in the checkout.
    return {**found, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": f"{found['HEARTH_CACHE']}/pycache"}


@pytest.fixture(scope="session")
def environment() -> Iterator[dict[str, str]]:
    """The test cluster, up and with the images loaded."""
    outer = {**os.environ, "HEARTH_CLUSTER": CLUSTER}
    subprocess.run(["bash", "local/cluster.sh"], cwd=ROOT, env=outer, check=True)
    yield _environment()
    if "HEARTH_KEEP_CLUSTER" not in os.environ:
        subprocess.run(["bash", "local/cluster-down.sh"], cwd=ROOT, env=outer, check=True)


@pytest.fixture(scope="session")
def platform(environment: dict[str, str], request: pytest.FixtureRequest) -> Iterator[Platform]:
    """The test claim, deployed, with the Pods that the tests use."""
    # Trust bundles are files of the project, so the test's CA has to lie below it for as long as the tests run.
    folder = Path(tempfile.mkdtemp(prefix="test-stack-", dir=ROOT))
    with ExitStack() as ends:
        ends.callback(shutil.rmtree, folder, ignore_errors=True)
        authority = pki.Authority("scripted upstream CA")
        (folder / "ca.pem").write_text(authority.pem)
        digest = hashlib.sha256(authority.pem.encode()).hexdigest()
        # Every run has a CA of its own, and other bytes need a higher version.
        claim = claims.claim(f"{folder.name}/ca.pem", digest, int(time.time() / 60) % 1_000_000)
        supplied = {claims.SCRIPTED_SECRET_KEY: SCRIPTED_BEARER, claims.STEADY_SECRET_KEY: STEADY_BEARER}
        box = made_box(environment) if any("box" in _fixtures(item) for item in request.session.items) else None
        if box is not None:
            ends.callback(box.destroy)
            claim = box.claim(claim, folder)
            supplied[SECRET_KEY] = box.token().strip()

        kube = Kube(environment)
        # A cluster that was kept has Pods with the certificates and keys of another run.
        for namespace in {namespace for namespace, _ in PODS}:
            kube.run("-n", namespace, "delete", "pods", "--all", "--wait=true", check=False)
        kube.apply(*scripted_upstream(*authority.issue(x509.DNSName(claims.SCRIPTED_HOST))))
        # with no right beyond those that the documents ask for
        stack = Stack("test", folder, deployer(kube, folder, environment))
        kube.apply(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "system-llm", "labels": MADE_BEFORE}},
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": "llm-endpoint-credentials-external", "namespace": "system-llm"},
                "stringData": supplied,
            },
        )
        if box is not None:
            stack.write(claim)
            box.install(stack)
        stack.up(claim)
        kube.apply(
            client_pod("tenant-family", "notes", secret="llm-credentials-notes"),
            client_pod("tenant-family", "photos"),
            client_pod("tenant-guests", "kiosk", secret="llm-credentials-kiosk"),
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "stranger"}},
            client_pod("stranger", "notes"),
        )
        for namespace, pod in PODS:
            kube.run("-n", namespace, "wait", "--for=condition=Ready", f"pod/{pod}", "--timeout=300s")
        yield Platform(kube, stack, claim, environment, box)


def made_box(environment: dict[str, str]) -> Box | None:
    """The host outside the cluster, where there can be one."""
    network = environment.get("KIND_EXPERIMENTAL_PODMAN_NETWORK")
    return None if network is None else Box(environment, network)


def _fixtures(item: pytest.Item) -> tuple[str, ...]:
    return tuple(item.fixturenames) if isinstance(item, pytest.Function) else ()


@pytest.fixture
def restored(platform: Platform) -> Iterator[Platform]:
    """The platform, with the test claim deployed after the test, whatever the test deployed."""
    yield platform
    if platform.stack.deployed != platform.claim:
        platform.stack.up(platform.claim)
    eventually("two gateway Pods", lambda: len(platform.gateway_pods()) == 2)


@pytest.fixture(scope="session")
def outage(platform: Platform) -> Outage:
    """What was seen when the gateway was stopped and started again."""
    return stopped_and_started(platform)
