"""The runner's probes against a real sidecar: a good endpoint passes whole, and each fault fails its own case alone."""

import dataclasses
import datetime
import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hearth.evidence.signing import evidence_text, sign
from hearth.evidence.trust import TrustStore, public_key_text
from hearth.evidence.verify import verify
from hearth.probe.run import VantageError, own_namespace
from tests.support.pki import Authority
from tests.support.scripted_runtime import ScriptedRuntime
from tests.wire.probe_bench import FACTS, KEY, OUTSIDE, SUBJECT, bench_with, measured, not_passed, target
from tests.wire.sidecar_bench import TOKEN, Bench

pytestmark = pytest.mark.wire


@pytest.fixture(scope="module")
def bench(haproxy_binary: str, folder: Path) -> Iterator[Bench]:
    with bench_with(haproxy_binary, folder) as running:
        yield running


def store() -> TrustStore:
    key = {
        "publicKey": public_key_text(KEY.public_key()),
        "notBefore": "2020-01-01T00:00:00Z",
        "notAfter": "2999-01-01T00:00:00Z",
    }
    return TrustStore.model_validate_json(json.dumps({"version": "hearth.trust-store/v1", "keys": {"runner": key}}))


def test_a_good_endpoint_passes_and_its_evidence_opens_the_route(bench: Bench) -> None:
    bench.upstream.behaviour = ScriptedRuntime()
    statement = measured(target(bench))
    assert not_passed(statement) == {}
    data = evidence_text(sign(statement, KEY)).encode()
    now = datetime.datetime.now(datetime.UTC)
    assert verify(data, SUBJECT, store(), now).findings == ()
    assert TOKEN not in data.decode()
    assert OUTSIDE not in data.decode()
    assert statement.runner_vantage is not None
    assert statement.runner_vantage.kind == "external_host"


RUNTIME: dict[str, dict[str, str]] = {
    "answer without text": {"chat.answer": "answer_without_text"},
    "no usage": {"chat.usage": "usage_absent"},
    "wrong usage": {"chat.usage": "usage_contradicts_itself"},
    "an error": {"chat.answer": "not_answered", "chat.usage": "not_answered"},
    "usage twice": {"chat.stream": "usage_ambiguous", "chat.stream_framing": "usage_ambiguous"},
    "no end": {"chat.stream": "stream_without_end", "chat.stream_framing": "stream_without_end"},
    "other order": {"embedding.batch_order": "other_order"},
    "one vector": {"embedding.batch": "not_a_vector_for_each_text", "embedding.batch_order": "other_indexes"},
    "constant": {"embedding.space": "different_texts_in_one_place"},
    "floats for base64": {"embedding.base64": "not_base64_of_floats"},
}


@pytest.mark.parametrize("wrong", RUNTIME)
def test_a_fault_of_the_runtime_fails_its_own_cases(bench: Bench, wrong: str) -> None:
    bench.upstream.behaviour = ScriptedRuntime(wrong)
    statement = measured(target(bench))
    assert not_passed(statement) == RUNTIME[wrong]
    assert statement.state == "failed"


def other_name(bench: Bench) -> dict[str, Any]:
    return {"host": "llm-other.system-llm.svc.cluster.local"}


OUTSIDE_FAULTS: dict[str, tuple[Callable[[Bench], dict[str, Any]], dict[str, str]]] = {
    "the raw port answers": (lambda _: {"address": "127.0.0.1"}, {"sidecar.raw_port_closed": "raw_port_reachable"}),
    "another configuration": (
        lambda _: {
            "expected": dataclasses.replace(
                SUBJECT.expected,
                sidecar=dataclasses.replace(SUBJECT.expected.sidecar, config_sha256="0" * 64),  # type: ignore[type-var]
            )
        },
        {"sidecar.identity": "other_configuration"},
    ),
    "another runtime": (
        lambda _: {"expected": dataclasses.replace(SUBJECT.expected, physical_runtime_id="else")},
        {"sidecar.identity": "other_runtime"},
    ),
}


@pytest.mark.parametrize("fault", OUTSIDE_FAULTS)
def test_a_fault_around_the_sidecar_fails_its_own_case(bench: Bench, fault: str) -> None:
    bench.upstream.behaviour = ScriptedRuntime()
    changes, expected = OUTSIDE_FAULTS[fault]
    assert not_passed(measured(target(bench, **changes(bench)))) == expected


def test_a_certificate_of_another_authority_or_for_another_name_fails_everything_behind_it(bench: Bench) -> None:
    bench.upstream.behaviour = ScriptedRuntime()
    for changes, reason in (
        ({"authorities": Authority("another CA").pem}, "chain_not_trusted"),
        (other_name(bench), "name_mismatch"),
    ):
        found = not_passed(measured(target(bench, **changes)))
        assert found["transport.chain_and_name"] == reason
        assert found["chat.answer"] == "tls_failed"


def test_without_facts_of_the_host_nothing_passes_and_inside_nothing_is_signed(bench: Bench) -> None:
    """S4-91: from the model server's own namespace nothing is proven about what is outside."""
    bench.upstream.behaviour = ScriptedRuntime()
    blind = measured(target(bench), facts=None)
    assert not_passed(blind) == {"sidecar.isolation": "no_facts_of_the_host"}
    assert blind.runner_vantage is None
    assert blind.state == "failed"
    before = bench.upstream.connections
    with pytest.raises(VantageError):
        measured(target(bench), facts=dataclasses.replace(FACTS, network_namespace=own_namespace()))
    assert bench.upstream.connections == before
    open_inside = dataclasses.replace(FACTS, isolation={**FACTS.isolation, "rawPortOnLoopbackOnly": False})
    assert not_passed(measured(target(bench), facts=open_inside)) == {"sidecar.isolation": "isolated_otherwise"}


def test_an_endpoint_that_is_not_there_fails_every_case_and_the_run_ends(bench: Bench) -> None:
    with socket.socket() as closed:
        closed.bind((OUTSIDE, 0))
        port = closed.getsockname()[1]
    found = not_passed(measured(target(bench, port=port)))
    assert set(found.values()) <= {"no_answer", "no_facts_of_the_host", "declared_parallelism_not_reached"}
    assert len(found) > 15
