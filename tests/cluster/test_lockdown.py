"""Nothing but the claim makes a model or a setting (S3-6, S3-7, C-8)."""

import json
import uuid

import pytest

from tests.cluster.conftest import Platform
from tests.cluster.kube import eventually
from tests.cluster.stack import ROOT

pytestmark = pytest.mark.cluster

ADMIN = """
import json, os, sys, urllib.error, urllib.request
method, path, body = sys.argv[1:4]
request = urllib.request.Request("http://127.0.0.1:4001" + path, body.encode() if body else None,
    {"Authorization": "Bearer " + os.environ["LITELLM_MASTER_KEY"], "Content-Type": "application/json"}, method=method)
try:
    with urllib.request.urlopen(request, timeout=60) as answer:
        print(json.dumps([answer.status, json.loads(answer.read() or b"null")]))
except urllib.error.HTTPError as error:
    print(json.dumps([error.code, error.read().decode()[:300]]))
"""


def admin(platform: Platform, method: str, path: str, body: object = None, pod: str | None = None) -> list[object]:
    """Call LiteLLM's management API inside a gateway Pod, where its master key is."""
    text = json.dumps(body) if body is not None else ""
    name = pod or platform.gateway_pods()[0]
    answer = platform.kube.execute(
        "system-llm", name, "python3", "-", method, path, text, stdin=ADMIN, container="litellm"
    )
    return list(json.loads(answer))


def sql(platform: Platform, role: str, statement: str) -> str:
    """Run SQL in the database's Pod as a role, with its password by standard input; return output and errors."""
    names = [
        secret["metadata"]["name"]
        for secret in platform.kube.json("-n", "system-llm", "get", "secrets")["items"]
        if secret["metadata"]["name"].startswith("llm-database-")
    ]
    key = {"postgres": "superuser-password", "litellm": "owner-password", "litellm_gateway": "gateway-password"}[role]
    password = platform.kube.secret("system-llm", names[-1])[key]
    pod = platform.kube.pod_names("system-llm", "hearth.dev/role=database")[0]
    host = "$(ls -d /run/postgresql /var/run/postgresql 2>/dev/null | head -n 1)" if role == "postgres" else "127.0.0.1"
    script = (
        "read -r PGPASSWORD; export PGPASSWORD; "
        f'psql -X -At -v ON_ERROR_STOP=1 -h "{host}" -U {role} -d litellm 2>&1 || true'
    )
    return platform.kube.execute(
        "system-llm", pod, "sh", "-c", script, stdin=f"{password}\n{statement}\n", container="postgres"
    )


def test_a_model_cannot_be_added_with_the_master_key(platform: Platform) -> None:
    model = {"model_name": "typed-in", "litellm_params": {"model": "openai/x", "api_base": "http://127.0.0.1:1/v1"}}
    status, _ = admin(platform, "POST", "/model/new", model)
    assert isinstance(status, int)
    assert status >= 400
    for pod in platform.gateway_pods():
        _, models = admin(platform, "GET", "/v1/models", pod=pod)
        assert "typed-in" not in json.dumps(models)


@pytest.mark.parametrize(
    "statement",
    [
        """INSERT INTO "LiteLLM_ProxyModelTable" (model_id, model_name, litellm_params, created_by, updated_by)
           VALUES ('x', 'planted', '{}', 'x', 'x');""",
        """UPDATE "LiteLLM_ProxyModelTable" SET model_name = 'planted';""",
        """INSERT INTO "LiteLLM_Config" (param_name, param_value)
           VALUES ('general_settings', '{"store_model_in_db": true}');""",
        """INSERT INTO "LiteLLM_Config" (param_name, param_value) VALUES ('router_settings', '{}');""",
        """INSERT INTO "LiteLLM_Config" (param_name, param_value) VALUES ('environment_variables', '{}');""",
        """ALTER TABLE "LiteLLM_Config" DISABLE ROW LEVEL SECURITY;""",
        """UPDATE "LiteLLM_VerificationToken" SET aliases = '{"gemma": "vendor"}';""",
        """UPDATE "LiteLLM_TeamTable" SET metadata = metadata || '{"logging": []}';""",
        """CREATE TABLE typed_in (a int);""",
    ],
)
def test_the_gateway_role_cannot_write_models_or_settings(platform: Platform, statement: str) -> None:
    output = sql(platform, "litellm_gateway", statement)
    assert any(word in output for word in ("permission denied", "violates check constraint", "must be owner")), output


LOCKDOWN = ROOT / "hearth/compile/manifests/files/lockdown.sql"


def test_the_owner_cannot_plant_a_setting_by_mistake(platform: Platform) -> None:
    statement = """INSERT INTO "LiteLLM_Config" (param_name, param_value)
                   VALUES ('general_settings', '{"store_model_in_db": true}');"""
    assert "violates check constraint" in sql(platform, "litellm", statement)


UNRULED = """
DO $$ BEGIN
  EXECUTE (SELECT format('ALTER TABLE "LiteLLM_Config" DROP CONSTRAINT %I', conname) FROM pg_constraint
           WHERE conrelid = '"LiteLLM_Config"'::regclass AND starts_with(conname, 'hearth_'));
END $$;
"""
"""Takes the rule from the table of settings, whose name carries a digest."""


def test_rows_planted_by_the_owner_do_not_become_models_or_settings_after_a_restart(platform: Platform) -> None:
    name = f"planted-{uuid.uuid4().hex[:8]}"
    planted = sql(
        platform,
        "litellm",
        f"""
        {UNRULED}
        INSERT INTO "LiteLLM_Config" (param_name, param_value) VALUES
            ('general_settings', '{{"store_model_in_db": true}}'),
            ('router_settings', '{{"model_group_alias": {{"{name}-alias": "gemma"}}}}');
        INSERT INTO "LiteLLM_ProxyModelTable" (model_id, model_name, litellm_params, model_info, created_by, updated_by)
            VALUES ('{name}', '{name}', '{{"model": "openai/x"}}', '{{}}', 'x', 'x'),
                   -- LiteLLM does not start when it sees a row like this one.
                   ('{name}-broken', '{name}-broken', '{{"model": "openai/x"}}', NULL, 'x', 'x');
        """,
    )
    assert planted.count("INSERT 0 2") == 2, planted
    try:
        before = platform.gateway_pods()
        platform.kube.run("-n", "system-llm", "rollout", "restart", "deployment/llm-gateway")
        platform.kube.run("-n", "system-llm", "rollout", "status", "deployment/llm-gateway", "--timeout=300s")
        eventually("new gateway Pods only", lambda: not set(before) & set(platform.gateway_pods()))
        for pod in platform.gateway_pods():
            _, models = admin(platform, "GET", "/v1/models", pod=pod)
            assert "gemma" in json.dumps(models)
            assert name not in json.dumps(models)
            chat = {"model": f"{name}-alias", "messages": [{"role": "user", "content": "x"}]}
            status, _ = admin(platform, "POST", "/v1/chat/completions", chat, pod=pod)
            assert status == 400, "an alias out of a planted setting would answer"
    finally:
        # What the migrations' Job runs: it removes planted rows and closes the tables again.
        said = sql(platform, "litellm", LOCKDOWN.read_text())
        assert "ERROR" not in said
        assert "2 row(s) deleted: 'general_settings', 'router_settings'" in said
        platform.kube.run("-n", "system-llm", "rollout", "status", "deployment/llm-gateway", "--timeout=300s")
    left = sql(platform, "litellm", """SELECT count(*) FROM "LiteLLM_ProxyModelTable";""")
    assert left.strip() == "0"
