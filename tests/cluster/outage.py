"""One outage of the gateway for every test that needs its end or its beginning: each costs the start of all its Pods.

Nothing is judged here: the tests look at what was seen.
"""

import json
import os
import subprocess
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.claims import visitors
from tests.cluster.inside import admin, sql
from tests.cluster.platform import Platform
from tests.cluster.stack import ROOT
from tests.support.documented import command

LOCKDOWN = ROOT / "hearth/compile/manifests/files/lockdown.sql"
UNRULED = """
DO $$ BEGIN
  EXECUTE (SELECT format('ALTER TABLE "LiteLLM_Config" DROP CONSTRAINT %I', conname) FROM pg_constraint
           WHERE conrelid = '"LiteLLM_Config"'::regclass AND starts_with(conname, 'hearth_'));
END $$;
"""
"""Takes the rule from the table of settings, whose name carries a digest."""
LOSS = r"""
\c postgres
DROP DATABASE litellm WITH (FORCE);
CREATE DATABASE litellm OWNER litellm;
REVOKE ALL ON DATABASE litellm FROM PUBLIC;
GRANT CONNECT ON DATABASE litellm TO litellm_gateway;
\c litellm
"""
"""Leaves what a new volume has."""
CONTENT = r"""
SELECT 'relations', count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace;
SELECT format('SELECT %L, count(*) FROM public.%I;', 'rows of ' || relname, relname) FROM pg_class
  WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname
\gexec
SELECT 'schema', nspacl FROM pg_namespace WHERE nspname = 'public';
SELECT 'rights on ' || relname, pg_get_userbyid(relowner), array_to_string(relacl, ' ') FROM pg_class
  WHERE relkind IN ('r', 'v') AND relnamespace = 'public'::regnamespace ORDER BY relname;
SELECT 'rule ' || conname, pg_get_constraintdef(oid) FROM pg_constraint
  WHERE connamespace = 'public'::regnamespace ORDER BY conname;
SELECT 'key ' || token FROM "LiteLLM_VerificationToken" ORDER BY token;
"""
"""Says what the database holds: rows of every table, who may do what with it, its rules, and the digests of keys."""


@dataclass
class Replica:
    """A gateway Pod that started with planted rows in the database."""

    models: str
    """Its models, as JSON."""
    status: object
    """How it answered a chat with the alias of the planted setting."""


@dataclass
class Backup:
    """What the database held, as one text each time."""

    before: str
    """When it was dumped."""
    lost: str
    """After everything was lost."""
    after: str
    """When the dump was restored."""


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
    backup: Backup
    """What a restore brought back meanwhile."""
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
        for said in ("scale deployment/llm-gateway --replicas=0", "wait --for=delete pod"):
            _as_the_page_says(platform, said)
        try:
            up = platform.stack.up(visitors(platform.claim), check=False)
            backup = _lost_and_restored(platform)
        finally:
            platform.kube.run("-n", "system-llm", "scale", "deployment/llm-gateway", "--replicas=2")
            platform.rolled_out()
        replicas = {pod: _seen(platform, pod, name) for pod in platform.gateway_pods()}
    finally:
        cleaning = sql(platform, "litellm", LOCKDOWN.read_text())
        platform.stack.up(platform.claim)
    left = sql(platform, "litellm", """SELECT count(*) FROM "LiteLLM_ProxyModelTable";""")
    return Outage(name, planting, up, before, backup, replicas, cleaning, left)


def _as_the_page_says(platform: Platform, *parts: str, folder: Path | None = None) -> None:
    """Run the command of the page that has these parts."""
    done = subprocess.run(
        ["bash", "-euc", command("docs/operations.md", *parts)],
        env={**os.environ, **platform.kube.environment},
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{parts}: {done.stderr[-2000:]}"


def _lost_and_restored(platform: Platform) -> Backup:
    """Dump the database, lose everything that is in it, and restore it, all as the page says."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _as_the_page_says(platform, "pg_dump", folder=folder)
        _as_the_page_says(platform, "pg_restore -f", folder=folder)
        before = sql(platform, "postgres", CONTENT)
        lost = sql(platform, "postgres", f"{LOSS} {CONTENT}")
        _as_the_page_says(platform, "pg_restore", "--clean", folder=folder)
        return Backup(before, lost, sql(platform, "postgres", CONTENT))


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
