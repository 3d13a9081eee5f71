"""What the wrapper around LiteLLM and the hook inside it know of the same request."""

import asyncio
import math
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True)
class Failure:
    """Why the last deployment that was asked did not answer."""

    refusal: str | None
    """The guard's code, from its header X-Refusal; none when the model server itself answered, or nobody did."""
    status: int | None
    """HTTP status of the answer; none without one, and 408 when none came in time."""
    message: str | None
    """The model server's own text, not yet bounded."""
    retry_after: int | None
    """Seconds that the answer asks to wait."""


OUT_OF_TIME: Final = Failure(refusal=None, status=408, message=None, retry_after=None)
"""What becomes of a request whose answer has not begun in time."""


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
    stream: bool = False
    """Whether the answer is a stream of events."""
    to_the_end: bool = False
    """Whether an answer that has begun is read to its end although the client has gone: LiteLLM records what a stream
    of this operation cost at its end, and nothing before."""
    embedding_space: str | None = None
    """The space that vectors are asked for in; none for everything else."""
    deadline: float | None = None
    """When the answer has to have begun, whichever deployment gives it, on the event loop's clock; none before the
    request is admitted."""
    attempt_seconds: float | None = None
    """How long the deployment that was offered last may take until its answer begins; none without one."""
    pause_seconds: float | None = None
    """How long it may pause within its answer; none without a bound."""

    def remaining(self) -> float:
        """Return the seconds until the deadline; endless without one, and not above 0 once it has passed."""
        return math.inf if self.deadline is None else self.deadline - asyncio.get_running_loop().time()


CURRENT: Final[ContextVar[RequestState | None]] = ContextVar("hearth_request", default=None)
"""The request of the running task, set by the wrapper. Tasks that LiteLLM starts for it see the same object."""
