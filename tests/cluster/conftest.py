"""One platform for all cluster tests: a cluster of their own, the test claim deployed, and Pods of tenants.

The cluster is HEARTH_TEST_CLUSTER (default `hearth-test`); it is deleted at the end unless HEARTH_KEEP_CLUSTER is set.
Every test leaves the claim deployed as it found it.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from hearth.versions import versions
from tests.cluster import claims
from tests.cluster.kube import Kube, eventually
from tests.cluster.stack import ROOT, Stack
from tests.support import pki

CLUSTER = os.environ.get("HEARTH_TEST_CLUSTER", "hearth-test")
SCRIPTED_BEARER = "scripted-upstream-credential-0123456789"
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


@dataclass
class Platform:
    """What the tests work on."""

    kube: Kube
    stack: Stack
    claim: dict[str, Any]
    environment: dict[str, str]

    def gateway_pods(self) -> list[str]:
        return self.kube.pod_names("system-llm", "hearth.dev/role=gateway")

    def key(self, namespace: str, app: str) -> str:
        return self.kube.secret(namespace, f"llm-credentials-{app}")["OPENAI_API_KEY"]


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
            "stringData": {"tls.crt": certificate, "tls.key": key, "bearer": SCRIPTED_BEARER},
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
                                "name": "EXPECTED_BEARER",
                                "valueFrom": {"secretKeyRef": {"name": name, "key": "bearer"}},
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
    return dict(entry.split("=", 1) for entry in text.split("\0") if "=" in entry)


@pytest.fixture(scope="session")
def environment() -> Iterator[dict[str, str]]:
    """The test cluster, up and with the images loaded."""
    outer = {**os.environ, "HEARTH_CLUSTER": CLUSTER}
    subprocess.run(["bash", "local/cluster.sh"], cwd=ROOT, env=outer, check=True)
    yield _environment()
    if "HEARTH_KEEP_CLUSTER" not in os.environ:
        subprocess.run(["bash", "local/cluster-down.sh"], cwd=ROOT, env=outer, check=True)


@pytest.fixture(scope="session")
def platform(environment: dict[str, str]) -> Iterator[Platform]:
    """The test claim, deployed, with the Pods that the tests use."""
    # Trust bundles are files of the project, so the test's CA has to lie below it for as long as the tests run.
    folder = Path(tempfile.mkdtemp(prefix="test-stack-", dir=ROOT))
    try:
        authority = pki.Authority("scripted upstream CA")
        (folder / "ca.pem").write_text(authority.pem)
        digest = hashlib.sha256(authority.pem.encode()).hexdigest()
        kube = Kube(environment)
        # A cluster that was kept has Pods with the certificates and keys of another run.
        for namespace in (claims.SCRIPTED_NAMESPACE, "tenant-family", "tenant-guests", "stranger"):
            kube.run("-n", namespace, "delete", "pods", "--all", "--wait=true", check=False)
        kube.apply(*scripted_upstream(*authority.issue(x509.DNSName(claims.SCRIPTED_HOST))))
        stack = Stack("test", folder, environment)
        # Every run has a CA of its own, and other bytes need a higher version.
        claim = claims.claim(f"{folder.name}/ca.pem", digest, int(time.time() / 60) % 1_000_000)
        made = Platform(kube, stack, claim, environment)
        kube.apply(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "system-llm"}},
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": "llm-endpoint-credentials-external", "namespace": "system-llm"},
                "stringData": {claims.SCRIPTED_SECRET_KEY: SCRIPTED_BEARER},
            },
        )
        stack.up(claim)
        kube.apply(
            client_pod("tenant-family", "notes", secret="llm-credentials-notes"),
            client_pod("tenant-family", "photos"),
            client_pod("tenant-guests", "kiosk", secret="llm-credentials-kiosk"),
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "stranger"}},
            client_pod("stranger", "notes"),
        )
        for namespace, pod in (
            ("tenant-family", "notes"),
            ("tenant-family", "photos"),
            ("tenant-guests", "kiosk"),
            ("stranger", "notes"),
            (claims.SCRIPTED_NAMESPACE, "upstream"),
        ):
            kube.run("-n", namespace, "wait", "--for=condition=Ready", f"pod/{pod}", "--timeout=120s")
        yield made
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def restored(platform: Platform) -> Iterator[Platform]:
    """The platform, with the test claim deployed again after the test."""
    yield platform
    platform.stack.up(platform.claim)
    eventually("two gateway Pods", lambda: len(platform.gateway_pods()) == 2)
