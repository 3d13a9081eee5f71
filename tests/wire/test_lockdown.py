"""What the gateway's database role may do after lockdown.sql, on real PostgreSQL with the tables of both LiteLLMs."""

import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.support.database import Postgres
from tests.support.litellm import LiteLLMProgram
from tests.support.lockdown import GATEWAY_ROLE, lock_down, make_role

pytestmark = pytest.mark.wire

READ, CHANGE = {"SELECT"}, {"SELECT", "INSERT", "UPDATE"}
WRITTEN = {
    "LiteLLM_VerificationToken": CHANGE | {"DELETE"},
    "LiteLLM_TeamTable": CHANGE | {"DELETE"},
    "LiteLLM_TeamMembership": CHANGE | {"DELETE"},
    "LiteLLM_UserTable": CHANGE,
    "LiteLLM_EndUserTable": CHANGE,
    "LiteLLM_BudgetTable": CHANGE | {"DELETE"},
    "LiteLLM_DeletedVerificationToken": READ | {"INSERT"},
    "LiteLLM_DeletedTeamTable": READ | {"INSERT"},
    "LiteLLM_SpendLogs": READ | {"INSERT", "DELETE"},
    "LiteLLM_DailyUserSpend": CHANGE,
    "LiteLLM_DailyTeamSpend": CHANGE,
    "LiteLLM_DailyEndUserSpend": CHANGE,
    "LiteLLM_DailyTagSpend": CHANGE,
    "LiteLLM_DailyModelUsage": CHANGE,
    "LiteLLM_DailyRequestErrors": CHANGE,
    "LiteLLM_DailyGatewayRequests": CHANGE,
    "LiteLLM_DailyGatewayFailedRequests": CHANGE,
    "LiteLLM_ProxyWorkerHeartbeat": CHANGE | {"DELETE"},
}
"""Tables whose rows the role sees, and what it may do with them."""
TOUCHED = {
    "LiteLLM_AccessGroupTable": {"UPDATE"},
    "LiteLLM_AutoRouterBaselineComparison": {"UPDATE"},
    "LiteLLM_ModelAccessGroupBudgetTable": {"UPDATE"},
    "LiteLLM_OrganizationTable": {"UPDATE"},
    "LiteLLM_ProjectTable": {"UPDATE"},
    "LiteLLM_TagTable": {"UPDATE"},
    "LiteLLM_SpendLogToolIndex": {"DELETE"},
}
"""Tables of which the role sees no row, and may try to change one."""
RULES = {"litellm-image": 56, "litellm-published": 54}
"""Columns with a rule, in the tables whose rows the role sees: one that becomes free is a decision."""
ROWS = """
INSERT INTO "LiteLLM_TeamTable" (team_id, team_alias, models, metadata, members_with_roles)
VALUES ('hearth-home-family', 'family', '{gemma}', '{"managed-by": "hearth", "stack": "home", "tenant": "family"}',
        '[{"role": "admin", "user_id": "default_user_id", "user_email": null}]');
INSERT INTO "LiteLLM_VerificationToken" (token, key_alias, key_name, team_id, models, metadata)
VALUES ('0123456789abcdef', 'family--notes--1', 'sk-...abcd', 'hearth-home-family', '{gemma}',
        '{"managed-by": "hearth", "stack": "home", "tenant": "family", "app": "notes", "generation": 1,
          "end_user_budget_id": "hearth-person"}');
INSERT INTO "LiteLLM_UserTable" (user_id, user_role, teams)
VALUES ('default_user_id', 'internal_user', '{hearth-home-family}');
INSERT INTO "LiteLLM_BudgetTable" (budget_id, max_budget, created_by, updated_by) VALUES ('hearth-person', 1, 'x', 'x');
INSERT INTO "LiteLLM_EndUserTable" (user_id, spend, blocked) VALUES ('anna', 0.5, false);
"""
"""What Hearth's own calls leave in the database: a team, a key, a person and what goes with them."""
REFERENCED = """
INSERT INTO "LiteLLM_ObjectPermissionTable" (object_permission_id) VALUES ('planted');
INSERT INTO "LiteLLM_OrganizationTable" (organization_id, organization_alias, budget_id, models, created_by, updated_by)
VALUES ('planted', 'planted', 'hearth-person', '{}', 'x', 'x');
INSERT INTO "LiteLLM_ProjectTable" (project_id, created_by, updated_by) VALUES ('planted', 'x', 'x');
INSERT INTO "LiteLLM_ModelTable" (id, created_by, updated_by) VALUES (7, 'x', 'x');
"""
"""What a planted reference refers to."""
PLANTED: dict[str, Any] = {
    "jsonb": '{"planted": "elsewhere"}',
    "text[]": "{planted}",
    "text": "planted",
    "boolean": True,
    "integer": 7,
    "timestamp without time zone": "2030-01-01",
}
"""For each type of a column: a value that Hearth never writes into a column that has a rule."""


