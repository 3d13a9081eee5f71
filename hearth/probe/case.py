"""What a probe is, and what comes of one."""

import http.client
import ssl
from collections.abc import Callable
from dataclasses import dataclass

from hearth.evidence.document import Case
from hearth.probe.target import Target

Facts = dict[str, int | str]
"""What was measured: whole numbers with the unit in the name, or codes."""


class FailedError(Exception):
    """The endpoint is not what it has to be.

    The reason is a code of a bounded list in the probe's own text: nothing that the endpoint said goes into evidence.
    """

    def __init__(self, reason: str, **facts: int | str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.facts: Facts = facts


class SkippedError(Exception):
    """The probe could not show anything."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Probe:
    """One probe."""

    id: str
    """Case of the catalogue."""
    proves: str
    """What the endpoint is when it passes, as a sentence without a full stop."""
    run: Callable[[Target], Facts]
    """Probes the endpoint.

    Raises:
        FailedError: it is not so.
        SkippedError: nothing could be shown.
    """

    def case(self, target: Target) -> Case:
        """Return what came of it; an endpoint that does not answer has failed."""
        return outcome(lambda: self.run(target))


def outcome(run: Callable[[], Facts]) -> Case:
    """Return what came of a probe's function."""
    try:
        return _case("passed", None, run())
    except FailedError as error:
        return _case("failed", error.reason, error.facts)
    except SkippedError as error:
        return _case("skipped", error.reason, {})
    except ssl.SSLError:
        return _case("failed", "tls_failed", {})
    except TimeoutError:
        return _case("failed", "no_answer_in_time", {})
    except (OSError, http.client.HTTPException):
        return _case("failed", "no_answer", {})


def _case(result: str, reason: str | None, facts: Facts) -> Case:
    return Case.model_validate({"outcome": result, "reason": reason, "facts": facts})
