"""What the firewall would shut needs somebody's word; what it shuts already only a warning."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

FILE = Path(__file__).parents[3] / "plugins/filter/shut_ports.py"


@pytest.fixture(scope="module")
def shut_ports() -> Any:
    spec = importlib.util.spec_from_file_location("shut_ports", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.FilterModule().filters()["shut_ports"]


SERVED = ["ssh=22", "listening=tcp 80 nginx", "listening=udp 5353 avahi-daemon", "listening=tcp 9100 node exporter"]


def shown(found: dict[str, list[dict[str, Any]]]) -> dict[str, list[str]]:
    return {kind: [one["shown"] for one in ports] for kind, ports in found.items()}


def test_the_first_run_asks_for_every_port(shut_ports: Any) -> None:
    assert shown(shut_ports(SERVED, [{"port": 8443}])) == {
        "unasked": ["80/tcp (nginx)", "5353/udp (avahi-daemon)", "9100/tcp (node exporter)"],
        "shut": [],
    }


def test_what_was_agreed_to_and_what_stays_open_is_not_asked_for(shut_ports: Any) -> None:
    found = shut_ports(SERVED, [{"port": 80}, {"port": 9100, "protocol": "udp"}], ["5353/udp", "80/udp"])
    assert shown(found) == {"unasked": ["9100/tcp (node exporter)"], "shut": []}


def test_a_service_that_came_after_the_rules_is_shut_already(shut_ports: Any) -> None:
    """What the present rules let in is reached, and asked for when they no longer would."""
    found = shut_ports(["table=hearth_edge", "open=tcp 22", "open=tcp 80", *SERVED], [{"port": 9100}])
    assert shown(found) == {"unasked": ["80/tcp (nginx)"], "shut": ["5353/udp (avahi-daemon)"]}


def test_a_port_at_two_addresses_is_named_once(shut_ports: Any) -> None:
    assert len(shut_ports([SERVED[1]] * 2, [])["unasked"]) == 1
