"""How the gateway reaches its database: address, roles, TLS, and how many connections that takes."""

import math
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import quote

from hearth.claim.llm import ExternalDatabase
from hearth.claim.problems import ClaimError, Problem
from hearth.compile.names import DATABASE
from hearth.topology.topology import Topology

DATABASE_NAME: Final = "litellm"
"""Database of the gateway on the PostgreSQL that Hearth runs."""
OWNER: Final = "litellm"
"""Role that owns the tables and runs the migrations."""
GATEWAY_ROLE: Final = "litellm_gateway"
"""Role of the running gateway; it cannot store models or settings (S3-7)."""
POSTGRES_PORT: Final = 5432
"""TCP port of the PostgreSQL that Hearth runs."""
DATABASE_CA: Final = "/etc/database-ca/ca.pem"
"""Where a container finds the CA of an external database."""

SURGE: Final = 1
"""Pods of the gateway that exist for a moment above its replicas while a change rolls out."""
MIGRATION_CONNECTIONS: Final = 5
"""Connections kept for the migrations."""
OPERATOR_CONNECTIONS: Final = 10
"""Connections kept for people, backups and PostgreSQL's own reserve."""
USABLE_SHARE: Final = 0.8
"""Share of `max_connections` that may be planned for."""
FEWEST_CONNECTIONS: Final = 60
"""Lower bound of `max_connections`."""
MOST_CONNECTIONS: Final = 200
"""Upper bound of `max_connections`: above it PostgreSQL wants a connection pooler, which Hearth does not run."""


@dataclass(frozen=True)
class DatabaseAddress:
    """Where PostgreSQL answers."""

    host: str
    """DNS name or address."""
    port: int
    """TCP port."""
    database: str
    """Name of the database."""
    trust_bundle: str | None
    """Trust bundle that its certificate is verified with; none for the database that Hearth runs, which is reached
    inside the namespace alone."""


def database_address(topology: Topology) -> DatabaseAddress:
    """Return where the gateway's PostgreSQL answers."""
    database = topology.gateway.database
    if isinstance(database, ExternalDatabase):
        return DatabaseAddress(database.host, database.port, database.database, database.trust_bundle)
    return DatabaseAddress(topology.service_host(DATABASE), POSTGRES_PORT, DATABASE_NAME, None)


def database_url(topology: Topology, role: Literal["litellm", "litellm_gateway"], password: str) -> str:
    """Return the address that LiteLLM connects to, password included: a secret.

    TLS is asked for in the dialect of Prisma, which knows no `verify-full`: `sslaccept=strict` verifies the chain
    and the host name.

    Args:
        topology: the topology.
        role: who connects.
        password: the role's password.
    """
    address = database_address(topology)
    url = f"postgresql://{role}:{quote(password, safe='')}@{address.host}:{address.port}/{address.database}"
    if address.trust_bundle is not None:
        url += f"?sslmode=require&sslaccept=strict&sslcert={quote(DATABASE_CA, safe='')}"
    return url


def connections_needed(replicas: int, pool: int) -> int:
    """Return how many connections the gateway, its migrations and its operators take together.

    Args:
        replicas: Pods of the gateway, each of one worker.
        pool: connections of one worker.
    """
    return pool * (replicas + SURGE) + MIGRATION_CONNECTIONS + OPERATOR_CONNECTIONS


def max_connections(replicas: int, pool: int) -> int:
    """Return PostgreSQL's `max_connections` for a gateway.

    Raises:
        ClaimError: more would be needed than PostgreSQL may be given. With too few, the gateway would answer valid
            keys with 401 under load.
    """
    wanted = math.ceil(connections_needed(replicas, pool) / USABLE_SHARE)
    if wanted > MOST_CONNECTIONS:
        message = (
            f"{replicas} replicas with {pool} database connections each need a PostgreSQL with {wanted} connections, "
            f"and {MOST_CONNECTIONS} is the most without a pooler"
        )
        remedy = "Use fewer replicas, or an external database"
        raise ClaimError([Problem("hearth:llm.gateway.replicas", message, remedy)])
    return max(FEWEST_CONNECTIONS, wanted)
