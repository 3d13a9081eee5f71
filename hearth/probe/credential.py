"""Probes of the credential (S4-47 … S4-51, S4-84)."""

from typing import Final

from hearth.probe.case import Facts, FailedError, Probe
from hearth.probe.target import Target, ask, body_of

_WRONG: Final = ("", "x", "sk-1234", "hearth-qualification-wrong-credential")


def _refused(statuses: list[int]) -> Facts:
    if any(status not in (401, 403) for status in statuses):
        raise FailedError("request_not_refused", accepted=sum(status < 400 for status in statuses))
    return {"tried": len(statuses)}


def _missing_refused(target: Target) -> Facts:
    model, operation = target.first_operation()
    answer = ask(target, "POST", target.path_of(operation), body_of(operation, model), with_credential=False)
    return _refused([answer.status])


def _wrong_refused(target: Target) -> Facts:
    model, operation = target.first_operation()
    prefix = "Bearer " if (target.credential or "").startswith("Bearer ") else ""
    statuses = [
        ask(
            target, "POST", target.path_of(operation), body_of(operation, model), credential=f"{prefix}{wrong}" or " "
        ).status
        for wrong in _WRONG
    ]
    return _refused(statuses)


PROBES: Final = (
    Probe("credential.missing_refused", "a request without a credential is refused", _missing_refused),
    Probe("credential.wrong_refused", "a request with a wrong credential is refused", _wrong_refused),
)
"""Probes of the credential."""
