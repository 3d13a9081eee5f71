"""The runner's probes against sidecars that are weak in one way: each fails its own case alone."""

from pathlib import Path

import pytest
from cryptography import x509

from hearth.probe.target import Bounds
from tests.wire.probe_bench import bench_with, measured, not_passed, target
from tests.wire.sidecar_bench import NAME

pytestmark = pytest.mark.wire

SIDECAR: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "http/2": ({"alpn http/1.1 proto h1": "alpn h2,http/1.1"}, {"sidecar.http1_only": "http2_negotiated"}),
    "an undeclared path": (
        {"{ method GET } { pathq -m str /sidecar/health }": "{ method GET } { pathq -m beg /s }"},
        {"sidecar.exact_paths": "undeclared_request_answered"},
    ),
    "no credential asked for": (
        {"unless { var(txn.credential) -m found }": "if { always_false }"},
        {"credential.missing_refused": "request_not_refused", "credential.wrong_refused": "request_not_refused"},
    ),
    "a larger body": (
        {"{ req.body_size gt 262144 }": "{ req.body_size gt 300000 }"},
        {"sidecar.request_bound": "no_answer_in_time"},
    ),
    "a queue without end": (
        {"queue(runtime) ge 2": "queue(runtime) ge 200", "maxqueue 2": "maxqueue 200"},
        {"sidecar.queue_bounded": "queue_not_bounded"},
    ),
    "one place": (
        {"maxconn 2 ": "maxconn 1 ", "timeout queue 10000ms": "timeout queue 500ms"},
        {
            "capacity.parallel": "declared_parallelism_not_reached",
            "sidecar.queue_bounded": "declared_parallelism_not_reached",
            "chat.disconnect": "stream_not_begun",
        },
    ),
}


@pytest.mark.parametrize("fault", SIDECAR)
def test_a_weak_sidecar_fails_its_own_case(haproxy_binary: str, tmp_path: Path, fault: str) -> None:
    text, expected = SIDECAR[fault]
    tmp_path.chmod(0o755)
    with bench_with(haproxy_binary, tmp_path, text) as running:
        assert not_passed(measured(target(running, bounds=Bounds(2, 2, 262_144, 10.0, 5.0)))) == expected


def test_a_common_name_is_no_name(haproxy_binary: str, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with bench_with(haproxy_binary, tmp_path) as running:
        other = target(running, host="llm-cn")
        certificate, key = running.authority.issue(x509.DNSName(NAME), common_name="llm-cn")
        (tmp_path / "tls.crt").write_text(certificate)
        (tmp_path / "tls.key").write_text(key)
        assert not_passed(measured(other))["transport.chain_and_name"] == "name_mismatch"
