# Runs before PostgreSQL at every start: makes the data directory once, then gives the roles the passwords of the
# mounted Secret, so that a changed Secret is a changed password.
set -eu
umask 077
volume=${PGDATA%/*}
server_options="-c config_file=/etc/llm-database/postgresql.conf -c listen_addresses=''"

fail() {
  echo "llm-database: $*" >&2
  exit 1
}

for password in owner-password gateway-password; do
  [ -s "/etc/llm-database-secret/$password" ] || fail "the Secret has no $password"
done

if [ ! -e "$PGDATA" ]; then
  # Whatever else is on the volume is somebody's data, perhaps at the path of another image or version.
  for entry in "$volume"/*; do
    case ${entry##*/} in
      '*' | lost+found | new) ;;
      *) fail "the volume has ${entry##*/} on it but no ${PGDATA##*/}; nothing was changed" ;;
    esac
  done
  rm -rf "$volume/new"
  initdb --pgdata="$volume/new" --username=postgres --auth-local=peer --auth-host=reject --encoding=UTF8 \
    --locale-provider=builtin --builtin-locale=C.UTF-8 --locale=C.UTF-8 --data-checksums >/tmp/prepare.log 2>&1 || {
    cat /tmp/prepare.log >&2
    fail "the data directory cannot be made"
  }
  mv "$volume/new" "$PGDATA"
fi

found=$(cat "$PGDATA/PG_VERSION")
[ "$found" = "$POSTGRES_MAJOR" ] ||
  fail "the volume holds data of PostgreSQL $found and this is $POSTGRES_MAJOR; move it with pg_dump or pg_upgrade first. Nothing was changed"

# Recovery after a crash happens here too, and may take long.
pg_ctl --pgdata="$PGDATA" --wait --timeout=3600 --silent --log=/tmp/prepare.log --options="$server_options" start || {
  cat /tmp/prepare.log >&2
  fail "PostgreSQL does not start"
}
done=true
psql -X --quiet --set=ON_ERROR_STOP=1 --host=/run/postgresql --username=postgres --dbname=postgres --file=/etc/llm-database/roles.sql || done=false
pg_ctl --pgdata="$PGDATA" --wait --timeout=3600 --silent --mode=fast stop
$done || fail "the roles could not be set"
