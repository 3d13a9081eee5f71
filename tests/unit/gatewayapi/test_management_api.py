"""One call to the management API, against a scripted LiteLLM: what is tried again, and what messages say."""

import httpx
import pytest

from hearth.gatewayapi.errors import (
    GatewayRefusedError,
    GatewayUnauthorizedError,
    GatewayUnavailableError,
    OutcomeUnknownError,
    UnexpectedAnswerError,
)
from hearth.gatewayapi.records import Mark, WantedKey, WantedTeam
from hearth.kubeapi.errors import scrubbed
from tests.support.scripted_litellm import MASTER_KEY, ScriptedLiteLLM, answers, raises

KEY = WantedKey("sk-planted-canary-0123456789", "family--notes--1", "hearth-s-family", ("small",), Mark("s", "family"))
TEAM = WantedTeam("hearth-s-family", "family", ("small",), Mark("s", "family"))


@pytest.fixture
def litellm() -> ScriptedLiteLLM:
    return ScriptedLiteLLM()


@pytest.mark.parametrize("error", [httpx.ReadTimeout, httpx.ReadError, httpx.ConnectError, httpx.RemoteProtocolError])
def test_a_read_is_tried_again_after_longer_and_longer_pauses(
    litellm: ScriptedLiteLLM, error: type[httpx.TransportError]
) -> None:
    litellm.break_next("/team/info", raises(error), raises(error), answers(503))
    assert litellm.client().team("x") is None
    assert litellm.pauses == [0.5, 1.0, 2.0]


def test_a_gateway_that_never_answers_is_given_up_with_what_to_do(litellm: ScriptedLiteLLM) -> None:
    litellm.break_next("/team/info", *[raises(httpx.ConnectTimeout)] * 9)
    with pytest.raises(GatewayUnavailableError) as caught:
        litellm.client().team("hearth-s-family")
    assert str(caught.value) == (
        "could not look up the team hearth-s-family: the scripted gateway does not answer "
        "(ConnectTimeout: scripted; 4 attempts). Look at its Pods."
    )
    assert len(litellm.calls) == 4


def test_a_write_that_was_sent_is_never_sent_again(litellm: ScriptedLiteLLM) -> None:
    litellm.break_next("/key/generate", raises(httpx.ReadTimeout))
    with pytest.raises(OutcomeUnknownError, match=r"may have done it\. Run the same command again"):
        litellm.client().register_key(KEY)
    assert litellm.paths() == ["/key/generate"]


def test_a_write_that_was_not_sent_is_sent_again(litellm: ScriptedLiteLLM) -> None:
    litellm.break_next("/team/new", raises(httpx.ConnectError))
    litellm.client().create_team(TEAM)
    assert litellm.paths() == ["/team/new", "/team/new"]


def test_a_write_that_the_gateway_failed_at_is_not_sent_again(litellm: ScriptedLiteLLM) -> None:
    litellm.break_next("/team/new", answers(503, {"error": {"message": "No connected db."}}))
    with pytest.raises(GatewayUnavailableError, match=r"HTTP 503: No connected db\. Look at its Pods\."):
        litellm.client().create_team(TEAM)
    assert litellm.paths() == ["/team/new"]


def test_a_write_that_may_be_repeated_is(litellm: ScriptedLiteLLM) -> None:
    client = litellm.client()
    client.create_team(TEAM)
    litellm.break_next("/team/update", raises(httpx.ReadTimeout))
    client.update_team(TEAM)
    assert litellm.paths() == ["/team/new", "/team/update", "/team/update"]


def test_a_refused_master_key_is_named_and_not_shown(litellm: ScriptedLiteLLM) -> None:
    litellm.break_next("/team/info", answers(401, {"error": {"message": f"Received API Key = {MASTER_KEY}"}}))
    with pytest.raises(GatewayUnauthorizedError, match="kubectl rollout restart deployment/llm-gateway") as caught:
        litellm.client().team("x")
    assert MASTER_KEY not in str(caught.value)
    assert len(litellm.calls) == 1, "a refusal is not tried again"


def test_a_refusal_quotes_the_gateway_without_keys(litellm: ScriptedLiteLLM) -> None:
    said = f"bad key {KEY.value} and sk-another-secret, hash {'a' * 999}\nsecond line"
    litellm.break_next("/key/generate", answers(400, {"error": {"message": said}}))
    with pytest.raises(GatewayRefusedError) as caught:
        litellm.client().register_key(KEY)
    text = str(caught.value)
    assert caught.value.status == 400
    assert "could not register the key family--notes--1" in text
    assert "sk-another" not in text
    assert "canary" not in text
    assert "\n" not in text
    assert len(text) < 450


@pytest.mark.parametrize(
    "body", [{"error": "plain"}, {"detail": {"error": "plain"}}, {"detail": "plain"}, {"message": "plain"}]
)
def test_every_spelling_of_an_error_is_read(litellm: ScriptedLiteLLM, body: dict[str, object]) -> None:
    litellm.break_next("/team/new", answers(400, body))
    with pytest.raises(GatewayRefusedError, match=r"HTTP 400: plain$"):
        litellm.client().create_team(TEAM)


def test_an_answer_that_is_not_json_is_no_answer(litellm: ScriptedLiteLLM) -> None:
    litellm.break_next("/key/list", lambda _: httpx.Response(200, text="<html>"))
    with pytest.raises(UnexpectedAnswerError, match="not JSON"):
        litellm.client().key_by_alias("x")


def test_a_redirect_is_not_followed(litellm: ScriptedLiteLLM) -> None:
    litellm.break_next("/team/info", lambda _: httpx.Response(307, headers={"location": "http://elsewhere.invalid/"}))
    with pytest.raises(GatewayRefusedError, match="HTTP 307"):
        litellm.client().team("x")
    assert len(litellm.calls) == 1


def test_scrubbed_leaves_nothing_of_a_key() -> None:
    text = scrubbed('key="sk-abc_DEF-123", {"k": "sk-x"} plain-secret', "plain-secret", "")
    assert text == 'key="sk-…", {"k": "sk-…"} …'


def test_what_is_wanted_of_a_key_does_not_show_it() -> None:
    assert KEY.value not in repr(KEY)
