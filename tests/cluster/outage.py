"""One outage of the gateway for every test that needs its end or its beginning: each costs the start of all its Pods.

Nothing is judged here: the tests look at what was seen.
"""

import json
import subprocess
import uuid
from dataclasses import dataclass

from tests.cluster.claims import visitors
from tests.cluster.inside import admin, sql
from tests.cluster.kube import eventually
from tests.cluster.platform import Platform
from tests.cluster.stack import ROOT

LOCKDOWN = ROOT / "hearth/compile/manifests/files/lockdown.sql"
UNRULED = """
DO $$ BEGIN
  EXECUTE (SELECT format('ALTER TABLE "LiteLLM_Config" DROP CONSTRAINT %I', conname) FROM pg_constraint
           WHERE conrelid = '"LiteLLM_Config"'::regclass AND starts_with(conname, 'hearth_'));
END $$;
"""
"""Takes the rule from the table of settings, whose name carries a digest."""


@dataclass
class Replica:
    """A gateway Pod that started with planted rows in the database."""

    models: str
    """Its models, as JSON."""
    status: object
    """How it answered a chat with the alias of the planted setting."""


@dataclass
class Outage:
    """What was seen."""

    planted: str
    """Name of the model that was planted in the database; the planted alias begins with it."""
    planting: str
    """What the database said to it."""
    up: subprocess.CompletedProcess[str]
    """`pulumi up` of a new tenant while the gateway was stopped."""
    before: set[str]
    """Gateway Pods before the outage."""
    replicas: dict[str, Replica]
    """Gateway Pods after it, which started with the planted rows."""
    cleaning: str
    """What the database said to the statements that the migrations' Job runs."""
    left: str
    """How many planted models were left then."""


def stopped_and_started(platform: Platform) -> Outage:
    """Plant rows as the database's owner, stop the gateway, ask for a tenant, start it, and clean up."""
    name = f"planted-{uuid.uuid4().hex[:8]}"
    before = set(platform.gateway_pods())
    planting = sql(platform, "litellm", _planted(name))
    try:
        platform.kube.run("-n", "system-llm", "scale", "deployment/llm-gateway", "--replicas=0")
        eventually("no gateway Pod", lambda: platform.gateway_pods() == [])
        try:
            up = platform.stack.up(visitors(platform.claim), check=False)
        finally:
            platform.kube.run("-n", "system-llm", "scale", "deployment/llm-gateway", "--replicas=2")
            platform.rolled_out()
        replicas = {pod: _seen(platform, pod, name) for pod in platform.gateway_pods()}
    finally:
        cleaning = sql(platform, "litellm", LOCKDOWN.read_text())
        platform.stack.up(platform.claim)
    left = sql(platform, "litellm", """SELECT count(*) FROM "LiteLLM_ProxyModelTable";""")
    return Outage(name, planting, up, before, replicas, cleaning, left)


def _planted(name: str) -> str:
    return f"""
        {UNRULED}
        INSERT INTO "LiteLLM_Config" (param_name, param_value) VALUES
            ('general_settings', '{{"store_model_in_db": true}}'),
            ('router_settings', '{{"model_group_alias": {{"{name}-alias": "gemma"}}}}');
        INSERT INTO "LiteLLM_ProxyModelTable" (model_id, model_name, litellm_params, model_info, created_by, updated_by)
            VALUES ('{name}', '{name}', '{{"model": "openai/x"}}', '{{}}', 'x', 'x'),
                   -- LiteLLM does not start when it sees a row like this one.
                   ('{name}-broken', '{name}-broken', '{{"model": "openai/x"}}', NULL, 'x', 'x');
    """


def _seen(platform: Platform, pod: str, name: str) -> Replica:
    _, models = admin(platform, "GET", "/v1/models", pod=pod)
    chat = {"model": f"{name}-alias", "messages": [{"role": "user", "content": "x"}]}
    status, _ = admin(platform, "POST", "/v1/chat/completions", chat, pod=pod)
    return Replica(json.dumps(models), status)
