"""The one place where Hearth writes YAML: every text is read as that text by every program.

Manifests are read by kubectl, configurations by Python. Where their versions of YAML differ (`y`, `1e3`,
`0o7`, a line separator), a text is in quotes.
"""

import re
from typing import Any, Final

import yaml

from hearth.claim.scalars import is_text

_WIDTH: Final = 120
# Line ends of YAML 1.1 that are none in YAML 1.2, the mark of the byte order, and what no reader takes as it is.
_ESCAPED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")


class _Dumper(yaml.SafeDumper):
    """Writes text of several lines as it is, so that a change of one line is one line of a review."""

    def ignore_aliases(self, _: Any) -> bool:
        """Write everything where it stands; what is written here has no `&` and `*`."""
        return True


def _style(value: str) -> str | None:
    if _ESCAPED.search(value):
        return '"'
    if "\n" in value:
        return "|"
    return None if is_text(value) else '"'


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=_style(value))


_Dumper.add_representer(str, _text)


def yaml_text(content: Any, *, sort_keys: bool = False) -> str:
    """Return the YAML of plain values: mappings with texts as keys, lists, texts, numbers, truths and nothing.

    Equal content in equal order has one text.

    Args:
        content: what is written.
        sort_keys: whether keys are sorted, so that equal content in any order has one text.
    """
    return yaml.dump(
        content, Dumper=_Dumper, sort_keys=sort_keys, allow_unicode=True, default_flow_style=False, width=_WIDTH
    )
