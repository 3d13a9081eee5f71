"""What can go wrong with a cluster, and how a message quotes what others said.

Every message says what happened and what to do. None holds a key: answers are passed through `scrubbed`.
"""

import re
from typing import Final

_KEY: Final = re.compile(r"sk-[^\s\"'\\,;})\]]+")
_LONGEST: Final = 300


def scrubbed(text: str, *secrets: str) -> str:
    """Return what somebody answered as a message may quote it: one line, at most 300 characters, without keys.

    Args:
        text: the answer.
        secrets: values that must not be in it, whatever they look like.
    """
    for secret in secrets:
        if secret:
            text = text.replace(secret, "…")
    line = " ".join(_KEY.sub("sk-…", text).split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


class OperatorError(Exception):
    """Something that an operator can mend; the message is all that there is to say."""


class ClusterError(OperatorError):
    """The Kubernetes API refuses or fails a call, or the kubeconfig does not lead to one."""


class NotOursError(OperatorError):
    """An object of the wanted name exists and does not carry Hearth's mark; it is left as it is (U-1)."""
