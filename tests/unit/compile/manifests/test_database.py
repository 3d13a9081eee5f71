"""PostgreSQL, and the Job that prepares it for the gateway."""

import re
from typing import Any

import pytest

from hearth.claim.claim import Claim
from hearth.compile.manifests.common import Manifest, text_file
from hearth.gatewayapi.records import PERSON_BUDGET_FIELD, Mark
from tests.unit.compile.manifests.samples import claim_of, container, containers, grouped, one, values, variants


def stateful_set(claim: Claim | None = None) -> Manifest:
    return one(grouped(claim or variants()["local"])["database"], "StatefulSet")


def job(claim: Claim | None = None) -> Manifest:
    return one(grouped(claim or variants()["local"])["migrations"], "Job")


def environment(entry: dict[str, Any]) -> dict[str, Any]:
    return {item["name"]: item.get("value", item.get("valueFrom")) for item in entry["env"]}


def test_the_data_is_below_the_mount_of_a_volume_of_its_own() -> None:
    made = stateful_set()
    assert "volumeClaimTemplates" not in made["spec"]
    template = made["spec"]["template"]
    data = next(volume for volume in template["spec"]["volumes"] if volume["name"] == "data")
    assert data["persistentVolumeClaim"]["claimName"] == "llm-database-data"
    prepare, server = containers(template)
    path = environment(prepare)["PGDATA"]
    assert server["args"][:2] == ["-D", path]
    mounted = {mount["name"]: mount["mountPath"] for mount in server["volumeMounts"]}["data"]
    assert path.startswith(f"{mounted}/")


def test_the_volume_is_as_large_as_declared_and_for_one_pod() -> None:
    claim = values()
    claim["llm"]["database"] = {"mode": "inCluster", "storage": "3Gi", "storageClass": "fast"}
    spec = one(grouped(claim_of(claim))["database"], "PersistentVolumeClaim")["spec"]
    assert spec == {
        "accessModes": ["ReadWriteOncePod"],
        "resources": {"requests": {"storage": "3Gi"}},
        "storageClassName": "fast",
    }
    assert "storageClassName" not in one(grouped(variants()["local"])["database"], "PersistentVolumeClaim")["spec"]


def test_passwords_are_files_of_the_preparing_container_alone() -> None:
    prepare, server = containers(stateful_set()["spec"]["template"])
    assert any(mount["name"] == "secret" for mount in prepare["volumeMounts"])
    assert not any(mount["name"] == "secret" for mount in server["volumeMounts"])
    assert "env" not in server


def test_the_server_has_the_connections_that_the_gateway_needs() -> None:
    claim = values()
    claim["llm"]["gateway"] = {"replicas": 8}
    for made, wanted in ((variants()["local"], 60), (claim_of(claim), 132)):
        files = one(grouped(made)["database"], "ConfigMap")["data"]
        assert files["postgresql.conf"].startswith(f"max_connections = {wanted}\n")
    assert stateful_set(claim_of(claim)) != stateful_set()


def test_only_the_two_roles_connect_over_the_network_and_only_to_their_database() -> None:
    lines = [line.split() for line in text_file("pg_hba.conf").splitlines() if not line.startswith("#")]
    assert lines == [
        ["local", "all", "postgres", "peer"],
        ["host", "litellm", "litellm,litellm_gateway", "all", "scram-sha-256"],
    ]


def test_no_script_puts_a_password_into_an_argument_or_the_environment() -> None:
    for name in ("prepare.sh", "roles.sql", "lockdown.sh", "fetch.sh", "ollama.sh"):
        text = text_file(name)
        assert "PGPASSWORD" not in text, name
        assert "--pwfile" not in text, name
        # a value that is read into an argument of another program
        assert not re.search(r'(psql|pg_ctl|initdb|curl)[^\n]*"\$\(cat', text), name
    assert "`cat /etc/llm-database-secret/owner-password`" in text_file("roles.sql")


