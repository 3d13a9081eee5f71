"""Action `hearth.edge.require`: a check of a preflight, which says everything that is wrong with a host at once."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# `assert` is a word of Python's own
Assert = import_module("ansible.plugins.action.assert").ActionModule
KEPT = "hearth_refusals"
"""The fact of a host in which refusals are collected."""
COLLECTING = "hearth_refusals_are_collected"
"""Variable of the tasks that collect."""


class ActionModule(Assert):  # type: ignore[misc, valid-type]
    """Fails as `ansible.builtin.assert` does, or keeps what it would have said until the last check was made."""

    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return what the module's documentation says."""
        variables = task_vars or {}
        kept = list(variables.get("ansible_facts", {}).get(KEPT, []))
        step = self._task.args.pop("step", "check")
        if step == "begin":
            return {"changed": False, "ansible_facts": {KEPT: []}}
        if step == "end":
            return {"changed": False, "failed": bool(kept), "msg": "\n".join(kept) or "Nothing is refused"}
        result: dict[str, Any] = super().run(tmp, task_vars)
        if not result.get("failed") or not variables.get(COLLECTING):
            return result
        refusals = [*kept, str(result["msg"])]
        if step == "last":
            return {**result, "msg": "\n".join(refusals)}
        return {"changed": False, "msg": "kept until every check was made", "ansible_facts": {KEPT: refusals}}
