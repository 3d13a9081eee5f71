"""The outputs of a stack are read although Pulumi writes its state at the same moment."""

from types import SimpleNamespace
from typing import Any

import pulumi
import pytest

from hearth.cluster import program

BEING_WRITTEN = "invocation of pulumi:pulumi:readStackOutputs returned an error: failed to load checkpoint: EOF"


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What each reading finds, in order: outputs, or the text of an error. The last one is found for ever."""
    found: list[object] = []

    def invoke(_token: str, _arguments: object) -> Any:
        answer = found.pop(0) if len(found) > 1 else found[0]
        if isinstance(answer, str):
            raise Exception(answer)
        return SimpleNamespace(value={"outputs": answer})

    monkeypatch.setattr(pulumi.runtime, "invoke", invoke)
    monkeypatch.setattr(program, "READ_PAUSE_SECONDS", 0)
    for name in ("organization", "project", "stack"):
        monkeypatch.setattr(pulumi, f"get_{name}", lambda: "x")
    return found


def test_a_state_that_is_being_written_is_read_again(state: list[object]) -> None:
    state += [BEING_WRITTEN, BEING_WRITTEN, {"claim": "{}"}]
    assert program.deployed_outputs() == {"claim": "{}"}


def test_a_state_that_stays_unreadable_is_an_error_with_a_remedy(state: list[object]) -> None:
    state.append(BEING_WRITTEN)
    with pytest.raises(pulumi.RunError, match="cannot be read"):
        program.deployed_outputs()


def test_another_error_is_not_tried_again(state: list[object]) -> None:
    state += ["another error", {"claim": "{}"}]
    with pytest.raises(Exception, match="another error"):
        program.deployed_outputs()


def test_what_was_believed_before_is_remembered_and_nothing_else_is_read_as_it() -> None:
    """S4-111: an older document does not come back; a state that says nonsense remembers nothing."""
    outputs = {"evidence": {"box/ab": "2026-08-08T16:00:00Z", "box/cd": "yesterday", "box/ef": 3}}
    assert program.believed_evidence(outputs) == {"box/ab": "2026-08-08T16:00:00Z"}
    for nothing in ({}, {"evidence": "x"}, {"evidence": None}):
        assert program.believed_evidence(nothing) == {}
