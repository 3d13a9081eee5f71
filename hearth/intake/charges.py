"""What a request costs is what was answered."""

from typing import Final

_JUDGE: Final = "_provider_billed_the_failure"


def charge_answers_alone() -> None:
    """Let LiteLLM charge nothing for a request without an answer.

    1.108 charges an estimate of the prompt when a model server did not answer in time, or when the client went away
    before it did; 1.103 does not. Nothing was answered, and a person's budget would be spent by a model that is down.
    """
    from litellm.proxy import utils

    if hasattr(utils, _JUDGE):
        setattr(utils, _JUDGE, _not_charged)


def _not_charged(_: Exception) -> bool:
    return False
