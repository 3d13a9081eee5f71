"""Who may open a TCP connection to what (S3-45, S3-51, S3-52, S4-88, C-1)."""

import pytest

from tests.cluster.platform import Platform

pytestmark = pytest.mark.cluster

CONNECT = """
import concurrent.futures, socket, sys
def connect(target):
    host, port = target.rsplit(":", 1)
    try:
        socket.create_connection((host, int(port)), 5).close()
        return "open"
    except OSError:
        return "closed"
# At once, because what is closed does not answer at all.
with concurrent.futures.ThreadPoolExecutor(max_workers=64) as at_once:
    print(*at_once.map(connect, sys.argv[1:]))
"""

GATEWAY = "llm-gateway.system-llm.svc.cluster.local:4000"


def behind_the_gateway(platform: Platform) -> list[str]:
    """Everything that only the gateway may reach, by Service and by Pod address."""
    targets = []
    for role, ports in (("database", [5432]), ("cache", [6379]), ("runtime", [8443, 8081]), ("gateway", [4001, 9101])):
        for pod in platform.kube.pods("system-llm", f"hearth.dev/role={role}"):
            targets += [f"{pod['status']['podIP']}:{port}" for port in ports]
    names = {"llm-database": 5432, "llm-cache": 6379, "llm-gemma": 8443}
    return [*targets, *(f"{name}.system-llm.svc.cluster.local:{port}" for name, port in names.items())]


def connect(platform: Platform, namespace: str, pod: str, *targets: str) -> list[str]:
    return platform.kube.python(namespace, pod, CONNECT, *targets).split()


@pytest.mark.parametrize(
    ("namespace", "pod", "expected"),
    [
        ("tenant-family", "notes", "open"),
        ("tenant-guests", "kiosk", "open"),
        ("tenant-family", "photos", "closed"),
        ("stranger", "notes", "closed"),
    ],
)
def test_only_a_declaring_application_reaches_the_gateway(
    platform: Platform, namespace: str, pod: str, expected: str
) -> None:
    addresses = [
        f"{pod['status']['podIP']}:4000" for pod in platform.kube.pods("system-llm", "hearth.dev/role=gateway")
    ]
    assert connect(platform, namespace, pod, GATEWAY, *addresses) == [expected] * (1 + len(addresses))


@pytest.mark.parametrize(("namespace", "pod"), [("tenant-family", "notes"), ("stranger", "notes")])
def test_nobody_else_reaches_what_is_behind_the_gateway(platform: Platform, namespace: str, pod: str) -> None:
    targets = behind_the_gateway(platform)
    assert len(targets) >= 9
    answers = dict(zip(targets, connect(platform, namespace, pod, *targets), strict=True))
    assert answers == dict.fromkeys(targets, "closed")


def test_a_tenant_reaches_neither_the_upstream_nor_the_kubernetes_api(platform: Platform) -> None:
    upstream = platform.kube.json("-n", "scripted", "get", "pod", "upstream")["status"]["podIP"]
    targets = [f"{upstream}:8443", "kubernetes.default.svc.cluster.local:443"]
    assert connect(platform, "tenant-family", "notes", *targets) == ["closed", "closed"]
