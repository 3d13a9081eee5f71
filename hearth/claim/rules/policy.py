"""What the policy of an environment needs beside it (S4-98, S4-102)."""

from collections.abc import Iterator
from typing import Final

from hearth.claim.draft import Draft, Finding


def trust_store(draft: Draft) -> Iterator[Finding]:
    """S4-102: evidence is verified with a trust store, so one is named and there."""
    policy = draft.claim.policy
    if not draft.valid("policy", "trustStore") or not draft.valid("policy", "evidence"):
        return
    private = [name for name, item in draft.claim.endpoints.items() if item.network_profile.mode != "public_tls"]
    if policy.trust_store is None:
        if policy.evidence != "off" and private:
            yield Finding(
                ("policy", "trustStore"),
                f"is missing, and the evidence of the endpoint {private[0]} is verified with it",
                'Name the file of the runners\' public keys, or set evidence to "off"',
            )
    elif not (draft.base / policy.trust_store).is_file():
        yield Finding(
            ("policy", "trustStore"),
            "names no file of the project's folder",
            "Get it from those who own it, or correct the path",
        )


RULES: Final = (trust_store,)
