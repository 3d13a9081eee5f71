"""What the wrapper around LiteLLM and the hook inside it know of the same request."""

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True)
class Failure:
    """Why the last deployment that was asked did not answer."""

    refusal: str | None
    """The guard's code, from its header X-Refusal; none when the model server itself answered, or nobody did."""
    status: int | None
    """HTTP status of the answer; none without one."""
    message: str | None
    """The model server's own text, not yet bounded."""
    retry_after: int | None
    """Seconds that the answer asks to wait."""


@dataclass
class RequestState:
    """One request, from the wrapper to the hook and back."""

    asked: list[str] = field(default_factory=list)
    """Deployments that were offered, in order."""
    failed: int = 0
    """How many of them have failed."""
    failure: Failure | None = None
    """Why the last one did."""
    exception: Exception | None = None
    """LiteLLM's own form of it, which ends the request when the hook raises it again."""
    ended: bool = False
    """No further deployment may be asked."""


CURRENT: Final[ContextVar[RequestState | None]] = ContextVar("hearth_request", default=None)
"""The request of the running task, set by the wrapper. Tasks that LiteLLM starts for it see the same object."""
