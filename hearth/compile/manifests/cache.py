"""Valkey: the counters that the gateway's replicas share (S3-1). Nothing in it outlives a restart."""

from typing import Final

from hearth.compile.images import image
from hearth.compile.manifests.common import (
    Manifest,
    Object,
    container,
    empty_dir,
    labels,
    metadata,
    mount,
    pod_template,
    probe,
    resources,
    secret_volume,
    selector,
    service_account,
    tcp_socket,
)
from hearth.compile.manifests.credentials import SecretNames
from hearth.compile.names import CACHE, ROLE_LABEL
from hearth.topology.topology import Topology

CACHE_PORT: Final = 6379
"""TCP port of Valkey."""

_COMPONENT: Final = "cache"


def cache(topology: Topology, names: SecretNames) -> list[Object]:
    """Return Valkey. Its configuration is a Secret, because the password is in it."""
    profile = image(topology.policy, "valkey")
    valkey = container(
        "valkey",
        profile,
        args=["/etc/valkey/valkey.conf"],
        ports={"valkey": CACHE_PORT},
        # The configuration's maxmemory is three quarters of the limit.
        resources=resources(cpu="20m", memory="64Mi", memory_limit="128Mi"),
        mounts=[mount("conf", "/etc/valkey", read_only=True), mount("data", "/data")],
        startupProbe=probe(tcp_socket("valkey"), period=1, timeout=5, failures=30),
        readinessProbe=probe(tcp_socket("valkey"), period=5, timeout=5, failures=3),
        livenessProbe=probe(tcp_socket("valkey"), period=15, timeout=10, failures=6),
    )
    deployment: Manifest = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(topology.namespace, CACHE, _COMPONENT),
        "spec": {
            "replicas": 1,
            # Two at once would count apart.
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": selector(CACHE)},
            "template": pod_template(
                {**labels(CACHE, _COMPONENT), ROLE_LABEL: "cache"},
                image=profile,
                service_account=CACHE,
                grace_seconds=10,
                containers=[valkey],
                volumes=[secret_volume("conf", names.cache, ["valkey.conf"]), empty_dir("data", "64Mi")],
            ),
        },
    }
    return [
        service_account(topology, CACHE, _COMPONENT),
        Object.named(deployment),
    ]
