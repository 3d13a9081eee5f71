"""PostgreSQL on a volume of its own (S3-1). An external database needs nothing of this."""

from typing import Any, Final

from hearth.claim.llm import InClusterDatabase
from hearth.compile.images import POSTGRES_BINARIES, image
from hearth.compile.manifests.common import (
    TEMPORARY,
    Manifest,
    Object,
    config_map,
    config_volume,
    container,
    empty_dir,
    execute,
    labels,
    metadata,
    mount,
    pod_template,
    probe,
    resources,
    secret_volume,
    selector,
    service,
    service_account,
    text_file,
)
from hearth.compile.manifests.connection import POSTGRES_PORT, max_connections
from hearth.compile.manifests.credentials import SecretNames
from hearth.compile.names import DATABASE, ROLE_LABEL
from hearth.topology.topology import Topology
from hearth.versions import versions

VOLUME_CLAIM: Final = "llm-database-data"
"""PersistentVolumeClaim of the data: a resource of its own, because the template of a StatefulSet cannot change."""
DATA: Final = "/data/postgresql"
"""Data directory: below the mount, so that an image's own idea of the path never decides where the data is."""

_COMPONENT: Final = "database"
_MEMORY_BASE_MIB: Final = 512
_MEMORY_PER_CONNECTION_MIB: Final = 4


def _volume_claim(topology: Topology, database: InClusterDatabase) -> Object:
    spec: dict[str, Any] = {
        # One Pod alone: PostgreSQL's own lock does not reach across Pods.
        "accessModes": ["ReadWriteOncePod"],
        "resources": {"requests": {"storage": database.storage}},
    }
    if database.storage_class is not None:
        spec["storageClassName"] = database.storage_class
    return Object.named(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": metadata(topology.namespace, VOLUME_CLAIM, _COMPONENT, app=DATABASE),
            "spec": spec,
        }
    )


def database(topology: Topology, names: SecretNames, *, pool: int) -> list[Object]:
    """Return PostgreSQL, or nothing when the database is external.

    Args:
        topology: the topology.
        names: names of the Secrets.
        pool: database connections of one gateway Pod.

    Raises:
        ClaimError: the gateway would need more connections than PostgreSQL may be given.
    """
    declared = topology.gateway.database
    if not isinstance(declared, InClusterDatabase):
        return []
    connections = max_connections(topology.gateway.replicas, pool)
    files = config_map(
        topology.namespace,
        "llm-database-files",
        _COMPONENT,
        {
            "prepare.sh": text_file("prepare.sh"),
            "roles.sql": text_file("roles.sql"),
            "pg_hba.conf": text_file("pg_hba.conf"),
            "postgresql.conf": f"max_connections = {connections}\n{text_file('postgresql.conf')}",
        },
        app=DATABASE,
    )
    profile = image(topology.policy, "postgres")
    memory = _MEMORY_BASE_MIB + _MEMORY_PER_CONNECTION_MIB * connections
    bounds = resources(cpu="100m", memory="256Mi", memory_limit=f"{memory}Mi", storage="64Mi", storage_limit="256Mi")
    mounts = [
        mount("data", "/data"),
        mount("files", "/etc/llm-database", read_only=True),
        mount("run", "/run/postgresql"),
        mount("shm", "/dev/shm"),  # noqa: S108 - the Pod's own
        mount("tmp", TEMPORARY),
    ]
    ready = execute(f"{POSTGRES_BINARIES}/pg_isready", "--quiet", "--host=/run/postgresql")
    prepare = container(
        "prepare",
        profile,
        command=["/bin/sh", "/etc/llm-database/prepare.sh"],
        environment=[
            {"name": "PGDATA", "value": DATA},
            {"name": "POSTGRES_MAJOR", "value": versions()["POSTGRES_MAJOR"]},
            {"name": "PATH", "value": f"{POSTGRES_BINARIES}:/usr/bin:/bin"},
        ],
        resources=bounds,
        mounts=[*mounts, mount("secret", "/etc/llm-database-secret", read_only=True)],
    )
    postgres = container(
        "postgres",
        profile,
        args=["-D", DATA, "-c", "config_file=/etc/llm-database/postgresql.conf"],
        ports={"postgres": POSTGRES_PORT},
        resources=bounds,
        mounts=mounts,
        startupProbe=probe(ready, period=2, timeout=5, failures=150),
        readinessProbe=probe(ready, period=10, timeout=5, failures=3),
        livenessProbe=probe(ready, period=20, timeout=10, failures=6),
    )
    stateful_set: Manifest = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": metadata(topology.namespace, DATABASE, _COMPONENT),
        "spec": {
            "serviceName": DATABASE,
            "replicas": 1,
            "selector": {"matchLabels": selector(DATABASE)},
            "template": pod_template(
                {**labels(DATABASE, _COMPONENT), ROLE_LABEL: "database"},
                image=profile,
                service_account=DATABASE,
                # The image's stop signal ends sessions and writes a checkpoint.
                grace_seconds=120,
                init_containers=[prepare],
                containers=[postgres],
                volumes=[
                    {"name": "data", "persistentVolumeClaim": {"claimName": VOLUME_CLAIM}},
                    config_volume("files", files.name),
                    secret_volume("secret", names.database, ["owner-password", "gateway-password"]),
                    empty_dir("run", "1Mi", in_memory=True),
                    empty_dir("shm", "128Mi", in_memory=True),
                    empty_dir("tmp", "64Mi"),
                ],
            ),
        },
    }
    return [
        service_account(topology, DATABASE, _COMPONENT),
        files,
        _volume_claim(topology, declared),
        service(topology.namespace, DATABASE, _COMPONENT, {"postgres": POSTGRES_PORT}, headless=True),
        Object.named(stateful_set),
    ]
