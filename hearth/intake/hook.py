"""Decides inside LiteLLM which deployment of an alias is asked, and after which failure another one.

LiteLLM alone goes on to the next deployment after every failure from 400 to 504, an alias's paid one included. Here one
deployment is offered at a time, in the claim's order, each at most once, and `outcomes.py` says what ends the request.
LiteLLM's configuration names it: `litellm_settings.callbacks: hearth.intake.hook.HOOK`.
"""

from collections.abc import Mapping
from typing import Any, Final, NoReturn

from litellm.integrations.custom_logger import CustomLogger

from hearth.intake.answers import retry_after
from hearth.intake.outcomes import goes_on
from hearth.intake.state import CURRENT, OUT_OF_TIME, Failure, RequestState
from hearth.intake.upstream_text import upstream_text


class NoDeploymentError(Exception):
    """No deployment may be asked. Its status is what LiteLLM answers with; the wrapper renders the error."""

    status_code: Final = 503

    def __init__(self) -> None:
        super().__init__("no deployment may be asked")


class OneAtATime(CustomLogger):  # type: ignore[misc]  # without LiteLLM it is Any
    """Offers the deployments of an alias one by one."""

    async def async_filter_deployments(
        self,
        model: str,
        healthy_deployments: list[dict[str, Any]],
        messages: Any,
        request_kwargs: dict[str, Any] | None = None,
        parent_otel_span: Any = None,
    ) -> list[dict[str, Any]]:
        """Return the one deployment that is asked next.

        Args:
            model: the public name.
            healthy_deployments: LiteLLM's entries that are left over from its own choices.
            messages: not looked at.
            request_kwargs: not looked at.
            parent_otel_span: not looked at.

        Raises:
            Exception: the request ends: with the failure of the deployment that was asked last, or because LiteLLM asks
                for another one without a failure, none is left, or the time for all of them is over.
        """
        state = CURRENT.get()
        if state is None:
            # Not a client's request: LiteLLM's own, by the other door.
            return healthy_deployments
        if state.asked:
            if state.failed < len(state.asked):
                _end(state, None)  # LiteLLM wants another deployment, and nobody knows of a failure
            if state.ended:
                _end(state, state.exception)
        remaining = sorted(
            (one for one in healthy_deployments if _identity(one) not in state.asked and _fits(one, state)),
            key=lambda one: one.get("litellm_params", {}).get("order") or 0,
        )
        if not remaining:
            _end(state, state.exception)
        if state.remaining() <= 0:
            state.failure = OUT_OF_TIME
            _end(state, state.exception)
        state.asked.append(_identity(remaining[0]))
        whole, setup = _seconds(remaining[0], "timeout"), _seconds(remaining[0], "stream_timeout")
        state.attempt_seconds = setup if state.stream and setup is not None else whole
        state.pause_seconds = whole
        state.failure = state.exception = None
        return [dict(remaining[0])]

    async def async_post_call_failure_deployment_hook(
        self,
        request_data: Mapping[str, Any],
        exception: Exception,
        call_type: Any,
        fallback_depth: int | None = None,
    ) -> None:
        """Remember why a deployment did not answer.

        Args:
            request_data: not looked at.
            exception: LiteLLM's form of the failure.
            call_type: not looked at.
            fallback_depth: not looked at.
        """
        state = CURRENT.get()
        if state is None:
            return
        # Counted first: whatever goes wrong below, LiteLLM swallows it, and the request then ends for want of a reason.
        state.failed = len(state.asked)
        state.ended = True
        state.exception = exception
        state.failure = failure_of(exception)
        state.ended = not goes_on(state.failure)


def failure_of(exception: Exception) -> Failure:
    """Return what an exception of LiteLLM says of the answer behind it."""
    headers = {str(name).lower(): str(value) for name, value in _headers(exception).items()}
    status = getattr(exception, "status_code", None)
    # Without an answer the status is LiteLLM's own, and says no more than whether there was time enough.
    known = isinstance(status, int) and (bool(headers) or status == OUT_OF_TIME.status)
    return Failure(
        refusal=headers.get("x-refusal"),
        status=status if known else None,
        message=upstream_text(getattr(exception, "body", None), str(getattr(exception, "message", "") or "")),
        retry_after=retry_after(headers.get("retry-after")),
    )


def _headers(exception: Exception) -> Mapping[Any, Any]:
    for candidate in (
        getattr(exception, "litellm_response_headers", None),
        getattr(getattr(exception, "response", None), "headers", None),
        getattr(exception, "headers", None),
    ):
        if isinstance(candidate, Mapping) and candidate:
            return candidate
    return {}


def _seconds(deployment: Mapping[str, Any], name: str) -> float | None:
    found = deployment.get("litellm_params", {}).get(name)
    return None if found is None else float(found)


def _fits(deployment: Mapping[str, Any], state: RequestState) -> bool:
    """Return whether its vectors are of the space that is asked for: those of two spaces must not mix (S4-127)."""
    return state.embedding_space in (None, deployment["model_info"].get("embedding_space"))


def _identity(deployment: Mapping[str, Any]) -> str:
    return str(deployment["model_info"]["id"])


def _end(state: RequestState, exception: Exception | None) -> NoReturn:
    state.ended = True
    raise exception if exception is not None else NoDeploymentError


HOOK: Final = OneAtATime()
"""What LiteLLM's configuration names."""
