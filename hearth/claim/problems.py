"""What a refused claim says: every problem at once, each with its place, what is wrong and what to do."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

MOST: Final = 2_000
"""Most problems that are looked for in one claim, so that a hostile one does not cost minutes."""
SHOWN: Final = 200
"""Most problems that the text of an error shows."""

PUBLIC_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9._:/-]{0,126}[a-z0-9])?\Z")
"""What a declared name looks like."""


# What a name hardly ever has and a key or a token always: a vendor's prefix, or a long run of letters and digits.
_LIKE_A_SECRET: Final = re.compile(
    r"""^(sk|pk|rk|hf|gh[opsu]|github|glpat|xox[a-z]|akia|asia|aiza|eyj)[-_]?(?=.{12})(?=.*[0-9])
      | (?=[a-f]*[0-9])[0-9a-f]{20,}
      | [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}
      | (?=[a-z]*[0-9]+[a-z]+[a-z]*[0-9])[a-z0-9]{20,}""",
    re.VERBOSE | re.IGNORECASE,
)


def shown(name: str) -> bool:
    """Return whether a message may hold a name: it is a well-formed public name, and does not look like a secret."""
    return PUBLIC_NAME.match(name) is not None and _LIKE_A_SECRET.search(name) is None


@dataclass(frozen=True, order=True)
class Problem:
    """One thing that is wrong. Its texts never hold a value that was refused (S3-72)."""

    path: str
    """The field, such as `hearth:llm.providers[1].apiBase`, or the file."""
    message: str
    """What is wrong, as the end of a sentence that begins with the path, without a full stop."""
    remedy: str
    """What to do, as a sentence without a full stop, or a question with its mark."""
    location: str = ""
    """`file:line:column`, or empty where it is not known."""

    def __str__(self) -> str:
        """Return the problem as one line."""
        prefix = f"{self.location}: " if self.location else ""
        end = "" if self.remedy.endswith("?") else "."
        return f"{prefix}{self.path}: {self.message}. {self.remedy}{end}"


@dataclass(frozen=True)
class Notice:
    """Something that the operator should know although the claim is right."""

    path: str
    """The field that it is about."""
    message: str
    """What to know, as a sentence without a full stop."""

    def __str__(self) -> str:
        """Return the notice as one line."""
        return f"{self.path}: {self.message}."


class ClaimError(Exception):
    """A claim, or the call that names it, is wrong."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        """Keep the problems in the order that they are given in."""
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        """Return one line for each problem."""
        lines = [str(problem) for problem in self.problems[:SHOWN]]
        hidden = len(self.problems) - len(lines)
        return "\n".join([*lines, f"… and {hidden} more."] if hidden else lines)


def listed(names: Iterable[str], *, none: str = "none is declared") -> str:
    """Return declared names for a message: sorted, at most twelve of them, and none that may not be shown."""
    ordered: Sequence[str] = sorted(name for name in names if shown(name))
    if not ordered:
        return none
    return ", ".join(ordered[:12]) + (", …" if len(ordered) > 12 else "")
