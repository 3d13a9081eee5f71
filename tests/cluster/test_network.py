"""Who may open a TCP connection to what (S3-45, S3-51, S3-52, S4-88, C-1)."""

import json

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
    for role, ports in (
        ("database", [5432]),
        ("cache", [6379]),
        ("runtime", [8443, 8081]),
        ("gateway", [4001, 4002, 9101]),
        ("guard", [8443]),
    ):
        for pod in platform.kube.pods("system-llm", f"hearth.dev/role={role}"):
            targets += [f"{pod['status']['podIP']}:{port}" for port in ports]
    names = {"llm-database": 5432, "llm-cache": 6379, "llm-gemma": 8443, "llm-guard-0": 8443, "llm-guard-1": 8443}
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


OTHER_WAYS = """
import concurrent.futures, json, socket, sys
def tcp(host, port):
    try:
        socket.create_connection((host, port), 5).close()
        return "open"
    except ConnectionRefusedError:
        return "refused"
    except OSError:
        return "closed"
def udp(host, port):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as asked:
        asked.settimeout(5)
        try:
            # A question that every name server answers: the addresses of localhost.
            asked.sendto(bytes.fromhex("000101000001000000000000096c6f63616c686f73740000010001"), (host, port))
            asked.recv(512)
            return "open"
        except OSError:
            return "closed"
ways = {"tcp": tcp, "udp": udp}
def ask(target):
    way, host, port = target
    return ways[way](host, int(port))
with concurrent.futures.ThreadPoolExecutor(max_workers=64) as at_once:
    print(json.dumps(list(at_once.map(ask, json.loads(sys.argv[1])))))
"""


def test_litellm_reaches_guard_database_and_cache_and_nothing_else(platform: Platform) -> None:
    """Whoever runs code in LiteLLM's process has no way out: no node, API server, name server, endpoint or tenant."""
    kube = platform.kube

    def pod_addresses(namespace: str, selector: str) -> list[str]:
        return [pod["status"]["podIP"] for pod in kube.pods(namespace, selector)]

    inside = {
        *(("tcp", address, 8443) for address in pod_addresses("system-llm", "hearth.dev/role=guard")),
        *(("tcp", address, 5432) for address in pod_addresses("system-llm", "hearth.dev/role=database")),
        *(("tcp", address, 6379) for address in pod_addresses("system-llm", "hearth.dev/role=cache")),
    }
    assert len(inside) == 4
    name_servers = [
        kube.json("-n", "kube-system", "get", "service", "kube-dns")["spec"]["clusterIP"],
        *pod_addresses("kube-system", "k8s-app=kube-dns"),
    ]
    nodes = [
        entry["address"]
        for node in kube.json("get", "nodes")["items"]
        for entry in node["status"]["addresses"]
        if entry["type"] == "InternalIP"
    ]
    api_server = kube.json("get", "service", "kubernetes")["spec"]["clusterIP"]
    others = pod_addresses("tenant-family", "") + pod_addresses("stranger", "") + pod_addresses("scripted", "")
    assert name_servers
    assert len(nodes) == 2
    assert others
    outside = {
        *(("tcp", address, 8081) for address in pod_addresses("system-llm", "hearth.dev/role=guard")),
        *(
            ("tcp", address, port)
            for address in pod_addresses("system-llm", "hearth.dev/role=runtime")
            for port in (8443, 8081)
        ),
        *((way, address, 53) for way in ("tcp", "udp") for address in name_servers),
        *(("tcp", address, port) for address in nodes for port in (22, 443, 6443, 8443, 10250)),
        *(("udp", address, 53) for address in nodes),
        ("tcp", api_server, 443),
        *(("tcp", address, port) for address in others for port in (80, 4000, 8443)),
        *(
            ("tcp", address, port)
            for address in ("169.254.169.254", "1.1.1.1", "2606:4700:4700::1111")
            for port in (80, 443)
        ),
        *(("udp", address, 53) for address in ("1.1.1.1", "169.254.20.10", "2606:4700:4700::1111")),
    }
    targets = [*sorted(inside), *sorted(outside)]
    for pod in kube.pod_names("system-llm", "hearth.dev/role=gateway"):
        text = kube.execute("system-llm", pod, "python3", "-c", OTHER_WAYS, json.dumps(targets), container="litellm")
        found = dict(zip(targets, json.loads(text), strict=True))
        assert {target for target, answer in found.items() if answer == "open"} == inside
