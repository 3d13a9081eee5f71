"""What the migrations' Job does last, done to a database of a test: the gateway's role gets its rules."""

import psycopg
from psycopg import sql

from hearth.compile.manifests.common import text_file

GATEWAY_ROLE = "litellm_gateway"


def make_role(server_url: str) -> None:
    """Make the gateway's role, as the database's Pod does; once for a server."""
    with psycopg.connect(server_url, autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (GATEWAY_ROLE,)).fetchone():
            connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(GATEWAY_ROLE)))


def lock_down(database_url: str) -> list[str]:
    """Run lockdown.sql as the owner of the tables, and return what it said.

    Raises:
        psycopg.Error: it did not end well.
    """
    said: list[str] = []
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
        connection.execute(text_file("lockdown.sql").encode())
    return said
