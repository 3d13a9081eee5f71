"""The gateway: LiteLLM on sockets, and one HAProxy, the front, as its only way in and its only way out."""

from collections.abc import Mapping
from typing import Any, Final

from hearth.compile.front import GUARD_DIRECTORY
from hearth.compile.guard import CONFIG_DIRECTORY
from hearth.compile.images import image
from hearth.compile.intake import SETTINGS, START, intake_program
from hearth.compile.manifests.cache import CACHE_PORT
from hearth.compile.manifests.common import (
    TEMPORARY,
    Manifest,
    Object,
    config_map,
    config_volume,
    container,
    disruption_budget,
    empty_dir,
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
    service,
    service_account,
    spread,
    tcp_socket,
)
from hearth.compile.manifests.connection import DATABASE_CA, SURGE, database_address
from hearth.compile.manifests.credentials import SecretNames
from hearth.compile.manifests.drain import PRE_STOP_SECONDS, grace_seconds
from hearth.compile.manifests.services import name_resolution
from hearth.compile.manifests.trust import database_trust_volume
from hearth.compile.names import (
    CACHE,
    CLIENT_SOCKET,
    DOORS,
    FRONT_PROBE_PORT,
    GATEWAY,
    GATEWAY_PORT,
    MANAGEMENT_MAP,
    MANAGEMENT_SOCKET,
    ROLE_LABEL,
)
from hearth.topology.topology import Topology

_COMPONENT: Final = "gateway"
_PROGRAM: Final = "/etc/hearth"


def _litellm_environment(topology: Topology, names: SecretNames) -> list[dict[str, Any]]:
    plain = {
        "HOME": TEMPORARY,
        "LITELLM_MODE": "PRODUCTION",
        "LITELLM_LOG": "WARNING",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "STORE_MODEL_IN_DB": "False",
        "DISABLE_SCHEMA_UPDATE": "true",
        "DISABLE_ADMIN_UI": "True",
        "NO_DOCS": "True",
        "NO_REDOC": "True",
        "LITELLM_TELEMETRY_DISABLED": "true",
        # LiteLLM takes an embedding's `max_retries: 0` for absent, and would ask a full endpoint three times.
        "DEFAULT_MAX_RETRIES": "0",
        "REDIS_HOST": topology.service_host(CACHE),
        "REDIS_PORT": str(CACHE_PORT),
        # Its default keeps answering 503 for a minute after Valkey is back.
        "REDIS_CIRCUIT_BREAKER_RECOVERY_TIMEOUT": "5",
    }
    keys = ("LITELLM_MASTER_KEY", "LITELLM_SALT_KEY", "DATABASE_URL", "REDIS_PASSWORD")
    return [
        *({"name": name, "value": value} for name, value in plain.items()),
        *(secret_variable(key, names.gateway, key) for key in keys),
    ]


