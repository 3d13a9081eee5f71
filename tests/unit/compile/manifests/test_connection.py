"""The database's address and the budget of its connections."""

import pytest

from hearth.claim.problems import ClaimError
from hearth.compile.litellm import connection_pool_limit
from hearth.compile.manifests.connection import connections_needed, database_url, max_connections
from hearth.topology.resolve import resolve
from tests.unit.compile.manifests.samples import variants


@pytest.mark.parametrize(
    ("replicas", "pool", "needed", "given"),
    [
        (1, 5, 25, 60),
        (2, 10, 45, 60),
        (4, 10, 65, 82),
        (13, 10, 155, 194),
        (20, 6, 141, 177),
    ],
)
def test_the_budget_counts_replicas_surge_migrations_and_people(
    replicas: int, pool: int, needed: int, given: int
) -> None:
    assert connections_needed(replicas, pool) == needed
    assert max_connections(replicas, pool) == given
    assert needed <= 0.8 * given


def test_a_budget_that_does_not_fit_is_refused_with_what_to_do() -> None:
    with pytest.raises(ClaimError) as refused:
        max_connections(20, 10)
    text = str(refused.value)
    assert text.startswith("hearth:llm.gateway.replicas: 20 replicas with 10 database connections each")
    assert "282 connections" in text
    assert "Use fewer replicas, or an external database." in text


def test_every_number_of_replicas_fits_with_the_pool_that_litellm_gets() -> None:
    for replicas in range(1, 21):
        assert max_connections(replicas, connection_pool_limit(replicas)) <= 200


def test_a_password_is_quoted_in_the_address() -> None:
    url = database_url(resolve(variants()["local"]), "litellm", "p:/?#[]@ %")
    assert url == (
        "postgresql://litellm:p%3A%2F%3F%23%5B%5D%40%20%25@llm-database.system-llm.svc.cluster.local:5432/litellm"
    )


def test_an_external_database_is_verified() -> None:
    url = database_url(resolve(variants()["external-database"]), "litellm_gateway", "p")
    assert url == (
        "postgresql://litellm_gateway:p@db.example:5432/litellm"
        "?sslmode=require&sslaccept=strict&sslcert=%2Fetc%2Fdatabase-ca%2Fca.pem"
    )
