"""The two Debians bring two series of HAProxy, so that every test of this scenario holds for both."""

from tests.support.edge import EdgeHost

SERIES = {"debian12.edge.test": "2.6", "debian13.edge.test": "3.0"}


def test_the_sidecar_runs_in_the_series_of_its_debian(edge_host: EdgeHost) -> None:
    pid = edge_host.run(f"systemctl show -P MainPID {edge_host.plan.sidecars[0].unit}")
    said = edge_host.run(f"/proc/{pid}/exe -v")
    assert said.startswith(f"HAProxy version {SERIES[edge_host.name]}."), said
