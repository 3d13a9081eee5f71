"""The end of a run says what the hosts serve."""

import importlib.util
from pathlib import Path

FILE = Path(__file__).parents[3] / "plugins/filter/summary.py"


def test_endpoints_come_first_and_warnings_last() -> None:
    spec = importlib.util.spec_from_file_location("summary", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    summary = module.FilterModule().filters()["summary"]
    plan = {
        "sidecars": [
            {"endpoint": "one", "host": "gpu.lan", "port": 8443},
            {"endpoint": "two", "host": "gpu.lan", "port": 8444},
        ],
        "runtimes": [
            {"name": "one", "port": 8081, "plaintext_sources": []},
            {"name": "plain", "port": 8080, "plaintext_sources": ["192.168.1.0/24"]},
        ],
        "warnings": ["unencrypted"],
    }
    assert summary(plan, "box", {"one": "2026-12-31"}, True, [{"shown": "80/tcp (nginx)"}]) == [
        "box: one at https://gpu.lan:8443/v1; "
        "its certificate ends on 2026-12-31, and only another run replaces it before",
        "box: two at https://gpu.lan:8444/v1",
        "box: plain on port 8080 in plaintext",
        "WARNING box: unencrypted",
        "WARNING box: somebody else runs the model server, so that its models, bounds and hardening are not checked",
        "WARNING box: the firewall lets nobody reach 80/tcp (nginx)",
    ]
