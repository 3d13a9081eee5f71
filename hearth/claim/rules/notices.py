"""What the operator should know although the claim is right."""

from collections.abc import Iterator

from hearth.claim.draft import Draft
from hearth.claim.problems import Notice, listed
from hearth.claim.rules.public import base_url, new_names, public_urls, vendors
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
    names = [name for _, name in vendors(draft)]
    if names:
        yield Notice(
            "hearth:policy.vendor",
            f"permits that prompts and answers leave this organisation and reach a vendor: {listed(names)} (S1-7)",
        )
    yield from _free_and_unnamed(draft)
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


def _free_and_unnamed(draft: Draft) -> Iterator[Notice]:
    """S1-5, S3-57: what a vendor answers without a budget, and what nobody may ask for."""
    claim = draft.claim
    for name, endpoint in sorted(claim.endpoints.items()):
        if endpoint.network_profile.mode == "public_tls" and not endpoint.is_vendor:
            yield Notice(f"hearth:endpoints.{name}.posture", "says that a public address is this house's own (S1-5)")
    named = {model for tenant in claim.tenants.values() for model in tenant.models or ()}
    free, unnamed = [], []
    for provider in claim.llm.providers:
        free += [f"{provider.name}/{model.name}" for model in provider.models if model.pricing is not None]
        unnamed += [found for model in provider.models if (found := f"{provider.name}/{model.name}") not in named]
    for name, alias in claim.aliases.items():
        members = [claim.deployments[member] for member in alias.deployments]
        reached = [member for member in members if claim.endpoints[member.endpoint].is_vendor]
        free += [name] if any(member.pricing.basis == "zero_marginal" for member in reached) else []
        unnamed += [name] if reached and name not in named else []
    if free:
        yield Notice("hearth:policy.vendor", f"has models of no price, which no budget stops: {listed(free)} (S3-57)")
    if unnamed and claim.tenants:
        yield Notice(
            "hearth:tenants",
            f"name none of these, so that no key may use them, because a vendor answers: {listed(unnamed)} (S1-5)",
        )
