"""What an instance may set of vLLM's own flags.

It is a list of what is let through, not of what is kept out: a flag of the next version is not in it. None of these
names a file, an address, a module, another model or a template, opens a route or writes down what is asked.
A test holds every flag that Hearth uses to those of the pinned vLLM.
"""

from collections.abc import Mapping
from typing import Final, Literal

OptionKind = Literal["switch", "number", "word"]
"""What a flag takes: nothing (`true`, or `false` for `--no-…`), a whole number, or a word."""

OPTIONS: Final[Mapping[str, OptionKind]] = {
    "async-scheduling": "switch",
    "attention-backend": "word",
    "block-size": "number",
    "disable-custom-all-reduce": "switch",
    "dtype": "word",
    "enable-chunked-prefill": "switch",
    "enable-expert-parallel": "switch",
    "enable-prefix-caching": "switch",
    "enforce-eager": "switch",
    "language-model-only": "switch",
    "long-prefill-token-threshold": "number",
    "max-logprobs": "number",
    "max-num-batched-tokens": "number",
    "moe-backend": "word",
    "optimization-level": "number",
    "performance-mode": "word",
    "reasoning-parser": "word",
    "seed": "number",
    "tokenizer-mode": "word",
}
"""The flags, by name without `--`."""


def fits(kind: OptionKind, value: bool | int | str) -> bool:
    """Return whether a value is one that a flag of this kind takes."""
    if isinstance(value, bool):
        return kind == "switch"
    return kind == "number" if isinstance(value, int) else kind == "word"
