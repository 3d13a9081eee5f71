"""LiteLLM's configuration: the one place where models come from (S3-6, S3-7)."""

from collections.abc import Mapping
from typing import Any

from hearth.claim.claim import Claim


def compile_litellm(claim: Claim, *, withheld: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the content of config.yaml.

    Args:
        claim: a claim that passed the rules.
        withheld: reasons by endpoint id; the deployments of these endpoints are left out (C-18).
    """
    raise NotImplementedError
