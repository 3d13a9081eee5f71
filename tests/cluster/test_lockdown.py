"""Nothing but the claim makes a model or a setting (S3-6, S3-7, C-8)."""

import json

import pytest

from tests.cluster.inside import PORT, admin, sql
from tests.cluster.outage import Outage
from tests.cluster.platform import Platform

pytestmark = pytest.mark.cluster


def test_a_model_cannot_be_added_with_the_master_key(platform: Platform) -> None:
    model = {"model_name": "typed-in", "litellm_params": {"model": "openai/x", "api_base": "http://127.0.0.1:1/v1"}}
    status, _ = admin(platform, "POST", "/model/new", model)
    assert isinstance(status, int)
    assert status >= 400
    for pod in platform.gateway_pods():
        _, models = admin(platform, "GET", "/v1/models", pod=pod)
        assert "typed-in" not in json.dumps(models)


def test_what_litellm_knows_makes_no_key_at_the_port(platform: Platform) -> None:
    for pod in platform.gateway_pods():
        assert (
            platform.kube.execute("system-llm", pod, "python3", "-", stdin=PORT, container="litellm").strip() == "401"
        )


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


def test_the_owner_cannot_plant_a_setting_by_mistake(platform: Platform) -> None:
    statement = """INSERT INTO "LiteLLM_Config" (param_name, param_value)
                   VALUES ('general_settings', '{"store_model_in_db": true}');"""
    assert "violates check constraint" in sql(platform, "litellm", statement)


def test_rows_planted_by_the_owner_do_not_become_models_or_settings_after_a_restart(outage: Outage) -> None:
    assert outage.planting.count("INSERT 0 2") == 2, outage.planting
    assert len(outage.replicas) == 2
    assert not outage.before & set(outage.replicas), "new gateway Pods only"
    for replica in outage.replicas.values():
        assert "gemma" in replica.models
        assert outage.planted not in replica.models
        assert replica.status == 400, "an alias out of a planted setting would answer"
    # What the migrations' Job runs removes planted rows and closes the tables again.
    assert "ERROR" not in outage.cleaning
    assert "2 row(s) deleted: 'general_settings', 'router_settings'" in outage.cleaning
    assert outage.left.strip() == "0"
