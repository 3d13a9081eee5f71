"""The Job that brings the database to the gateway's version and then takes from the gateway what it may not do."""

from typing import Any, Final

from hearth.compile.images import POSTGRES_BINARIES, image
from hearth.compile.manifests.common import (
    TEMPORARY,
    Manifest,
    Object,
    config_map,
    config_volume,
    container,
    content_digest,
    empty_dir,
    labels,
    metadata,
    mount,
    pod_template,
    resources,
    secret_variable,
    secret_volume,
    service_account,
    text_file,
)
from hearth.compile.manifests.connection import DATABASE_CA, OWNER, database_address
from hearth.compile.manifests.credentials import MIGRATIONS, SecretNames
from hearth.compile.manifests.trust import database_trust_volume
from hearth.compile.names import ROLE_LABEL
from hearth.topology.topology import Topology

_COMPONENT: Final = "migrations"


def migrations(topology: Topology, names: SecretNames, trust: Any) -> list[Object]:
    """Return the migrations' Job. It has to be complete before the gateway starts.

    Its name is the digest of what it does: a new LiteLLM, other rules for the gateway's role or another database
    make a new Job; a changed password does not. It does nothing twice that it has done before, so a Job that ran in
    vain half way is started again by itself.

    Args:
        topology: the topology.
        names: names of the Secrets.
        trust: name of the ConfigMap with the trust bundles.
    """
    address = database_address(topology)
    files = config_map(
        topology.namespace,
        "llm-migrations-files",
        _COMPONENT,
        {name: text_file(name) for name in ("lockdown.sh", "lockdown.sql", "views.py")},
        app=MIGRATIONS,
    )
    litellm, postgres = image(topology.policy, "litellm"), image(topology.policy, "postgres")
    verify = address.trust_bundle is not None
    ca_mounts = [mount("database-ca", DATABASE_CA.rsplit("/", 1)[0], read_only=True)] if verify else []
    litellm_environment = [
        {"name": "HOME", "value": TEMPORARY},
        {"name": "LITELLM_MODE", "value": "PRODUCTION"},
        {"name": "LITELLM_LOG", "value": "WARNING"},
        {"name": "LITELLM_LOCAL_MODEL_COST_MAP", "value": "True"},
        {"name": "LITELLM_MIGRATION_DIR", "value": f"{TEMPORARY}/migrations"},
        secret_variable("DATABASE_URL", names.migrations, "DATABASE_URL"),
    ]
    litellm_resources = resources(cpu="250m", memory="512Mi", memory_limit="1536Mi", storage_limit="512Mi")
    migrate = container(
        "migrate",
        litellm,
        args=["--skip_server_startup"],
        environment=litellm_environment,
        resources=litellm_resources,
        mounts=[mount("tmp", TEMPORARY), *ca_mounts],
    )
    views = container(
        "views",
        litellm,
        command=[litellm.python, "/etc/llm-migrations/views.py"],
        environment=litellm_environment,
        resources=litellm_resources,
        mounts=[mount("files", "/etc/llm-migrations", read_only=True), mount("tmp", TEMPORARY), *ca_mounts],
    )
    lockdown = container(
        "lockdown",
        postgres,
        command=["/bin/sh", "/etc/llm-migrations/lockdown.sh"],
        environment=[
            {"name": "PATH", "value": f"{POSTGRES_BINARIES}:/usr/bin:/bin"},
            {"name": "PGHOST", "value": address.host},
            {"name": "PGPORT", "value": str(address.port)},
            {"name": "PGDATABASE", "value": address.database},
            {"name": "PGUSER", "value": OWNER},
            {"name": "PGPASSFILE", "value": "/run/password/pgpass"},
            {"name": "PGCONNECT_TIMEOUT", "value": "10"},
            *(
                [{"name": "PGSSLMODE", "value": "verify-full"}, {"name": "PGSSLROOTCERT", "value": DATABASE_CA}]
                if verify
                else []
            ),
        ],
        resources=resources(cpu="50m", memory="64Mi", memory_limit="256Mi"),
        mounts=[
            mount("files", "/etc/llm-migrations", read_only=True),
            mount("secret", "/etc/llm-migrations-secret", read_only=True),
            mount("password", "/run/password"),
            *ca_mounts,
        ],
    )
    content = [
        topology.gateway.database.model_dump(mode="json"),
        litellm.reference,
        postgres.reference,
        files.manifest["data"],
    ]
    job: Manifest = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata(topology.namespace, f"{MIGRATIONS}-{content_digest(content)}", _COMPONENT, app=MIGRATIONS),
        "spec": {
            "backoffLimit": 4,
            "activeDeadlineSeconds": 1200,
            "template": pod_template(
                {**labels(MIGRATIONS, _COMPONENT), ROLE_LABEL: "migrations"},
                image=litellm,
                service_account=MIGRATIONS,
                grace_seconds=30,
                init_containers=[migrate, views],
                containers=[lockdown],
                volumes=[
                    config_volume("files", files.name),
                    secret_volume("secret", names.migrations, ["pgpass"]),
                    empty_dir("password", "1Mi", in_memory=True),
                    empty_dir("tmp", "256Mi"),
                    *database_trust_volume(topology, trust),
                ],
                restartPolicy="Never",
            ),
        },
    }
    return [service_account(topology, MIGRATIONS, _COMPONENT), files, Object(job, MIGRATIONS)]