@pytest.fixture(scope="module")
def template(database_server: Postgres, migrated_database: str) -> str:
    make_role(database_server.url())
    return migrated_database


@pytest.fixture
def unlocked(database_server: Postgres, template: str) -> str:
    """URL of the owner for a database that was migrated and no more."""
    return database_server.create(f"lockdown-{secrets.token_hex(4)}", template=template)


@pytest.fixture(scope="module")
def locked(database_server: Postgres, template: str) -> Iterator[psycopg.Connection[Any]]:
    """The owner's connection to a locked database with Hearth's own rows; tests change nothing in it."""
    url = database_server.create(f"locked-{template}", template=template)
    assert lock_down(url) == []
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(ROWS)
        yield connection


def as_gateway(connection: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
    info = connection.info
    return psycopg.connect(host=info.host, port=info.port, user=GATEWAY_ROLE, dbname=info.dbname, autocommit=True)


@pytest.fixture(scope="module")
def gateway(locked: psycopg.Connection[Any]) -> Iterator[psycopg.Connection[Any]]:
    """The gateway's own connection."""
    with as_gateway(locked) as connection:
        yield connection


def known_schema() -> dict[str, set[str]]:
    lines = (Path(__file__).parent / "litellm_schema.txt").read_text().splitlines()
    entries = (line.partition(":") for line in lines if line and not line.startswith("#"))
    return {table: set(columns.split()) for table, _, columns in entries}


def ruled(connection: psycopg.Connection[Any]) -> list[tuple[str, str, str]]:
    """Table, column and type of every column that has a rule."""
    return connection.execute(
        """SELECT relname, attname, format_type(atttypid, NULL) FROM pg_constraint
           JOIN pg_class ON pg_class.oid = conrelid
           JOIN pg_attribute ON attrelid = conrelid AND ARRAY[attnum] = conkey
           WHERE starts_with(conname, 'hearth_') ORDER BY relname, attname"""
    ).fetchall()


def planting(table: str, column: str, kind: str) -> sql.Composed:
    value = "general_settings" if column == "param_name" else PLANTED[kind]
    return sql.SQL("UPDATE {} SET {} = {}").format(sql.Identifier(table), sql.Identifier(column), sql.Literal(value))


def test_every_table_and_column_of_this_version_is_known(locked: psycopg.Connection[Any]) -> None:
    known, unknown = known_schema(), []
    for table, column in locked.execute(
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
    ):
        if table not in known:
            unknown.append(table)
        elif known[table] and column not in known[table]:
            unknown.append(f"{table}.{column}")
    assert not sorted(set(unknown)), "see litellm_schema.txt"
    assert known.keys() >= {*WRITTEN, *TOUCHED}
    assert all(known[table] for table in WRITTEN)


def test_the_role_writes_the_tables_of_its_work_and_sees_no_row_of_another(locked: psycopg.Connection[Any]) -> None:
    rights = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER")
    found = locked.execute(
        """SELECT relname, relrowsecurity,
             ARRAY(SELECT kind FROM unnest(%s::text[]) AS kind WHERE has_table_privilege(%s, oid, kind)),
             EXISTS (SELECT FROM pg_policy WHERE polrelid = pg_class.oid)
           FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')""",
        (list(rights), GATEWAY_ROLE),
    ).fetchall()
    assert len(found) > 80
    for table, hidden, allowed, policy in found:
        assert set(allowed) == WRITTEN.get(table, READ | TOUCHED.get(table, set())), table
        assert hidden == (table not in WRITTEN), table
        assert not policy, table
    others = locked.execute(
        """SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('v', 'm', 'f')
           AND has_table_privilege(%s, oid, 'INSERT, UPDATE, DELETE, TRUNCATE')""",
        (GATEWAY_ROLE,),
    ).fetchall()
    assert others == []


def test_the_role_makes_nothing_and_owns_nothing(gateway: psycopg.Connection[Any]) -> None:
    for statement in (
        "CREATE TABLE typed_in (a int)",
        'ALTER TABLE "LiteLLM_VerificationToken" DISABLE TRIGGER ALL',
        'ALTER TABLE "LiteLLM_Config" DISABLE ROW LEVEL SECURITY',
        'CREATE RULE typed_in AS ON INSERT TO "LiteLLM_SpendLogs" DO INSTEAD NOTHING',
        "SET ROLE postgres",
        'TRUNCATE "LiteLLM_SpendLogs"',
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            gateway.execute(statement)


def test_no_rule_lets_the_role_write_what_it_forbids(
    litellm_program: LiteLLMProgram, locked: psycopg.Connection[Any], gateway: psycopg.Connection[Any]
) -> None:
    """Every column with a rule, each tried with a value that is not Hearth's, on rows that are there."""
    columns = [column for column in ruled(locked) if column[0] in WRITTEN]
    assert len(columns) == RULES[litellm_program.home.name]
    for table, column, kind in columns:
        with pytest.raises(psycopg.errors.CheckViolation, match=f"hearth_{column}_"):
            gateway.execute(planting(table, column, kind))


@pytest.mark.parametrize(
    "statement",
    [
        """UPDATE "LiteLLM_VerificationToken" SET aliases = '{"gemma": "vendor"}'""",
        """UPDATE "LiteLLM_VerificationToken" SET router_settings = '{"model_group_alias": {"gemma": "vendor"}}'""",
        """UPDATE "LiteLLM_VerificationToken" SET metadata = metadata || '{"logging": [{"callback_name": "s3"}]}'""",
        """UPDATE "LiteLLM_VerificationToken" SET metadata = '{"stack": {"logging": []}}'""",
        """UPDATE "LiteLLM_VerificationToken" SET metadata = '"logging"'""",
        """UPDATE "LiteLLM_VerificationToken" SET metadata = '["logging"]'""",
        """UPDATE "LiteLLM_VerificationToken" SET user_id = 'somebody'""",
        """UPDATE "LiteLLM_VerificationToken" SET key_type = 'management'""",
        """UPDATE "LiteLLM_TeamTable" SET metadata = metadata || '{"callback_settings": {}}'""",
        """UPDATE "LiteLLM_TeamTable" SET members_with_roles = '[{"role": "admin", "user_id": "mallory"}]'""",
        """UPDATE "LiteLLM_TeamTable" SET members_with_roles = '[{"role": "admin", "user_email": "m@example.org"}]'""",
        """UPDATE "LiteLLM_UserTable" SET user_role = 'proxy_admin'""",
        """UPDATE "LiteLLM_EndUserTable" SET default_model = 'vendor'""",
        """UPDATE "LiteLLM_BudgetTable" SET model_max_budget = '{"gemma": {}}'""",
        """INSERT INTO "LiteLLM_VerificationToken" (token, config) VALUES ('x', '{"a": 1}')""",
    ],
)
def test_where_a_prompt_goes_and_what_is_logged_cannot_be_written(
    gateway: psycopg.Connection[Any], statement: str
) -> None:
    with pytest.raises(psycopg.errors.CheckViolation):
        gateway.execute(statement.encode())


@pytest.mark.parametrize(
    "statement",
    [
        """INSERT INTO "LiteLLM_ProxyModelTable" (model_id, model_name, litellm_params, created_by, updated_by)
           VALUES ('x', 'planted', '{}', 'x', 'x')""",
        """INSERT INTO "LiteLLM_Config" (param_name, param_value) VALUES ('model_cost_map_reload_config', '{}')""",
        """INSERT INTO "LiteLLM_ObjectPermissionTable" (object_permission_id) VALUES ('x')""",
        """INSERT INTO "LiteLLM_ToolTable" (tool_id, tool_name) VALUES ('x', 'x')""",
        """INSERT INTO "LiteLLM_DeprecatedVerificationToken" (id, token, active_token_id, revoke_at)
           VALUES ('x', 'x', 'x', now())""",
        """INSERT INTO "LiteLLM_TagTable" (tag_name) VALUES ('x')""",
        """DELETE FROM "LiteLLM_CredentialsTable\"""",
        """UPDATE "LiteLLM_SpendLogs" SET spend = 0""",
        """SELECT nextval('"LiteLLM_ModelTable_id_seq"')""",
    ],
)
def test_a_table_that_the_work_does_not_need_cannot_be_written(
    gateway: psycopg.Connection[Any], statement: str
) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        gateway.execute(statement.encode())


def test_rows_that_somebody_planted_in_a_closed_table_are_not_seen(unlocked: str) -> None:
    with psycopg.connect(unlocked, autocommit=True) as owner:
        owner.execute(
            """INSERT INTO "LiteLLM_AccessGroupTable" (access_group_id, access_group_name) VALUES ('x', 'x');
               INSERT INTO "LiteLLM_ModelTable" (aliases, created_by, updated_by) VALUES ('{}', 'x', 'x');
               INSERT INTO "LiteLLM_Config" (param_name) VALUES ('auto_router_tuning_baseline');
               CREATE VIEW planted AS SELECT * FROM "LiteLLM_Config";
               CREATE POLICY everybody ON "LiteLLM_Config" USING (true);
               CREATE TABLE "LiteLLM_Newest" (x text); INSERT INTO "LiteLLM_Newest" VALUES ('x');
               GRANT ALL ON "LiteLLM_Newest" TO PUBLIC;"""
        )
        lock_down(unlocked)
        with as_gateway(owner) as role:
            for table in (
                "LiteLLM_AccessGroupTable",
                "LiteLLM_ModelTable",
                "LiteLLM_Config",
                "planted",
                "LiteLLM_Newest",
            ):
                name = sql.Identifier(table)
                assert owner.execute(sql.SQL("SELECT count(*) FROM {}").format(name)).fetchone() == (1,)
                assert role.execute(sql.SQL("SELECT count(*) FROM {}").format(name)).fetchone() == (0,), table
            changed = role.execute("""UPDATE "LiteLLM_AccessGroupTable" SET assigned_key_ids = '{x}'""")
            assert changed.rowcount == 0


def test_a_column_that_hearth_does_not_know_stops_the_job_before_anything_is_changed(unlocked: str) -> None:
    with psycopg.connect(unlocked, autocommit=True) as owner:
        owner.execute(
            """ALTER TABLE "LiteLLM_VerificationToken" ADD COLUMN egress_proxy text;
               ALTER TABLE "LiteLLM_BudgetTable" ADD COLUMN fallbacks jsonb;"""
        )
        with pytest.raises(psycopg.errors.RaiseException) as refused:
            lock_down(unlocked)
        said = str(refused.value)
        assert "LiteLLM_BudgetTable.fallbacks, LiteLLM_VerificationToken.egress_proxy" in said
        assert ruled(owner) == []


def rule_names(owner: psycopg.Connection[Any]) -> list[tuple[int, str]]:
    return owner.execute("SELECT oid, conname FROM pg_constraint WHERE starts_with(conname, 'hearth_')").fetchall()


def test_running_it_again_changes_nothing_and_waits_for_nobody(unlocked: str) -> None:
    lock_down(unlocked)
    with psycopg.connect(unlocked, autocommit=True) as owner:
        owner.execute(ROWS)
        before = rule_names(owner)
        with as_gateway(owner) as busy, busy.transaction():
            for table in ("LiteLLM_VerificationToken", "LiteLLM_TeamTable", "LiteLLM_EndUserTable"):
                busy.execute(sql.SQL("UPDATE {} SET spend = spend + 1").format(sql.Identifier(table)))
            assert lock_down(unlocked) == []
        assert rule_names(owner) == before


def test_a_rule_of_an_earlier_hearth_is_replaced(unlocked: str) -> None:
    lock_down(unlocked)
    with psycopg.connect(unlocked, autocommit=True) as owner:
        wanted = {name for _, name in rule_names(owner)}
        owner.execute(
            """ALTER TABLE "LiteLLM_EndUserTable" ADD CONSTRAINT hearth_alias_00000000 CHECK (alias = 'x');
               ALTER TABLE "LiteLLM_Config" ADD CONSTRAINT files_own_settings CHECK (param_name <> 'x');
               GRANT ALL ON ALL TABLES IN SCHEMA public TO litellm_gateway, PUBLIC;"""
        )
        lock_down(unlocked)
        assert {name for _, name in rule_names(owner)} == wanted
        assert not owner.execute("SELECT FROM pg_constraint WHERE conname = 'files_own_settings'").fetchall()
        right = f"SELECT has_table_privilege('{GATEWAY_ROLE}', '\"LiteLLM_TagTable\"', 'INSERT')"
        assert owner.execute(right.encode()).fetchone() == (False,)


def test_planted_rows_are_named_and_reset_when_the_rules_come(database_server: Postgres, unlocked: str) -> None:
    """The upgrade of a site whose gateway could write everything: each column that gets a rule holds something else."""
    rules_of = f"rules-{secrets.token_hex(4)}"
    lock_down(database_server.create(rules_of, template=unlocked.rpartition("/")[2]))
    with psycopg.connect(database_server.url(rules_of), autocommit=True) as reference:
        columns = ruled(reference)
        reference.execute(ROWS)
        clean = {table: _rows(reference, table) for table in {table for table, _, _ in columns}}
    with psycopg.connect(unlocked, autocommit=True) as owner:
        owner.execute(ROWS)
        owner.execute(
            """INSERT INTO "LiteLLM_Config" (param_name) VALUES ('mcp_catalog');
               INSERT INTO "LiteLLM_VerificationToken" (token, key_alias, metadata)
               VALUES ('fedcba', 'typed in', '{"tags": ["x"], "app": "kept", "tenant": {"a": 1}}');"""
        )
        owner.execute(REFERENCED)
        for table, column, kind in columns:
            owner.execute(planting(table, column, kind))
        owner.execute(
            """UPDATE "LiteLLM_VerificationToken" SET metadata = metadata || '{"logging": [{"s3cret": "x"}]}'"""
        )
        said = lock_down(unlocked)
        for table, column, _ in columns:
            (line,) = [line for line in said if line.startswith(f"{table}.{column} ")]
            assert ("deleted" if column == "param_name" else "reset") in line
        assert "'family--notes--1', 'typed in'" in next(line for line in said if ".aliases" in line)
        assert "s3cret" not in json.dumps(said)
        for table in clean.keys() - {"LiteLLM_Config"}:
            for row, wanted in zip(_rows(owner, table), clean[table], strict=False):
                differing = {
                    name: value
                    for name, value in row.items()
                    if value != wanted[name] and value not in (None, [], {}, False) and "_at" not in name
                }
                assert differing.keys() <= {"metadata", "key_type"}, (table, differing)
        assert _rows(owner, "LiteLLM_Config") == []
        assert lock_down(unlocked) == []


def _rows(connection: psycopg.Connection[Any], table: str) -> list[dict[str, Any]]:
    statement = sql.SQL("SELECT to_jsonb(found) FROM {} AS found ORDER BY 1").format(sql.Identifier(table))
    return [row for (row,) in connection.execute(statement)]


def test_what_is_hearths_own_survives_the_rules(unlocked: str) -> None:
    with psycopg.connect(unlocked, autocommit=True) as owner:
        owner.execute(ROWS)
        tables = ("LiteLLM_VerificationToken", "LiteLLM_TeamTable", "LiteLLM_UserTable", "LiteLLM_EndUserTable")
        before = [_rows(owner, table) for table in tables]
        assert lock_down(unlocked) == []
        assert [_rows(owner, table) for table in tables] == before
