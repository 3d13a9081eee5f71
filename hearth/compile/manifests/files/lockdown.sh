# After the migrations: takes from the gateway's role what it may not do. psql wants a password file that nobody else
# can read, which a mounted Secret never is.
set -eu
umask 077
cat /etc/llm-migrations-secret/pgpass >"$PGPASSFILE"
exec psql -X --quiet --set=ON_ERROR_STOP=1 --file=/etc/llm-migrations/lockdown.sql
