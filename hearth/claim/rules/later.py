"""What may be written down and has no machinery yet: declaring it is refused, never ignored (S4-158)."""

from collections.abc import Iterator
from typing import Final

from hearth.claim.draft import Draft, Finding
from hearth.claim.reader import Path as Place

_REMEDY: Final = "Remove it; a later version of Hearth will accept it"


def _unsupported(draft: Draft) -> Iterator[tuple[Place, str]]:
    claim = draft.claim
    for name in claim.private_instances:
        yield ("privateInstances", name), "is"
    for field in sorted(claim.mesh.model_fields_set - ({"enabled"} if not claim.mesh.enabled else set())):
        yield ("mesh", field), "is"
    if claim.llm.console.enabled:
        yield ("llm", "console", "enabled"), "is"
    for name, tenant in claim.tenants.items():
        if tenant.open_webui:
            yield ("tenants", name, "openWebui"), "is"
    if claim.policy.credentials != "kubernetesSecret":
        yield ("policy", "credentials"), "other than kubernetesSecret is"
    if claim.policy.plaintext == "loopback":
        yield ("policy", "plaintext"), "loopback is"
    for name, endpoint in claim.endpoints.items():
        runtime = endpoint.runtime
        if runtime is not None and runtime.engine == "vllm":
            yield ("endpoints", name, "runtime", "engine"), "vllm is"
        if runtime is not None and runtime.placement == "pod" and runtime.credential_ref is not None:
            yield ("endpoints", name, "runtime", "credentialRef"), "of a Pod, whose key Hearth makes, is"


def not_supported_yet(draft: Draft) -> Iterator[Finding]:
    """S4-158: a shape whose machinery comes later is refused when it is declared."""
    for place, what in _unsupported(draft):
        yield Finding(place, f"{what} not supported yet", _REMEDY)


RULES: Final = (not_supported_yet,)
