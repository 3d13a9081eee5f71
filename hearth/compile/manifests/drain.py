"""How long a Pod that requests go through may take to stop: one sum, for the gateway, a model server, and its node."""

from math import ceil
from typing import Final

PRE_STOP_SECONDS: Final = 10
"""How long a Pod goes on accepting after it has left the Service, in seconds: until every node knows."""
STOP_MARGIN_SECONDS: Final = 20
"""How long the programs may take to end after the last request has, in seconds."""


def grace_seconds(request_timeout_ms: int) -> int:
    """Return the grace of a Pod, in seconds.

    Args:
        request_timeout_ms: longest time of a request in ms.
    """
    return PRE_STOP_SECONDS + ceil(request_timeout_ms / 1000) + STOP_MARGIN_SECONDS
