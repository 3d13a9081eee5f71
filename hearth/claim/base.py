"""What every shape of the claim has in common: frozen, strict, camelCase, unknown fields refused."""

import re
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

MEANINGS: Final[dict[str, str]] = {}
"""What each pattern of the claim means in words, so that no error has to print a regular expression."""


def matching(
    pattern: str, meaning: str, *, min_length: int | None = None, max_length: int | None = None
) -> StringConstraints:
    """Return the constraint of a text that matches a pattern.

    Args:
        pattern: regular expression of the whole text, with `^` and `$`.
        meaning: the same in words, as the end of the sentence "must be …".
        min_length: fewest characters.
        max_length: most characters.
    """
    MEANINGS[pattern] = meaning
    return StringConstraints(pattern=pattern, min_length=min_length, max_length=max_length)


class Shape(BaseModel):
    """Base of all claim shapes.

    Fields are spelled in camelCase in the claim and in snake_case in Python. A field that no shape
    declares is refused (S3-72, S4-15), and a loaded claim cannot be changed.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
        strict=True,
        use_attribute_docstrings=True,
    )


NAME: Final = r"[a-z][a-z0-9]*(-[a-z0-9]+)*"
"""Pattern of a name: lower-case letters, digits and single hyphens, a letter first."""

Identifier = Annotated[
    str,
    matching(
        f"^{NAME}$",
        "a name of 1 to 40 lower-case letters, digits and single hyphens that begins with a letter",
        min_length=1,
        max_length=40,
    ),
]
"""A name that becomes part of Kubernetes names: a lower-case RFC 1123 label of 1 to 40 characters that begins with
a letter. It has no two hyphens in a row, so names that are joined by `--` stay distinct."""

ENVIRONMENT_NAME: Final = MEANINGS[f"^{NAME}$"]
"""What the name of an environment is, in words: an identifier, on a command line, in Pulumi and in evidence alike."""


def is_environment_name(text: str) -> bool:
    """Return whether a text may name an environment: it names folders and stands in signed documents."""
    return len(text) <= 40 and re.fullmatch(NAME, text) is not None


EnvironmentId = Identifier
"""What everything that belongs to one environment is marked with; its evidence and its trust store have folders of that
name."""

# Control characters, and what no reader sees: marks of direction, separators, and spaces of no width.
_INVISIBLE = r"\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff"

OneLine = Annotated[
    str,
    matching(
        rf"^[^\s{_INVISIBLE}]([^{_INVISIBLE}]*[^\s{_INVISIBLE}])?$",
        "one line of 1 to 512 printable characters without spaces at its ends",
        min_length=1,
        max_length=512,
    ),
]
"""One printable line of 1 to 512 characters without spaces at its ends (S3-18)."""

Sha256 = Annotated[str, matching(r"^[0-9a-f]{64}$", "a SHA-256 digest of 64 lower-case hexadecimal digits")]
"""A SHA-256 digest as 64 lower-case hexadecimal digits."""

CommitHash = Annotated[str, matching(r"^[0-9a-f]{40}$", "a commit of 40 lower-case hexadecimal digits")]
"""A commit as 40 hexadecimal digits."""

CredentialReference = Annotated[
    str,
    matching(
        r"^credential://[a-z][a-z0-9]*(-[a-z0-9]+)*/[a-z][a-z0-9]*(-[a-z0-9]+)*$",
        "a reference credential://<scope>/<name>, never the secret itself",
        max_length=120,
    ),
]
"""Where a secret is found, never the secret: `credential://<scope>/<name>` (S4-53)."""

Decimal = Annotated[
    str,
    matching(r"^[0-9]{1,9}(\.[0-9]{1,6})?$", 'an amount in quotes with at most six decimal places, such as "20.00"'),
]
"""A non-negative amount as a decimal string, so that no digit is lost to floating point."""

Duration = Annotated[
    str, matching(r"^[1-9][0-9]{0,3}[mhd]$", "a number of minutes, hours or days, such as 90m, 24h or 30d")
]
"""A budget period: minutes, hours or days, such as `30d`."""

Quantity = Annotated[str, matching(r"^[1-9][0-9]{0,8}(Mi|Gi|Ti)$", "a quantity of bytes in Mi, Gi or Ti, such as 10Gi")]
"""A Kubernetes storage or memory quantity in Mi, Gi or Ti."""


def quantity_bytes(quantity: str) -> int:
    """Return the bytes of a quantity of the claim, such as `80Gi`."""
    return int(quantity[:-2]) * {"Mi": 1024**2, "Gi": 1024**3, "Ti": 1024**4}[quantity[-2:]]


PositiveInt = Annotated[int, Field(gt=0, le=10**12)]
"""An integer above zero and not above 10¹²."""
