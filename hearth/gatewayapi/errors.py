"""What can go wrong between Hearth and the gateway: one class for each thing that an operator does differently about.

Every message says what happened and what to do. None holds a key: answers of the gateway are passed through `scrubbed`
of `hearth.kubeapi.errors`, where the errors of the cluster in front of it are.
"""

from hearth.kubeapi.errors import OperatorError


class GatewayError(OperatorError):
    """Something went wrong with the gateway's management API."""


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
