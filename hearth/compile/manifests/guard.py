"""The guard's Pods: everything that the gateway asks goes through one of them."""

import math
from collections.abc import Mapping
from typing import Any, Final

from hearth.compile.guard import CA_DIRECTORY, CONFIG_DIRECTORY, SECRET_DIRECTORY
from hearth.compile.images import image
from hearth.compile.manifests.common import (
    Manifest,
    Object,
    config_map,
    config_volume,
    container,
    disruption_budget,
    http_get,
    labels,
    metadata,
    mount,
    pod_template,
    probe,
    resources,
    secret_variable,
    secret_volume,
    selector,
    service_account,
    spread,
)
from hearth.compile.manifests.credentials import EXTERNAL_CREDENTIALS, PROVIDER_CREDENTIALS, SecretNames
from hearth.compile.manifests.trust import trust_volume
from hearth.compile.names import (
    GUARD,
    GUARD_PORT,
    GUARD_PROBE_PORT,
    GUARDS,
    ROLE_LABEL,
    credential_key,
    credential_variable,
)
from hearth.compile.proxy_text import DRAIN_MARGIN_MS
from hearth.topology.topology import Topology

STOP_MARGIN_SECONDS: Final = 10
"""How long the guard may take to end after the last request has, in seconds."""
PRE_STOP_SECONDS: Final = 5
"""How long the only Pod of a guard goes on serving after it has left the Service, in seconds."""

_COMPONENT: Final = "guard"


def _grace_seconds(topology: Topology) -> int:
    """Return how long a Pod may take to stop: as long as its longest request, and a little more."""
    longest_ms = topology.longest_request_ms
    return PRE_STOP_SECONDS + math.ceil((longest_ms + DRAIN_MARGIN_MS) / 1000) + STOP_MARGIN_SECONDS


def _environment(topology: Topology, names: SecretNames) -> list[dict[str, Any]]:
    """Return the upstreams' credentials, each from the Secret that owns it.

    What the operator writes is optional: without it the guard answers 401 for that upstream and goes on serving the
    others (S3-41). What the deployment makes has to be there.
    """
    variables = []
    for upstream in topology.upstreams:
        credential = upstream.credential
        if credential is None:
            continue
        variable = credential_variable(upstream)
        if credential.source == "deployment":
            variables.append(secret_variable(variable, names.endpoint_credentials, variable))
        elif credential.source == "reference":
            key = credential_key(credential.name)
            variables.append(secret_variable(variable, EXTERNAL_CREDENTIALS, key, optional=True))
        else:
            variables.append(secret_variable(variable, PROVIDER_CREDENTIALS, credential.name, optional=True))
    return variables


def _strategy(topology: Topology) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return how a Pod is replaced, and what its container does before it stops.

    With a backup, the old Pod accepts nothing more before the new one is ready, so that an upstream's bounds are never
    counted in two Pods of its home at once. Alone, the new one is ready first, so that nothing is interrupted.
    """
    if topology.gateway.guards > 1:
        return {"maxUnavailable": 1, "maxSurge": 0}, {}
    return {"maxUnavailable": 0, "maxSurge": 1}, {"lifecycle": {"preStop": {"sleep": {"seconds": PRE_STOP_SECONDS}}}}


def guard_config(topology: Topology, files: Mapping[str, str]) -> Object:
    """Return the ConfigMap of all replicas.

    Args:
        topology: the topology.
        files: files of the guard by name, `guard.cfg` among them.
    """
    return config_map(topology.namespace, GUARD, _COMPONENT, files)


def guard_common(topology: Topology, files: Mapping[str, str]) -> list[Object]:
    """Return what the replicas have in common."""
    made = [service_account(topology, GUARD, _COMPONENT), guard_config(topology, files)]
    if topology.gateway.guards > 1:
        # With one replica it would forbid every drain of its node.
        made.append(disruption_budget(topology.namespace, GUARD, _COMPONENT, {ROLE_LABEL: "guard"}))
    return made


def guard_replica(
    topology: Topology, names: SecretNames, replica: int, *, files: Mapping[str, str], trust: Any
) -> list[Object]:
    """Return one replica of the guard; its Service is among the services.

    Args:
        topology: the topology.
        names: names of the Secrets.
        replica: which one.
        files: files of the guard by name.
        trust: name of the ConfigMap with the trust bundles.
    """
    name = GUARDS[replica]
    haproxy = image(topology.policy, "haproxy")
    rolling, lifecycle = _strategy(topology)
    alive = http_get("/healthz", "probe")
    program = container(
        "guard",
        haproxy,
        args=["-db", "-f", f"{CONFIG_DIRECTORY}/guard.cfg"],
        environment=_environment(topology, names),
        ports={"https": GUARD_PORT, "probe": GUARD_PROBE_PORT},
        resources=resources(cpu="50m", memory="64Mi", memory_limit="512Mi"),
        mounts=[
            mount("config", CONFIG_DIRECTORY, read_only=True),
            mount("trust", CA_DIRECTORY, read_only=True),
            mount("secret", SECRET_DIRECTORY, read_only=True),
        ],
        startupProbe=probe(alive, period=1, timeout=5, failures=60),
        readinessProbe=probe(alive, period=2, timeout=5, failures=3),
        livenessProbe=probe(alive, period=20, timeout=5, failures=6),
        **lifecycle,
    )
    pod_labels = {**labels(name, _COMPONENT), ROLE_LABEL: "guard"}
    deployment: Manifest = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(topology.namespace, name, _COMPONENT),
        "spec": {
            "replicas": 1,
            "progressDeadlineSeconds": 900,
            "revisionHistoryLimit": 3,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": rolling},
            "selector": {"matchLabels": selector(name)},
            "template": pod_template(
                pod_labels,
                image=haproxy,
                service_account=GUARD,
                grace_seconds=_grace_seconds(topology),
                containers=[program],
                volumes=[
                    config_volume("config", guard_config(topology, files).name),
                    trust_volume(topology, trust, names),
                    secret_volume("secret", names.guards[replica], ["tls.crt", "tls.key", "tokens.map"]),
                ],
                # All replicas of the guard together: each is a Deployment of its own.
                topologySpreadConstraints=spread({ROLE_LABEL: "guard"}, by_template=False),
            ),
        },
    }
    return [Object.named(deployment)]
