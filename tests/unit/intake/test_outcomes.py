"""The tables: every code of the guard has an outcome, and every error of a client a row."""

import json

import pytest

from hearth.compile import guard, proxy_refusals
from hearth.compile.proxy_text import Refusal
from hearth.intake import errors
from hearth.intake.outcomes import ENDS, GOES_ON, goes_on, of_failure
from hearth.intake.state import Failure

GUARD_CODES = {value.code for value in vars(proxy_refusals).values() if isinstance(value, Refusal)} | {
    "upstream_failed",
    "upstream_certificate_failed",
}


def test_every_code_of_the_guard_has_one_outcome() -> None:
    assert not set(ENDS) & set(GOES_ON)
    assert set(ENDS) | set(GOES_ON) == GUARD_CODES | {"not_eligible"}
    assert guard.__doc__


def test_a_refusal_for_security_never_asks_another_one() -> None:
    for code in ("zone_denied", "upstream_certificate_failed", "redirect_refused", "invalid_api_key", "never-heard-of"):
        failure = Failure(code, 503, None, None)
        assert not goes_on(failure)
        assert of_failure(failure)[0] is errors.UPSTREAM_REFUSED


@pytest.mark.parametrize(
    ("status", "expected"),
    [(None, True), (500, True), (502, True), (503, True), (504, True), (429, True), (408, True)]
    + [(status, False) for status in (300, 400, 401, 403, 404, 409, 413, 415, 422, 451)],
)
def test_a_wrong_request_ends_and_a_broken_server_does_not(status: int | None, expected: bool) -> None:
    assert goes_on(Failure(None, status, None, None)) is expected


def test_rows_are_told_apart_by_their_code() -> None:
    codes = [row.code for row in errors.TABLE]
    assert len(set(codes)) == len(codes)
    declared = {value.code for value in vars(errors).values() if isinstance(value, errors.Refusal)}
    assert set(codes) == declared
    assert [row.status for row in errors.TABLE] == sorted(row.status for row in errors.TABLE)


@pytest.mark.parametrize("row", errors.TABLE, ids=lambda row: row.code)
def test_a_row_is_an_error_of_the_openai_api(row: errors.Refusal) -> None:
    assert json.loads(errors.body(row)) == {
        "error": {"message": row.message, "type": row.type, "param": None, "code": row.code}
    }
    assert "litellm" not in row.message.lower()


def test_what_front_and_intake_both_say_has_one_status() -> None:
    by_code = {row.code: row.status for row in errors.TABLE}
    for value in vars(proxy_refusals).values():
        if isinstance(value, Refusal) and value.code in by_code:
            assert by_code[value.code] == value.status
