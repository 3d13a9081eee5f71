"""What a Pod says of itself."""

from typing import Any

from hearth.kubeapi.client import Object


def why_not_ready(pod: Object | None) -> str:
    """Return why a Pod has not come up, by its containers and conditions; empty when nothing says so.

    Args:
        pod: the Pod as the API has it; none when there is none yet.
    """
    status: dict[str, Any] = (pod or {}).get("status") or {}
    waiting = [each.get("state", {}).get("waiting", {}) for each in status.get("containerStatuses") or ()]
    texts = [" ".join(filter(None, (each.get("reason"), each.get("message")))) for each in waiting]
    texts += [each.get("message", "") for each in status.get("conditions") or () if each.get("status") == "False"]
    return "; ".join(filter(None, texts))
