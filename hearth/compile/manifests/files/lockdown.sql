-- As the owner of the tables, after every migration; running it again changes nothing and takes no lock that the
-- gateway would feel.
--
-- A row in LiteLLM's database overrides its configuration file, its environment and what the claim says of a key. So
-- the gateway's own role writes only the tables that its work needs, and in them only values that Hearth writes; of
-- every other table, known or not, it sees no row, whoever planted one.
--
-- One statement, and each table a transaction of its own: no two of them are locked at once, so nothing can deadlock
-- with the gateway of the version before, which is at work meanwhile.
DO $lockdown$
DECLARE
  -- What the gateway's work needs. Names are those of several releases; one that a release does not have is passed over.
  written CONSTANT jsonb := '{
    "LiteLLM_VerificationToken": "SELECT, INSERT, UPDATE, DELETE",
    "LiteLLM_TeamTable": "SELECT, INSERT, UPDATE, DELETE",
    "LiteLLM_TeamMembership": "SELECT, INSERT, UPDATE, DELETE",
    "LiteLLM_UserTable": "SELECT, INSERT, UPDATE",
    "LiteLLM_EndUserTable": "SELECT, INSERT, UPDATE",
    "LiteLLM_BudgetTable": "SELECT, INSERT, UPDATE, DELETE",
    "LiteLLM_DeletedVerificationToken": "SELECT, INSERT",
    "LiteLLM_DeletedTeamTable": "SELECT, INSERT",
    "LiteLLM_SpendLogs": "SELECT, INSERT, DELETE",
    "LiteLLM_DailyUserSpend": "SELECT, INSERT, UPDATE",
    "LiteLLM_DailyTeamSpend": "SELECT, INSERT, UPDATE",
    "LiteLLM_DailyEndUserSpend": "SELECT, INSERT, UPDATE",
    "LiteLLM_DailyTagSpend": "SELECT, INSERT, UPDATE",
    "LiteLLM_DailyModelUsage": "SELECT, INSERT, UPDATE",
    "LiteLLM_DailyRequestErrors": "SELECT, INSERT, UPDATE",
    "LiteLLM_DailyGatewayRequests": "SELECT, INSERT, UPDATE",
    "LiteLLM_DailyGatewayFailedRequests": "SELECT, INSERT, UPDATE",
    "LiteLLM_ProxyWorkerHeartbeat": "SELECT, INSERT, UPDATE, DELETE"
  }';
  -- LiteLLM changes these on the way of something else, and fails if it may not. It sees no row, so it changes none.
  touched CONSTANT jsonb := '{
    "LiteLLM_AccessGroupTable": "SELECT, UPDATE",
    "LiteLLM_AutoRouterBaselineComparison": "SELECT, UPDATE",
    "LiteLLM_ModelAccessGroupBudgetTable": "SELECT, UPDATE",
    "LiteLLM_OrganizationTable": "SELECT, UPDATE",
    "LiteLLM_ProjectTable": "SELECT, UPDATE",
    "LiteLLM_TagTable": "SELECT, UPDATE",
    "LiteLLM_SpendLogToolIndex": "SELECT, DELETE"
  }';
  -- Columns of the tables that decide over requests: what each may hold. Their rows are keys, teams, users, persons,
  -- budgets and memberships; "name" is what a message calls a row. A column that is missing here stops the Job. The
  -- gateway sees no setting at all; the rule about them is for whoever writes one as the owner and believes it works.
  rules CONSTANT jsonb := '{
    "LiteLLM_VerificationToken": {
      "name": "coalesce(key_alias, left(token, 10))",
      "free": ["token", "key_name", "key_alias", "soft_budget_cooldown", "spend", "total_spend", "expires", "models",
        "team_id", "max_parallel_requests", "blocked", "tpm_limit", "rpm_limit", "tpd_limit", "max_budget",
        "budget_duration", "budget_reset_at", "allowed_routes", "budget_id", "created_at", "created_by", "updated_at",
        "updated_by", "settings_updated_at", "last_active", "rotation_count", "last_rotation_at"],
      "null": ["agent_id", "project_id", "organization_id", "object_permission_id", "rotation_interval",
        "key_rotation_at", "budget_limits"],
      "false": ["auto_rotate"],
      "{}": ["aliases", "config", "router_settings", "permissions", "model_spend", "model_max_budget",
        "budget_fallbacks"],
      "[]": ["allowed_cache_controls", "policies", "access_group_ids"],
      "administrator": ["user_id"],
      "client": ["key_type"],
      "mark": ["metadata"]
    },
    "LiteLLM_TeamTable": {
      "name": "team_id",
      "free": ["team_id", "team_alias", "max_budget", "soft_budget", "spend", "models", "max_parallel_requests",
        "tpm_limit", "rpm_limit", "tpd_limit", "budget_duration", "budget_reset_at", "blocked", "created_at",
        "updated_at"],
      "null": ["organization_id", "object_permission_id", "model_id", "budget_limits"],
      "false": ["allow_team_guardrail_config"],
      "{}": ["router_settings", "model_spend", "model_max_budget"],
      "[]": ["admins", "members", "team_member_permissions", "access_group_ids", "policies",
        "default_team_member_models"],
      "administrators": ["members_with_roles"],
      "mark": ["metadata"]
    },
    "LiteLLM_UserTable": {
      "name": "user_id",
      "free": ["user_id", "user_alias", "user_email", "teams", "max_budget", "spend", "max_parallel_requests",
        "tpm_limit", "rpm_limit", "budget_duration", "budget_reset_at", "created_at", "updated_at",
        "last_breach_check_at"],
      "null": ["team_id", "sso_user_id", "organization_id", "object_permission_id", "password",
        "password_reset_required"],
      "{}": ["metadata", "model_spend", "model_max_budget"],
      "[]": ["models", "allowed_cache_controls", "policies"],
      "user": ["user_role"]
    },
    "LiteLLM_EndUserTable": {
      "name": "user_id",
      "free": ["user_id", "alias", "spend", "budget_id", "blocked"],
      "null": ["allowed_model_region", "default_model", "object_permission_id"],
      "[]": ["models"]
    },
    "LiteLLM_BudgetTable": {
      "name": "budget_id",
      "free": ["budget_id", "max_budget", "soft_budget", "max_parallel_requests", "tpm_limit", "rpm_limit", "tpd_limit",
        "budget_duration", "budget_reset_at", "created_at", "created_by", "updated_at", "updated_by",
        "temp_budget_expiry", "temp_budget_increase"],
      "{}": ["model_max_budget"],
      "[]": ["allowed_models"]
    },
    "LiteLLM_Config": {
      "name": "param_name",
      "free": ["param_value", "last_run_at", "reload_revision"],
      "state": ["param_name"]
    },
    "LiteLLM_TeamMembership": {
      "name": "team_id",
      "free": ["user_id", "team_id", "spend", "total_spend", "budget_id"]
    }
  }';
  -- For each kind of rule: what holds, and what a row gets instead that does not hold it, or NULL if it is deleted. A
  -- NULL in the column always holds: where it may stand it says what the empty value says.
  mark CONSTANT text := $${managed-by,stack,tenant,app,generation,end_user_budget_id}$$;
  kinds CONSTANT jsonb := jsonb_build_object(
    'null', ARRAY['%1$I IS NULL', 'NULL'],
    'false', ARRAY['NOT %1$I', 'false'],
    '{}', ARRAY[$$%1$I = '{}'$$, $$'{}'$$],
    '[]', ARRAY[$$%1$I = '{}'$$, $$'{}'$$],
    'administrator', ARRAY[$$%1$I = 'default_user_id'$$, 'NULL'],
    'client', ARRAY[$$%1$I IN ('default', 'llm_api')$$, $$'default'$$],
    'user', ARRAY[$$%1$I IN ('internal_user', 'internal_user_viewer')$$, $$'internal_user'$$],
    'administrators', ARRAY[
      $$%1$I = '{}' OR NOT jsonb_path_exists(%1$I, '$[*] ? (!(@.user_id == "default_user_id"))')$$, $$'[]'$$
    ],
    'state', ARRAY[
      $$%1$I NOT IN ('general_settings', 'litellm_settings', 'router_settings', 'environment_variables')$$, NULL
    ],
    'mark', ARRAY[
      format($$CASE jsonb_typeof(%%1$I) WHEN 'object' THEN %%1$I - %L::text[] = '{}'
        AND NOT jsonb_path_exists(%%1$I, 'strict $.* ? (@.type() != "string" && @.type() != "number")') ELSE false END$$,
        mark),
      format($$(SELECT coalesce(jsonb_object_agg(key, value), '{}')
        FROM jsonb_each(CASE jsonb_typeof(%%1$I) WHEN 'object' THEN %%1$I ELSE '{}' END)
        WHERE key = ANY (%L::text[]) AND jsonb_typeof(value) IN ('string', 'number'))$$, mark)
    ]
  );
  unknown text;
  relation record;
  rule record;
  closed boolean;
  wanted jsonb;
  offending record;
