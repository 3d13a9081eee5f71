"""One deadline over all attempts of a request, in both versions of LiteLLM.

The name `brief` has three deployments: the first may take 2 s, the others 6 s, and a stream of any begins within
2 s. Its deadline is 6 s, two more are LiteLLM's for saying so.
"""

from typing import Any

import httpx
import pytest

from hearth.intake.requests import OPERATION_PATHS
from tests.support.intake import LEAK, Gateway
from tests.unit.intake.bodies import BODIES

pytestmark = pytest.mark.wire

PATHS = {operation: path for path, operation in OPERATION_PATHS.items()}


@pytest.fixture(scope="module")
def gateway(intake_gateway: Gateway) -> Gateway:
    intake_gateway.models.script()
    ask(intake_gateway, model="gemma")  # the first request of a process takes longer, whatever it is
    return intake_gateway


def ask(gateway: Gateway, operation: str = "chat", model: str = "brief", **fields: Any) -> httpx.Response:
    with gateway.client() as client:
        return client.post(PATHS[operation], json={**BODIES[operation], "model": model, **fields})  # type: ignore[index]


def code(answer: httpx.Response) -> tuple[int, str]:
    assert LEAK not in answer.text
    return answer.status_code, answer.json()["error"]["code"]


@pytest.mark.parametrize("operation", ["chat", "embedding"])
def test_a_slow_deployment_leaves_its_time_to_the_next(gateway: Gateway, operation: str) -> None:
    gateway.models.script(first={"delay": 7})
    assert ask(gateway, operation).status_code == 200
    assert gateway.models.names == ["first", "second"]


def test_the_next_has_what_is_left_and_not_its_full_time(gateway: Gateway) -> None:
    gateway.models.script(first={"delay": 7}, second={"delay": 5})  # 2 s + 5 s, although 5 s alone were permitted
    assert code(ask(gateway)) == (504, "gateway_timeout")
    assert gateway.models.names == ["first", "second"]


def test_a_stream_that_does_not_begin_is_another_ones(gateway: Gateway) -> None:
    gateway.models.script(first={"hold": 5})  # its head alone is no beginning
    answer = ask(gateway, stream=True)
    assert answer.text.count('"content":"blue"') == 2
    assert gateway.models.names == ["first", "second"]


def test_no_stream_begins_after_the_deadline(gateway: Gateway) -> None:
    gateway.models.script(first={"hold": 9}, second={"delay": 9}, third={"hold": 9})
    assert code(ask(gateway, stream=True)) == (504, "gateway_timeout")
    assert gateway.models.names == ["first", "second", "third"]


def test_a_stream_may_pause_longer_than_it_may_take_to_begin(gateway: Gateway) -> None:
    gateway.models.script(
        first={"status": 503}, second={"chunks": 3, "pause": 3}
    )  # 9 s: the deadline is over meanwhile
    answer = ask(gateway, stream=True)
    assert answer.text.count('"content":"blue"') == 3
    assert answer.text.endswith("data: [DONE]\n\n")


@pytest.mark.parametrize("plan", [{"processing": 120}, {"dribble": 120}])
def test_signs_of_life_extend_nothing(gateway: Gateway, plan: dict[str, int]) -> None:
    plans = {"first": {"status": 503}, "second": plan, "third": plan}
    gateway.models.script(**plans)
    assert code(ask(gateway)) == (504, "gateway_timeout")
    assert gateway.models.names == ["first", "second"]


def test_responses_have_the_same_deadline(gateway: Gateway) -> None:
    gateway.models.script(first={"delay": 7}, second={"delay": 5})
    assert code(ask(gateway, "responses")) == (504, "gateway_timeout")
    assert gateway.models.names == ["first", "second"]
