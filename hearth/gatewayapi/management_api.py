"""One call to the gateway's management API: bounded in time, tried again only where that is safe, errors typed."""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import httpx

from hearth.compile.names import MANAGEMENT_HEADER
from hearth.gatewayapi.errors import (
    GatewayError,
    GatewayRefusedError,
    GatewayUnauthorizedError,
    GatewayUnavailableError,
    OutcomeUnknownError,
    UnexpectedAnswerError,
)
from hearth.kubeapi.errors import scrubbed

TIMEOUT: Final = httpx.Timeout(30.0, connect=10.0)
"""Times of one attempt in seconds: to connect, and between two bytes of the answer."""
ATTEMPTS: Final = 4
"""How often a call is tried that may be tried again."""
FIRST_PAUSE_SECONDS: Final = 0.5
"""Pause before the second attempt; each further one is twice as long."""

_PASSING: Final = frozenset({502, 503, 504})
_NOTHING_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class ManagementApi:
    """HTTP calls with the master key. It is a context manager; leaving it closes the connection."""

    def __init__(
        self,
        where: str,
        remedy: str,
        master_key: str,
        *,
        base_url: str,
        token: str | None = None,
        transport: httpx.BaseTransport | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """Make no connection yet.

        Args:
            where: the gateway as messages name it, such as `the gateway in system-llm (context kind-hearth)`.
            remedy: what to do when it does not answer.
            master_key: LiteLLM's master key.
            base_url: origin of LiteLLM.
            token: the management token; none for a gateway from before there was one.
            transport: how to get there; the network when absent.
            pause: what waits between two attempts, in seconds.
        """
        self._where, self._remedy, self._master_key, self._pause = where, remedy, master_key, pause
        self._client = httpx.Client(
            base_url=base_url,
            headers={
                "Authorization": f"Bearer {master_key}",
                **({} if token is None else {MANAGEMENT_HEADER: token}),
            },
            timeout=TIMEOUT,
            transport=transport,
            follow_redirects=False,
            trust_env=False,
        )

    def __enter__(self) -> "ManagementApi":
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self._client.close()

    def call(
        self,
        what: str,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, str] | None = None,
        repeatable: bool,
        absent: tuple[int, ...] = (),
        secret: str = "",
    ) -> Any:
        """Call the gateway and return the JSON of its answer.

        Args:
            what: what is being done, as a message names it: `register the key family--notes--1`.
            method: HTTP method.
            path: path of the call.
            body: JSON body.
            query: query parameters.
            repeatable: whether doing it twice is the same as once. Otherwise only what was never sent is sent again.
            absent: statuses that mean "there is no such object"; `None` is returned for them.
            secret: a value in the body that no message may show.

        Raises:
            GatewayUnavailableError: it does not answer, or answers that it cannot.
            OutcomeUnknownError: the same, and the write may have happened.
            GatewayUnauthorizedError: it refuses the master key.
            GatewayRefusedError: it refuses the call.
            UnexpectedAnswerError: the answer is not JSON.
        """
        answer = self._send(what, method, path, body, query, repeatable)
        status = answer.status_code
        if status in absent:
            return None
        if status >= 300:
            raise self._refusal(what, answer, secret)
        try:
            return json.loads(answer.content)
        except ValueError:
            text = f"could not {what}: {self._where} answered {method} {path} with something that is not JSON"
            raise UnexpectedAnswerError(f"{text}; is LiteLLM there, and of the pinned version?") from None

    def _send(
        self,
        what: str,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        query: Mapping[str, str] | None,
        repeatable: bool,
    ) -> httpx.Response:
        pause, problem = FIRST_PAUSE_SECONDS, ""
        for attempt in range(ATTEMPTS):
            if attempt:
                self._pause(pause)
                pause *= 2
            try:
                answer = self._client.request(method, path, json=body, params=query)
            except _NOTHING_SENT as error:
                problem = _reason(error)
            except httpx.HTTPError as error:
                problem = _reason(error)
                if not repeatable:
                    raise OutcomeUnknownError(
                        f"could not {what}: {self._where} did not answer ({problem}), and may have done it. "
                        f"Run the same command again: it looks first. {self._remedy}"
                    ) from None
            else:
                if answer.status_code not in _PASSING or not repeatable:
                    return answer
                problem = f"HTTP {answer.status_code}: {scrubbed(answer.text, self._master_key)}"
        raise GatewayUnavailableError(
            f"could not {what}: {self._where} does not answer ({problem}; {ATTEMPTS} attempts). {self._remedy}"
        )

    def _refusal(self, what: str, answer: httpx.Response, secret: str) -> GatewayError:
        said = scrubbed(_message(answer), self._master_key, secret).rstrip(".")
        status = answer.status_code
        if status == 401:
            return GatewayUnauthorizedError(
                f"could not {what}: {self._where} refuses the master key. The running Pods have another one than their "
                "Secret: restart them with `kubectl rollout restart deployment/llm-gateway` in their namespace."
            )
        if status >= 500:
            return GatewayUnavailableError(
                f"could not {what}: {self._where} answered HTTP {status}: {said}. {self._remedy}"
            )
        return GatewayRefusedError(f"could not {what}: {self._where} answered HTTP {status}: {said}", status)


def _reason(error: httpx.HTTPError) -> str:
    text = scrubbed(str(error))
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _message(answer: httpx.Response) -> str:
    """Return the message in an error of LiteLLM, which spells errors in several ways."""
    try:
        value: Any = answer.json()
    except ValueError:
        return answer.text
    while isinstance(value, dict):
        inner = next((value[key] for key in ("error", "detail", "message") if key in value), None)
        if inner is None:
            break
        value = inner
    return str(value)