def test_statements_are_not_logged() -> None:
    lines = text_file("postgresql.conf").splitlines()
    assert {"log_statement = none", "log_min_duration_statement = -1", "log_min_error_statement = panic"} <= set(lines)


def test_the_migrations_run_as_the_owner_and_then_close() -> None:
    template = job()["spec"]["template"]
    assert [entry["name"] for entry in template["spec"]["initContainers"]] == ["migrate", "views"]
    assert [entry["name"] for entry in template["spec"]["containers"]] == ["lockdown"]
    migrate, _, lockdown = containers(template)
    assert migrate["args"] == ["--skip_server_startup"]
    assert environment(migrate)["DATABASE_URL"] == {"secretKeyRef": {"name": "llm-migrations", "key": "DATABASE_URL"}}
    assert "DISABLE_SCHEMA_UPDATE" not in environment(migrate)
    assert environment(lockdown)["PGUSER"] == "litellm"
    assert environment(lockdown)["PGHOST"] == "llm-database.system-llm.svc.cluster.local"
    assert "PGSSLMODE" not in environment(lockdown)
    assert template["spec"]["restartPolicy"] == "Never"
    assert job()["spec"]["activeDeadlineSeconds"] == 1200


def test_an_external_database_is_verified_in_every_container_that_connects() -> None:
    made = grouped(variants()["external-database"])
    pods = [
        job(variants()["external-database"])["spec"]["template"],
        one(made["gateway"], "Deployment")["spec"]["template"],
    ]
    for template, names in zip(pods, (["migrate", "views", "lockdown"], ["litellm"]), strict=True):
        volume = next(volume for volume in template["spec"]["volumes"] if volume["name"] == "database-ca")
        assert volume["configMap"]["items"] == [{"key": "db.pem", "path": "ca.pem"}]
        for name in names:
            mounts = {mount["name"]: mount["mountPath"] for mount in container(template, name)["volumeMounts"]}
            assert mounts["database-ca"] == "/etc/database-ca"
    lockdown = environment(container(pods[0], "lockdown"))
    assert lockdown["PGSSLMODE"] == "verify-full"
    assert lockdown["PGSSLROOTCERT"] == "/etc/database-ca/ca.pem"
    assert lockdown["PGHOST"] == "db.example"


def _external_port(claim: dict[str, Any]) -> None:
    claim["llm"]["database"] = {**values()["llm"].get("database", {}), "mode": "inCluster", "storage": "20Gi"}


@pytest.mark.parametrize(
    ("change", "same"),
    [
        (lambda claim: claim["aliases"].clear(), True),
        (lambda claim: claim["llm"].update(gateway={"replicas": 3}), True),
        (lambda claim: claim["tenants"].clear(), True),
        (lambda claim: claim["policy"].update(images="pinned"), False),
        (_external_port, False),
    ],
)
def test_the_job_has_another_name_if_and_only_if_it_does_something_else(change: Any, same: bool) -> None:
    claim = values()
    if claim["policy"]["images"] == "localBuild":
        claim["endpoints"]["gemma"]["runtime"]["models"][0]["source"]["image"]["ref"] = f"r.example/m@sha256:{'a' * 64}"
    before = job(claim_of(claim))["metadata"]["name"]
    change(claim)
    assert (job(claim_of(claim))["metadata"]["name"] == before) is same


def test_other_rules_for_the_gateways_role_make_another_job(monkeypatch: pytest.MonkeyPatch) -> None:
    before = job()["metadata"]["name"]
    monkeypatch.setattr("hearth.compile.manifests.migrations.text_file", lambda name: f"other {name}")
    assert job()["metadata"]["name"] != before


def test_the_database_lets_through_the_metadata_that_hearth_writes_and_no_other() -> None:
    written = {*Mark("stack", "tenant", "app", 1).metadata(), PERSON_BUDGET_FIELD}
    (allowed,) = re.findall(r"mark CONSTANT text := \$\$\{(.*)\}\$\$;", text_file("lockdown.sql"))
    assert set(allowed.split(",")) == written
