"""What the operator should know although the claim is right."""

from collections.abc import Iterator

from hearth.claim.draft import Draft
from hearth.claim.problems import Notice, listed
from hearth.claim.rules.public import base_url, new_names, public_urls
from hearth.claim.translate import render_path


def notices(draft: Draft) -> Iterator[Notice]:
    """Yield the notices of a claim that was accepted."""
    claim = draft.claim
    if not claim.llm.enabled:
        yield Notice("hearth:llm.enabled", "is false, so that no gateway is made and no model is offered (S3-2)")
    yield from _plaintext(draft)
    yield from _vendors(draft)
    if claim.policy.evidence == "off" and claim.endpoints:
        yield Notice(
            "hearth:policy.evidence",
            'is "off", so that private endpoints carry traffic without a signed measurement of them (S4-98)',
        )
    if claim.policy.egress == "none":
        yield Notice("hearth:policy.egress", "is none, so that no NetworkPolicy closes the gateway's egress (C-1)")
    if claim.llm.instances and not claim.llm.gpu_acceleration:
        yield Notice("hearth:llm.instances", "are not read while gpuAcceleration is false (S3-83)")
    used = {member for alias in claim.aliases.values() for member in alias.deployments}
    for name in sorted(claim.deployments.keys() - used):
        yield Notice(f"hearth:deployments.{name}", "is behind no alias, so that no client can ask for it")


def _plaintext(draft: Draft) -> Iterator[Notice]:
    for name, endpoint in sorted(draft.claim.endpoints.items()):
        if endpoint.network_profile.mode == "private_plaintext":
            yield Notice(
                f"hearth:endpoints.{name}",
                "is reached in plaintext: prompts, knowledge, vectors and answers are not encrypted on the way (S4-11)",
            )


def _vendors(draft: Draft) -> Iterator[Notice]:
    claim = draft.claim
    names = [provider.name for provider in claim.llm.providers]
    names += [name for name, item in claim.endpoints.items() if item.network_profile.mode == "public_tls"]
    if names:
        yield Notice(
            "hearth:policy.vendor",
            f"permits that prompts and answers leave this organisation and reach a vendor: {listed(names)} (S1-7)",
        )
    before = {item.name: base_url(item.api_base) for item in draft.deployed.llm.providers} if draft.deployed else {}
    for place, text in public_urls(draft):
        if place[:2] != ("llm", "providers") or not isinstance(place[2], int):
            continue
        name = claim.llm.providers[place[2]].name
        if name in before and before[name] != base_url(text):
            yield Notice(
                render_path(place),
                f"is another address than the deployed one, and the token of {name} goes there from now on (S3-29)",
            )
    if draft.resolver is None and (new := {host for _, host in new_names(draft)}):
        yield Notice(
            "hearth:llm.providers" if claim.llm.providers else "hearth:endpoints",
            f"{len(new)} public host{'s were' if len(new) > 1 else ' was'} not looked up, so nothing checked that only "
            "public addresses answer; hearth check --resolve and pulumi preview do (S3-24)",
        )