def gateway(
    topology: Topology,
    names: SecretNames,
    *,
    litellm_yaml: str,
    intake_json: str,
    front_files: Mapping[str, str],
    trust: Any,
    addresses: Mapping[str, Any] | None,
) -> list[Object]:
    """Return the gateway.

    Args:
        topology: the topology.
        names: names of the Secrets.
        litellm_yaml: text of LiteLLM's config.yaml.
        intake_json: text of what the intake is told.
        front_files: files of the front by name, `front.cfg` among them.
        trust: name of the ConfigMap with the trust bundles.
        addresses: cluster addresses of the Services that it calls, by name; none where they are not known.
    """
    litellm_config = config_map(
        topology.namespace,
        "llm-gateway-config",
        _COMPONENT,
        {"config.yaml": litellm_yaml, SETTINGS: intake_json},
        app=GATEWAY,
    )
    program = intake_program().files
    intake_code = config_map(
        topology.namespace,
        "llm-gateway-intake",
        _COMPONENT,
        {path.replace("/", "."): text for path, text in program.items()},
        app=GATEWAY,
    )
    front_config = config_map(topology.namespace, "llm-gateway-front", _COMPONENT, front_files, app=GATEWAY)
    litellm_image, haproxy_image = image(topology.policy, "litellm"), image(topology.policy, "haproxy")
    replicas = topology.gateway.replicas
    verify_database = database_address(topology).trust_bundle is not None

    # Until LiteLLM has answered once, the front is not ready; that it runs is what its port says.
    open_port = tcp_socket("http")
    front = container(
        "front",
        haproxy_image,
        sidecar=True,
        args=["-db", "-f", f"{CONFIG_DIRECTORY}/front.cfg"],
        ports={"http": GATEWAY_PORT, "front-probe": FRONT_PROBE_PORT},
        resources=resources(cpu="50m", memory="64Mi", memory_limit="512Mi"),
        mounts=[
            mount("front", CONFIG_DIRECTORY, read_only=True),
            mount("guard", GUARD_DIRECTORY, read_only=True),
            mount("doors", DOORS),
        ],
        startupProbe=probe(open_port, period=1, timeout=5, failures=60),
        livenessProbe=probe(open_port, period=20, timeout=5, failures=6),
    )
    ready = http_get("/readyz", FRONT_PROBE_PORT)
    litellm = container(
        "litellm",
        litellm_image,
        command=[
            litellm_image.python,
            f"{_PROGRAM}/{START}",
            "/etc/litellm/config.yaml",
            f"/etc/litellm/{SETTINGS}",
            CLIENT_SOCKET,
            MANAGEMENT_SOCKET,
        ],
        environment=_litellm_environment(topology, names),
        resources=resources(cpu="200m", memory="1Gi", memory_limit="2Gi", storage_limit="512Mi"),
        mounts=[
            mount("config", "/etc/litellm", read_only=True),
            mount("intake", _PROGRAM, read_only=True),
            mount("doors", DOORS),
            mount("tmp", TEMPORARY),
            *([mount("database-ca", DATABASE_CA.rsplit("/", 1)[0], read_only=True)] if verify_database else []),
        ],
        # LiteLLM's own readiness is 503 while the database is away, and its /health calls every model. So all three
        # ask through the front whether the process answers, and a database that is away restarts nothing.
        startupProbe=probe(ready, period=3, timeout=5, failures=100),
        readinessProbe=probe(ready, period=5, timeout=5, failures=3),
        livenessProbe=probe(http_get("/health/liveliness", FRONT_PROBE_PORT), period=20, timeout=10, failures=6),
        lifecycle={"preStop": {"sleep": {"seconds": PRE_STOP_SECONDS}}},
    )
    deployment: Manifest = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(topology.namespace, GATEWAY, _COMPONENT),
        "spec": {
            "replicas": replicas,
            "progressDeadlineSeconds": 900,
            "revisionHistoryLimit": 3,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": SURGE}},
            "selector": {"matchLabels": selector(GATEWAY)},
            "template": pod_template(
                {**labels(GATEWAY, _COMPONENT), ROLE_LABEL: "gateway"},
                image=litellm_image,
                service_account=GATEWAY,
                grace_seconds=grace_seconds(topology.longest_request_ms),
                init_containers=[front],
                containers=[litellm],
                volumes=[
                    config_volume("config", litellm_config.name),
                    config_volume("intake", intake_code.name, {path.replace("/", "."): path for path in program}),
                    empty_dir("doors", "1Mi", in_memory=True),
                    config_volume("front", front_config.name),
                    secret_volume("guard", names.gateway_guard, ["ca.pem", "credentials.map", MANAGEMENT_MAP]),
                    *database_trust_volume(topology, trust),
                    empty_dir("tmp", "256Mi"),
                ],
                topologySpreadConstraints=spread(selector(GATEWAY)),
                **name_resolution(topology, addresses),
            ),
        },
    }
    made = [
        service_account(topology, GATEWAY, _COMPONENT),
        litellm_config,
        intake_code,
        front_config,
        service(topology.namespace, GATEWAY, _COMPONENT, {"http": GATEWAY_PORT}),
        Object.named(deployment),
    ]
    if replicas > 1:
        # With one replica it would forbid every drain of its node.
        made.append(disruption_budget(topology.namespace, GATEWAY, _COMPONENT, selector(GATEWAY)))
    return made
