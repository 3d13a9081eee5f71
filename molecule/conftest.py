"""Fixtures of all scenarios: the running hosts and their sidecars, each as a parameter of its own."""

from collections.abc import Iterator

import pytest

from tests.support.edge import EdgeHost, Endpoint, hosts, loaded_claim
from tests.wire.client import wait_for

pytest_plugins = ["tests.support.outcomes"]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test once for each host or each sidecar of the scenario."""
    if "edge_host" in metafunc.fixturenames:
        metafunc.parametrize("edge_host", hosts(), ids=lambda host: host.name, scope="session")
    if "endpoint" in metafunc.fixturenames:
        found = [endpoint for host in hosts() for endpoint in host.sidecars]
        metafunc.parametrize("endpoint", found, ids=lambda endpoint: endpoint.name, scope="session")


@pytest.fixture(autouse=True)
def journal_on_failure(request: pytest.FixtureRequest) -> Iterator[None]:
    """Show the end of each host's journal when a test fails."""
    failed = request.session.testsfailed
    yield
    if request.session.testsfailed > failed:
        for host in hosts():
            print(host.name, host.inside.run("journalctl --no-pager -o cat -n 20 -u 'hearth-*'").stdout)


@pytest.fixture(scope="session", autouse=True)
def everything_is_up() -> None:
    """Let hosts that have just started come up: their units start with them, one after the other."""
    for host in hosts():
        for sidecar in host.sidecars:
            if host.inside.file(f"/etc/hearth/sidecar/{sidecar.name}").exists:
                assert wait_for(sidecar.is_healthy, 120), f"{sidecar.name} is not healthy"


@pytest.fixture
def edge_model() -> str:
    """The model name of the scenarios' deployments."""
    return next(iter(loaded_claim().claim.deployments.values())).model


@pytest.fixture
def edge_runtime_unit(edge_host: EdgeHost) -> str:
    """The unit of the host's first runtime."""
    return f"{edge_host.plan.runtimes[0].unit}.service"


__all__ = ["EdgeHost", "Endpoint"]
