"""Fixtures of real programs on loopback.

Tests of the proxies run in a network namespace of their own: nothing leaves it, and every port is free. A test with
HAProxy runs once for each series, one with LiteLLM once for each version, whose servers are started once.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hearth.versions import versions
from tests.support.database import Postgres, postgres, valkey
from tests.support.intake import VERSIONS, Gateway
from tests.support.litellm import LITELLM_PROGRAMS, LiteLLM, LiteLLMProgram, litellm
from tests.support.lockdown import GATEWAY_ROLE, lock_down, make_role
from tests.support.tools import tool


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what starts LiteLLM or its database: `make test` runs these beside the tests of the proxies, which mostly
    wait as well.
    """
    for item in items:
        if isinstance(item, pytest.Function) and not {"litellm_program", "database_server", "gateway"}.isdisjoint(
            item.fixturenames
        ):
            item.add_marker("gateway")


ADDRESSES = (
    "10.77.0.1/32",
    "10.77.0.2/32",
    "10.77.1.1/32",
    "169.254.169.254/32",
    "100.100.100.200/32",
    "9.9.9.9/32",
    "fd12::1/128",
    "fd13::1/128",
    "2620:fe::9/128",
    "2002:a4d:1::1/128",
)
"""Addresses of the namespace's loopback device: in the zone, outside it, metadata, public, and IPv6."""


HAPROXY_SERIES = tuple(
    ".".join(match.groups()) for key in versions() if (match := re.fullmatch(r"HAPROXY_(\d+)_(\d+)_DEBIAN", key))
)
"""The series of HAProxy that the configurations are for; `pytest -k haproxy-3.0` chooses one."""
IMAGE_SERIES = tuple(series for series in HAPROXY_SERIES if series >= versions()["HAPROXY_SERIES"])
"""Those that an image has. Front and guard run on no other: older ones are of hosts, which run sidecars alone."""


@pytest.fixture(scope="module")
def network() -> Iterator[None]:
    """A network namespace for the module's tests; the thread returns to its own afterwards."""
    assert shutil.which("ip") is not None, "the tests of the proxies need ip(8): install iproute2"
    own = os.open("/proc/self/ns/net", os.O_RDONLY)
    try:
        try:
            os.unshare(os.CLONE_NEWNET)
        except PermissionError:
            pytest.fail("the tests of the proxies run in a network namespace of their own, which only root can make")
        try:
            subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
            for address in ADDRESSES:
                nodad = ["nodad"] if ":" in address else []
                subprocess.run(["ip", "addr", "add", address, "dev", "lo", *nodad], check=True)
            yield
        finally:
            os.setns(own, os.CLONE_NEWNET)
    finally:
        os.close(own)


@pytest.fixture(scope="session", params=HAPROXY_SERIES, ids=[f"haproxy-{series}" for series in HAPROXY_SERIES])
def haproxy_program(request: pytest.FixtureRequest) -> str:
    """Each HAProxy that the configurations are for."""
    return str(tool(f"haproxy-{request.param}") / "haproxy")


@pytest.fixture(scope="module")
def haproxy_binary(haproxy_program: str, network: None) -> str:
    """The HAProxy under test, for a module with a network of its own."""
    return haproxy_program


@pytest.fixture(scope="session", params=IMAGE_SERIES, ids=[f"haproxy-{series}" for series in IMAGE_SERIES])
def image_haproxy_program(request: pytest.FixtureRequest) -> str:
    """Each HAProxy that front and guard run on."""
    return str(tool(f"haproxy-{request.param}") / "haproxy")


@pytest.fixture(scope="module")
def image_haproxy_binary(image_haproxy_program: str, network: None) -> str:
    """The HAProxy of an image, for a module with a network of its own."""
    return image_haproxy_program


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the module's own, readable for a process that is not root."""
    return tmp_path_factory.mktemp("wire")


@pytest.fixture(scope="session", params=LITELLM_PROGRAMS)
def litellm_program(request: pytest.FixtureRequest) -> LiteLLMProgram:
    """LiteLLM of the image that is built here, and of the published image."""
    return LiteLLMProgram.of(request.param)


@pytest.fixture(scope="session", params=VERSIONS)
def intake_gateway(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """The gateway's process in each version, without a database; whoever uses it says what its model servers do."""
    started = Gateway(request.param, tmp_path_factory.mktemp("gateway"))
    try:
        started.start()
        yield started
    finally:
        started.stop()


@pytest.fixture(scope="session")
def database_server() -> Iterator[Postgres]:
    """One PostgreSQL for the whole run."""
    with postgres() as server:
        yield server


@pytest.fixture(scope="session")
def migrated_database(
    database_server: Postgres, litellm_program: LiteLLMProgram, tmp_path_factory: pytest.TempPathFactory
) -> str:
    """The name of a database with the tables of this version and nothing in them, to be used as a template only."""
    name = f"migrated-{litellm_program.home.name}"
    litellm_program.migrate(database_server.create(name), tmp_path_factory.mktemp("migration"))
    return name


@pytest.fixture(scope="session")
def running_litellm(
    database_server: Postgres,
    migrated_database: str,
    litellm_program: LiteLLMProgram,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[LiteLLM]:
    """Two replicas over one database and one Valkey, as `tests.support.litellm` configures them, with the rights that
    the gateway has."""
    make_role(database_server.url())
    database = f"gateway-{litellm_program.home.name}"
    owner = database_server.create(database, template=migrated_database)
    lock_down(owner)
    url, folder = database_server.url(database, user=GATEWAY_ROLE), tmp_path_factory.mktemp("litellm")
    # a Valkey of its own: a lease that another version's replicas left there would stop the reset of budgets
    with valkey(folder) as port, litellm(litellm_program, folder, url, port) as started:
        yield started
