"""The mock model server of a cluster without GPUs (S3-3): never offered, and reached by the gateway alone."""

from importlib import resources as package
from typing import Final

from hearth.compile.images import image
from hearth.compile.manifests.common import (
    Manifest,
    Object,
    config_map,
    config_volume,
    container,
    http_get,
    labels,
    metadata,
    mount,
    pod_template,
    probe,
    resources,
    selector,
    service,
    service_account,
)
from hearth.compile.names import ROLE_LABEL
from hearth.topology.topology import Topology

MOCK: Final = "vllm-inference"
"""Service and Deployment of the mock; the name is that of the server that it stands in for (S3-3)."""
MOCK_PORT: Final = 8000
"""TCP port of the mock."""

_COMPONENT: Final = "mock"


def mock(topology: Topology) -> list[Object]:
    """Return the mock model server, or nothing on a cluster with GPUs (S3-88)."""
    if not topology.gateway.mock:
        return []
    profile = image(topology.policy, "python")
    program = (package.files("hearth.serve") / "mock_server.py").read_text(encoding="utf-8")
    files = config_map(topology.namespace, f"{MOCK}-mock", _COMPONENT, {"mock_server.py": program}, app=MOCK)
    server = container(
        "mock",
        profile,
        args=["-I", "/opt/mock/mock_server.py", "--port", str(MOCK_PORT)],
        environment=[{"name": "PYTHONDONTWRITEBYTECODE", "value": "1"}],
        ports={"http": MOCK_PORT},
        resources=resources(cpu="10m", memory="32Mi", memory_limit="128Mi"),
        mounts=[mount("files", "/opt/mock", read_only=True)],
        startupProbe=probe(http_get("/health", "http"), period=1, timeout=5, failures=60),
        readinessProbe=probe(http_get("/health", "http"), period=10, timeout=5, failures=3),
        livenessProbe=probe(http_get("/health", "http"), period=20, timeout=10, failures=6),
    )
    deployment: Manifest = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(topology.namespace, MOCK, _COMPONENT),
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": selector(MOCK)},
            "template": pod_template(
                {**labels(MOCK, _COMPONENT), ROLE_LABEL: "mock"},
                image=profile,
                service_account="llm-mock",
                grace_seconds=10,
                containers=[server],
                volumes=[config_volume("files", files.name)],
            ),
        },
    }
    return [
        service_account(topology, "llm-mock", _COMPONENT),
        files,
        service(topology.namespace, MOCK, _COMPONENT, {"http": MOCK_PORT}),
        Object.named(deployment),
    ]