BEGIN
  PERFORM set_config('client_min_messages', 'warning', false), set_config('lock_timeout', '10s', false);
  SELECT string_agg(format('%s.%s', table_name, column_name), ', ' ORDER BY table_name, ordinal_position) INTO unknown
  FROM information_schema.columns AS found
  WHERE table_schema = 'public' AND rules ? table_name AND NOT EXISTS (
    SELECT FROM jsonb_each(rules -> found.table_name) AS part WHERE part.value @> to_jsonb(found.column_name::text)
  );
  IF unknown IS NOT NULL THEN
    RAISE EXCEPTION 'this LiteLLM has columns that Hearth does not know: %', unknown
      USING HINT = 'Nothing was changed. Run the LiteLLM that this Hearth names, or take a Hearth that knows this one.';
  END IF;

  REVOKE CREATE ON SCHEMA public FROM PUBLIC, litellm_gateway;
  GRANT USAGE ON SCHEMA public TO litellm_gateway;
  -- Nobody shall believe that a row of it is a model: the gateway sees none.
  DELETE FROM "LiteLLM_ProxyModelTable";
  COMMIT;

  FOR relation IN
    SELECT oid, relname::text AS name, relkind AS kind, relrowsecurity AS hides FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
      AND pg_has_role(relowner, 'USAGE')
    ORDER BY relname
  LOOP
    IF relation.kind = 'S' THEN
      EXECUTE format('REVOKE ALL ON SEQUENCE public.%I FROM PUBLIC, litellm_gateway', relation.name);
      COMMIT;
      CONTINUE;
    END IF;
    closed := relation.kind IN ('r', 'p') AND NOT written ? relation.name;
    EXECUTE format('REVOKE ALL ON public.%I FROM PUBLIC, litellm_gateway', relation.name);
    EXECUTE format('GRANT %s ON public.%I TO litellm_gateway',
      coalesce(written ->> relation.name, touched ->> relation.name, 'SELECT'), relation.name);
    IF relation.kind = 'v' THEN
      -- Or a view would show, with its owner's eyes, what the role may not see.
      EXECUTE format('ALTER VIEW public.%I SET (security_invoker = true)', relation.name);
    END IF;
    -- Without a policy, a role that is not the owner sees no row.
    FOR rule IN SELECT polname AS name FROM pg_policy WHERE polrelid = relation.oid LOOP
      EXECUTE format('DROP POLICY %I ON public.%I', rule.name, relation.name);
    END LOOP;
    IF closed <> relation.hides AND relation.kind IN ('r', 'p') THEN
      EXECUTE format('ALTER TABLE public.%I %s ROW LEVEL SECURITY', relation.name,
        CASE WHEN closed THEN 'ENABLE' ELSE 'DISABLE' END);
    END IF;
    COMMIT;

    IF NOT rules ? relation.name THEN
      CONTINUE;
    END IF;
    -- A rule that stands needs nothing: its name carries the digest of what it says.
    SELECT jsonb_agg(to_jsonb(entry)) INTO wanted FROM (
      SELECT attribute, holds, instead, format('hearth_%s_%s', attribute, left(md5(holds), 8)) AS constraint_name FROM (
        SELECT column_name AS attribute, format(kinds -> part.key ->> 0, column_name) AS holds,
          format(kinds -> part.key ->> 1, column_name) AS instead
        FROM information_schema.columns, jsonb_each(rules -> relation.name) AS part
        WHERE table_schema = 'public' AND table_name = relation.name AND kinds ? part.key
          AND part.value @> to_jsonb(column_name::text)
      ) AS spelt
    ) AS entry;
    FOR rule IN
      SELECT * FROM jsonb_to_recordset(wanted) AS one (attribute text, holds text, instead text, constraint_name text)
      WHERE NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = relation.oid AND conname = constraint_name)
      ORDER BY attribute
    LOOP
      EXECUTE format('LOCK TABLE public.%I IN ACCESS EXCLUSIVE MODE', relation.name);
      EXECUTE format('SELECT count(*) AS rows, string_agg(quote_literal(name), %L) FILTER (WHERE number <= 50) AS names
        FROM (SELECT %s AS name, row_number() OVER () AS number FROM public.%I WHERE NOT (%s)) AS found',
        ', ', rules -> relation.name ->> 'name', relation.name, rule.holds) INTO offending;
      IF offending.rows > 0 THEN
        EXECUTE CASE WHEN rule.instead IS NULL THEN format('DELETE FROM public.%I', relation.name)
          ELSE format('UPDATE public.%I SET %I = %s', relation.name, rule.attribute, rule.instead)
        END || format(' WHERE NOT (%s)', rule.holds);
        RAISE WARNING '%.% held what Hearth does not write; % row(s) %: %', relation.name, rule.attribute,
          offending.rows, CASE WHEN rule.instead IS NULL THEN 'deleted' ELSE 'reset' END, offending.names;
      END IF;
      EXECUTE format('ALTER TABLE public.%I ADD CONSTRAINT %I CHECK (%s)',
        relation.name, rule.constraint_name, rule.holds);
    END LOOP;
    FOR rule IN
      SELECT conname AS name FROM pg_constraint
      WHERE conrelid = relation.oid AND contype = 'c' AND (starts_with(conname, 'hearth_') OR conname = 'files_own_settings')
        AND NOT wanted @> jsonb_build_array(jsonb_build_object('constraint_name', conname))
    LOOP
      EXECUTE format('ALTER TABLE public.%I DROP CONSTRAINT %I', relation.name, rule.name);
    END LOOP;
    COMMIT;
  END LOOP;
END
$lockdown$;
