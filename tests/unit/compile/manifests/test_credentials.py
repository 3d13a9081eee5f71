"""Names and contents of Secrets."""

import hashlib

from hearth.compile.manifests.credentials import (
    SecretNames,
    cache_contents,
    database_contents,
    endpoint_contents,
    endpoint_credentials_contents,
    gateway_contents,
    in_cluster_trust,
    migrations_contents,
    secret,
    secret_name,
)
from hearth.compile.manifests.tenants import credentials_secret_manifest
from hearth.topology.resolve import resolve
from tests.support.compiling import tenant_of
from tests.support.proxy_claims import claim, sidecar_endpoint
from tests.unit.compile.manifests.samples import variants


def test_a_name_changes_with_the_content_and_with_nothing_else() -> None:
    contents = database_contents(owner_password="a", gateway_password="b")
    name = secret_name("llm-database", contents)
    assert name == secret_name("llm-database", dict(reversed(contents.items())))
    assert name.removeprefix("llm-database-") != secret_name("llm-cache", contents).removeprefix("llm-cache-")
    assert name != secret_name("llm-database", {**contents, "owner-password": "c"})
    # moving a character from a value into a key is another content
    assert secret_name("x", {"ab": "c"}) != secret_name("x", {"a": "bc"})
    assert len(name) == len("llm-database-") + 10


def test_a_secret_object_is_immutable() -> None:
    made = secret("system-llm", "llm-cache", "llm-cache-0123456789", "llm-cache", cache_contents(password="p")).manifest
    assert made["immutable"] is True
    assert made["metadata"]["namespace"] == "system-llm"
    assert made["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "hearth"


def test_the_cache_keeps_nothing_and_evicts_nothing() -> None:
    lines = cache_contents(password="p4ss")["valkey.conf"].splitlines()
    assert {'requirepass "p4ss"', 'save ""', "appendonly no", "maxmemory-policy noeviction"} <= set(lines)
    assert 'rename-command FLUSHALL ""' in lines
    # LiteLLM counts with scripts; without them every replica would count for itself
    assert not any(command in " ".join(lines) for command in ("EVAL", "SCRIPT"))


def test_the_gateway_connects_as_the_role_that_cannot_store_models() -> None:
    made = gateway_contents(
        resolve(variants()["local"]),
        master_key="sk-m",
        salt_key="s",
        management_token="t",
        gateway_password="g",
        cache_password="c",
    )
    assert made["DATABASE_URL"].startswith("postgresql://litellm_gateway:g@")
    in_its_environment = {"LITELLM_MASTER_KEY", "LITELLM_SALT_KEY", "DATABASE_URL", "REDIS_PASSWORD"}
    assert set(made) == {*in_its_environment, "MANAGEMENT_TOKEN"}


def test_the_migrations_connect_as_the_owner_and_psql_can_read_any_password() -> None:
    made = migrations_contents(resolve(variants()["local"]), owner_password="a:b\\c")
    assert made["pgpass"] == "*:*:*:litellm:a\\:b\\\\c\n"
    assert made["DATABASE_URL"].startswith("postgresql://litellm:a%3Ab%5Cc@")


def test_the_endpoint_knows_a_token_by_its_digest_alone() -> None:
    made = endpoint_contents(token="t0ken", runtime_key="k3y", certificate="C", private_key="K")
    assert made["tokens.map"] == f"{hashlib.sha256(b't0ken').hexdigest()} gateway\n"
    assert made["runtime.map"] == "runtime k3y\n"
    assert made["runtime-key"] == "k3y"
    assert not any("t0ken" in value for value in made.values())


def test_the_guard_gets_each_token_as_a_variable() -> None:
    topology = resolve(claim({"gemma-small": sidecar_endpoint()}))
    assert endpoint_credentials_contents(topology, {"gemma-small": "t"}) == {"ENDPOINT_CREDENTIAL_GEMMA_SMALL": "t"}


def test_references_name_a_secret_for_every_endpoint_in_a_pod() -> None:
    names = SecretNames.by_reference(resolve(variants()["local"]))
    assert names.endpoints == {"gemma": "llm-endpoint-gemma"}
    assert SecretNames.by_reference(resolve(variants()["external-database"])).endpoints == {}


def test_the_ca_of_the_pods_is_where_the_guard_looks_for_it() -> None:
    assert in_cluster_trust("system-llm", "llm-trust-in-cluster-0123456789", "PEM").manifest["data"] == {
        "in-cluster.pem": "PEM"
    }


def test_an_application_gets_every_spelling_of_the_address() -> None:
    topology = resolve(variants()["local"])
    made = credentials_secret_manifest(topology, tenant_of(topology, "family"), "notes", "sk-key")
    url = "http://llm-gateway.system-llm.svc.cluster.local:4000/v1"
    assert made["stringData"] == {
        "OPENAI_API_BASE": url,
        "OPENAI_API_BASE_URL": url,
        "OPENAI_BASE_URL": url,
        "OPENAI_API_KEY": "sk-key",
    }
    assert made["metadata"]["name"] == "llm-credentials-notes"
    assert made["metadata"]["namespace"] == "tenant-family"
    assert made["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "hearth"
    assert made["metadata"]["labels"]["hearth.dev/app"] == "notes"
