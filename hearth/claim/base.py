"""What every shape of the claim has in common: frozen, strict, camelCase, unknown fields refused."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel


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


Identifier = Annotated[str, StringConstraints(pattern=r"^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$")]
"""A name that becomes part of Kubernetes names: a lower-case RFC 1123 label of 1 to 40 characters that begins with a letter."""

OneLine = Annotated[
    str,
    StringConstraints(
        min_length=1, max_length=512, pattern=r"^[^\s\x00-\x1f\x7f]([^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f])?$"
    ),
]
"""One printable line of 1 to 512 characters without spaces at its ends (S3-18)."""

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
"""A SHA-256 digest as 64 lower-case hexadecimal digits."""

CredentialReference = Annotated[
    str,
    StringConstraints(pattern=r"^credential://[a-z]([a-z0-9-]{0,38}[a-z0-9])?/[a-z]([a-z0-9-]{0,38}[a-z0-9])?$"),
]
"""Where a secret is found, never the secret: `credential://<scope>/<name>` (S4-53)."""

Decimal = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,9}(\.[0-9]{1,6})?$")]
"""A non-negative amount as a decimal string, so that no digit is lost to floating point."""

Duration = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,3}[mhd]$")]
"""A budget period: minutes, hours or days, such as `30d`."""

Quantity = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,8}(Mi|Gi|Ti)$")]
"""A Kubernetes storage or memory quantity in Mi, Gi or Ti."""

PositiveInt = Annotated[int, Field(gt=0)]
"""An integer above zero."""
