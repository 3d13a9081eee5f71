-- As the owner of the tables, after every migration; running it again changes nothing.
--
-- A row in LiteLLM's database overrides its configuration file and its environment at the next start. So the gateway's
-- own role can neither write what configures it nor see a row of it, whoever planted that row: a model row is read at
-- the start even with models in the database switched off, and a malformed one would keep the gateway from starting.
SET client_min_messages = warning;

GRANT USAGE ON SCHEMA public TO litellm_gateway;
REVOKE CREATE ON SCHEMA public FROM PUBLIC, litellm_gateway;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO litellm_gateway;
GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA public TO litellm_gateway;

-- Models, settings, and everything else that tells the gateway where to connect or what to run. The names are those of
-- several releases; one that this release does not have is passed over.
DO $$
DECLARE
  configuring text[] := ARRAY[
    'LiteLLM_ProxyModelTable', 'LiteLLM_ModelTable', 'LiteLLM_CredentialsTable', 'LiteLLM_Config',
    'LiteLLM_ConfigOverrides', 'LiteLLM_CacheConfig', 'LiteLLM_SSOConfig', 'LiteLLM_UISettings',
    'LiteLLM_MCPServerTable', 'LiteLLM_MCPToolsetTable', 'LiteLLM_SearchToolsTable', 'LiteLLM_AgentsTable',
    'LiteLLM_GuardrailsTable', 'LiteLLM_PolicyTable', 'LiteLLM_PolicyAttachmentTable', 'LiteLLM_PromptTable',
    'LiteLLM_ManagedVectorStoresTable', 'LiteLLM_SkillsTable', 'LiteLLM_ClaudeCodePluginTable',
    '_prisma_migrations'
  ];
  name text;
BEGIN
  FOREACH name IN ARRAY configuring LOOP
    IF to_regclass(format('public.%I', name)) IS NOT NULL THEN
      EXECUTE format('REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON public.%I FROM litellm_gateway', name);
      -- Without a policy, a role that is not the owner sees no row. The migrations' ledger configures nothing.
      CONTINUE WHEN name = '_prisma_migrations';
      EXECUTE format('ALTER TABLE public.%I ENABLE ROW LEVEL SECURITY', name);
    END IF;
  END LOOP;
END
$$;

DELETE FROM "LiteLLM_ProxyModelTable";
ALTER TABLE "LiteLLM_Config" DROP CONSTRAINT IF EXISTS files_own_settings;
DELETE FROM "LiteLLM_Config"
WHERE param_name IN ('general_settings', 'litellm_settings', 'router_settings', 'environment_variables');
ALTER TABLE "LiteLLM_Config" ADD CONSTRAINT files_own_settings CHECK (
  param_name NOT IN ('general_settings', 'litellm_settings', 'router_settings', 'environment_variables')
);
-- The other settings are states that the gateway keeps for itself, and may be seen.
DROP POLICY IF EXISTS files_own_settings ON "LiteLLM_Config";
CREATE POLICY files_own_settings ON "LiteLLM_Config" FOR SELECT TO litellm_gateway USING (
  param_name NOT IN ('general_settings', 'litellm_settings', 'router_settings', 'environment_variables')
);
