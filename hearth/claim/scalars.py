"""Which plain YAML scalars every program reads alike.

One file is read by Hearth, by Pulumi and, once it is rendered, by kubectl. They follow different versions of YAML: what
is a text for one is a number, a date or a truth for another.
"""

import re
from typing import Final

INTEGER: Final = re.compile(r"[-+]?(0|[1-9][0-9]*)\Z")
"""A whole number that every program reads as one."""
NUMBER_OR_DATE: Final = re.compile(
    r"""(
        [-+]?[0-9][0-9_]*(\.[0-9_]*)?([eE][-+]?[0-9]+)?   # a fraction, an exponent, leading zeros, underscores
      | [-+]?\.[0-9][0-9_]*([eE][-+]?[0-9]+)?             # .5
      | [-+]?0(x[0-9A-Fa-f_]+ | o[0-7_]+ | b[01_]+)       # other bases
      | [-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?      # base 60
      | [-+]?\.(inf|Inf|INF) | \.(nan|NaN|NAN)
      | [0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt\ \t].*)?       # a date
    )\Z""",
    re.VERBOSE,
)
"""What some programs read as a number or a date, not always as the same one."""
CONSTANTS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
"""What every program reads as a truth or as nothing."""
TRUTHS: Final = frozenset(
    spelled for word in ("y", "n", "yes", "no", "on", "off") for spelled in (word, word.capitalize(), word.upper())
)
"""What YAML 1.1 reads as a truth and YAML 1.2 as a text."""


def is_text(plain: str) -> bool:
    """Return whether every program reads a scalar without quotes as this very text."""
    return not (
        plain in CONSTANTS
        or plain in TRUTHS
        or plain in ("=", "<<")
        or INTEGER.match(plain)
        or NUMBER_OR_DATE.match(plain)
    )
