"""What can go wrong between Hearth and the gateway: one class for each thing that an operator does differently about.

Every message says what happened and what to do. None holds a key: answers of the gateway are passed through `scrubbed`.
"""

import re
from typing import Final

_KEY: Final = re.compile(r"sk-[^\s\"'\\,;})\]]+")
_LONGEST: Final = 300


def scrubbed(text: str, *secrets: str) -> str:
    """Return a text of the gateway as a message may quote it: one line, at most 300 characters, without keys.

    Args:
        text: what the gateway answered.
        secrets: values that must not be in it, whatever they look like.
    """
    for secret in secrets:
        if secret:
            text = text.replace(secret, "…")
    line = " ".join(_KEY.sub("sk-…", text).split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


class GatewayError(Exception):
    """Something went wrong with the gateway's management API or with the Kubernetes API in front of it."""


class GatewayUnavailableError(GatewayError):
    """The gateway does not answer: no Pod is Ready, or the connection fails, or the answer takes too long."""


class OutcomeUnknownError(GatewayUnavailableError):
    """A write was sent and no answer came; it may have happened. The same step finds out when it runs again."""


class GatewayUnauthorizedError(GatewayError):
    """The gateway refuses the master key."""


class GatewayRefusedError(GatewayError):
    """The gateway refuses a call: it is wrong, or the gateway's rules forbid it."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status
        """HTTP status of the refusal."""


class UnexpectedAnswerError(GatewayError):
    """The answer is not what this version of the gateway answers. It is never read as "there is nothing" (U-2)."""


class ReadbackError(GatewayError):
    """A write was accepted, and what the gateway says afterwards is not what was written (U-2)."""


class NotOursError(GatewayError):
    """An object of the wanted name exists and does not carry Hearth's mark; it is left as it is (U-1)."""


class ClusterError(GatewayError):
    """The Kubernetes API refuses or fails a call, or the kubeconfig does not lead to one."""
