"""What the claim says about evidence (S4-86, S4-98)."""

from collections.abc import Iterator
from typing import Final

from hearth.claim.draft import Draft, Finding

LOCAL: Final = "local"
"""The one environment that may do without evidence and give no reason: that of a developer's own machine."""


def waiver(draft: Draft) -> Iterator[Finding]:
    """S4-98: outside the environment `local`, `off` and `warn` need a waiver with a reason and an end."""
    policy = draft.claim.policy
    known = (("policy", "evidence"), ("policy", "evidenceWaiver"), ("environment",))
    if not all(draft.valid(*path) for path in known):
        return
    if policy.evidence == "enforce":
        return
    if policy.evidence_waiver is not None:
        yield Finding(
            ("policy", "evidenceWaiver"),
            f'says for how long not to enforce, and evidence is "{policy.evidence}" without an end',
            "Write evidence: enforce beside it, which holds when the waiver has ended",
        )
    elif draft.claim.environment != LOCAL:
        yield Finding(
            ("policy", "evidence"),
            f'is "{policy.evidence}", which outside the environment {LOCAL} needs a reason and an end',
            "Write enforce, and evidenceWaiver: {mode, reason, until} beside it if routes must not wait for evidence",
        )


def foreign_sidecar(draft: Draft) -> Iterator[Finding]:
    """S4-86: digest and runtime port are declared of a sidecar that somebody else runs, and of no other."""
    for name, endpoint in draft.claim.endpoints.items():
        if endpoint.sidecar is None or endpoint.runtime is None:
            continue
        for field, value in (
            ("configSha256", endpoint.sidecar.config_sha256),
            ("runtimePort", endpoint.sidecar.runtime_port),
        ):
            if value is not None:
                yield Finding(
                    ("endpoints", name, "sidecar", field),
                    "is declared of a sidecar that Hearth runs itself",
                    "Remove it, or remove runtime if somebody else runs both",
                )


RULES: Final = (waiver, foreign_sidecar)
