-- At every start, over the Unix socket, as the superuser. psql reads the passwords from files, so that they are in no
-- argument and no environment; the server logs no statement.
\set owner_password `cat /etc/llm-database-secret/owner-password`
\set gateway_password `cat /etc/llm-database-secret/gateway-password`

SELECT format('CREATE ROLE %I', name) FROM (VALUES ('litellm'), ('litellm_gateway')) AS wanted (name)
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name)
\gexec
ALTER ROLE litellm
  WITH LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'owner_password';
ALTER ROLE litellm_gateway
  WITH LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'gateway_password';
ALTER ROLE litellm_gateway SET statement_timeout = '60s';
ALTER ROLE litellm_gateway SET idle_in_transaction_session_timeout = '60s';

SELECT 'CREATE DATABASE litellm OWNER litellm'
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'litellm')
\gexec
REVOKE ALL ON DATABASE litellm FROM PUBLIC;
GRANT CONNECT ON DATABASE litellm TO litellm_gateway;
