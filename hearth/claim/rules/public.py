"""What is reached over the public internet: providers and `public_tls` endpoints (S3-20 … S3-30, S4-8, S4-41)."""

from collections.abc import Iterator
from typing import Final

from hearth.claim.addresses import classify, internal_name
from hearth.claim.claim import Claim
from hearth.claim.draft import Draft, Finding
from hearth.claim.names import api_key_property
from hearth.claim.reader import Path as Place
from hearth.claim.urls import BaseUrl, parse_base_url

PUBLIC_PORT: Final = 443
"""The only TCP port of public addresses (S3-23)."""


def base_url(text: str) -> BaseUrl | None:
    """Return a base URL taken apart, or `None` when it is not well-formed, which a rule of its own reports."""
    try:
        return parse_base_url(text)
    except ValueError:
        return None


def public_urls(draft: Draft) -> Iterator[tuple[Place, str]]:
    """Yield every address that is reached over the internet, with the place that declares it."""
    for position, provider in zip(draft.positions["providers"], draft.claim.llm.providers, strict=True):
        yield ("llm", "providers", position, "apiBase"), provider.api_base
    for name, endpoint in draft.claim.endpoints.items():
        if endpoint.network_profile.mode == "public_tls" and endpoint.runtime is None:
            yield ("endpoints", name, "baseUrl"), endpoint.base_url


def public_hosts(claim: Claim) -> frozenset[str]:
    """Return the hosts of a claim that are reached over the internet."""
    texts = [provider.api_base for provider in claim.llm.providers]
    texts += [item.base_url for item in claim.endpoints.values() if item.network_profile.mode == "public_tls"]
    return frozenset(str(url.host) for text in texts if (url := base_url(text)) is not None)


def new_names(draft: Draft) -> Iterator[tuple[Place, str]]:
    """Yield the public DNS names that are new since the claim that was deployed last (S3-24, S3-25)."""
    known = public_hosts(draft.deployed) if draft.deployed else frozenset()
    for place, text in public_urls(draft):
        url = base_url(text)
        if url is not None and isinstance(url.host, str) and internal_name(url.host) is None and url.host not in known:
            yield place, url.host


def public_address(draft: Draft) -> Iterator[Finding]:
    """S3-23, S4-29, S4-30, S4-32, S4-41: https, port 443, a public host, nothing else."""
    for place, text in public_urls(draft):
        try:
            url = parse_base_url(text)
        except ValueError as error:
            yield Finding(place, f"{error}", "Write https://<public host>/<path>")
            continue
        if url.scheme != "https":
            yield Finding(place, "is plain HTTP to a public address, which is never accepted", "Use https")
        elif url.port != PUBLIC_PORT:
            yield Finding(place, "has a port other than 443", "Use the vendor's https address on port 443")
        if isinstance(url.host, str):
            reason = internal_name(url.host)
            if reason is None and f".{url.host}".endswith(f".{draft.claim.policy.cluster.domain}"):
                reason = "ends with the domain of the cluster"
            if reason is not None:
                yield Finding(
                    place,
                    f"has a host that {reason}, so it is not public",
                    "Declare a private address as an endpoint with a network zone",
                )
        elif classify(url.host).scope != "public":
            yield Finding(
                place,
                f"has an address that is not public: it is {classify(url.host).reason}",
                "Declare a private address as an endpoint with a network zone",
            )


def resolves_to_public(draft: Draft) -> Iterator[Finding]:
    """S3-24: a host that is new is resolved, and refused unless every address is public."""
    if draft.resolver is None:
        return
    answers: dict[str, str | None] = {}
    for place, host in new_names(draft):
        if host not in answers:
            answers[host] = _resolution_problem(draft, host)
        message = answers[host]
        if message is not None:
            yield Finding(place, message, "Check the host, and who answers for its DNS")


def _resolution_problem(draft: Draft, host: str) -> str | None:
    """Return what is wrong with the addresses of a host, or `None`."""
    if draft.resolver is None:
        return None
    try:
        addresses = draft.resolver(host)
    except OSError:
        return "has a host that does not resolve"
    if not addresses:
        return "has a host that does not resolve"
    verdicts = [classify(address) for address in addresses]
    refused = [verdict.reason for verdict in verdicts if verdict.scope != "public"]
    return f"has a host with an address that is not public: it is {refused[0]}" if refused else None


def own_token_property(draft: Draft) -> Iterator[Finding]:
    """S3-27: a provider names its own token's property, so no token can go to another provider's address."""
    for position, provider in zip(draft.positions["providers"], draft.claim.llm.providers, strict=True):
        wanted = api_key_property(provider.name)
        if provider.api_key_property != wanted:
            yield Finding(
                ("llm", "providers", position, "apiKeyProperty"),
                "is not this provider's own token property",
                f"Write {wanted}",
            )


def vendors(draft: Draft) -> Iterator[tuple[Place, str]]:
    """Yield every vendor with the place that declares it: providers, and endpoints whose posture is `vendor`."""
    for position, provider in zip(draft.positions["providers"], draft.claim.llm.providers, strict=True):
        yield ("llm", "providers", position), provider.name
    for name, endpoint in draft.claim.endpoints.items():
        if endpoint.is_vendor:
            yield ("endpoints", name), name


def vendor_opt_in(draft: Draft) -> Iterator[Finding]:
    """S1-5, S1-6: nothing reaches a vendor unless the environment says so, names it, and says who accepted it."""
    if not draft.valid("policy", "vendor"):
        return
    vendor, place = draft.claim.policy.vendor, ("policy", "vendor")
    if vendor.opt_in and vendor.acknowledgement is None:
        yield Finding(
            (*place, "acknowledgement"),
            "is missing, and optIn needs it",
            "Say in one line whose prompts reach which vendor",
        )
    if not vendor.opt_in:
        if vendor.allow:
            yield Finding((*place, "allow"), "has no meaning without optIn", "Set optIn, or remove it")
        for found, _ in vendors(draft):
            yield Finding(
                found,
                "sends prompts to a vendor, and this environment has not opted in",
                "Set hearth:policy.vendor.optIn with an acknowledgement, or remove it",
            )
        return
    for found, name in vendors(draft):
        if name not in vendor.allow:
            yield Finding(found, "is a vendor that hearth:policy.vendor.allow does not name", "Add its name")


def posture(draft: Draft) -> Iterator[Finding]:
    """S1-5: what Hearth runs is this house's own."""
    for name, endpoint in draft.claim.endpoints.items():
        if endpoint.runtime is not None and endpoint.posture == "vendor":
            yield Finding(
                ("endpoints", name, "posture"), "is vendor, and Hearth runs its model server", "Remove one of the two"
            )


def prices(draft: Draft) -> Iterator[Finding]:
    """S3-57, S4-122: every model of a provider has its price, because no budget stops a model without one."""
    for position, provider in zip(draft.positions["providers"], draft.claim.llm.providers, strict=True):
        for index, model in enumerate(provider.models):
            place: Place = ("llm", "providers", position, "models", index)
            given = {
                "inputMicrosPerMillionTokens": model.input_micros_per_million_tokens,
                "outputMicrosPerMillionTokens": model.output_micros_per_million_tokens,
            }
            if model.pricing is not None:
                for field, price in given.items():
                    if price:
                        yield Finding(
                            (*place, field), "is a price, and pricing is zero_marginal", "Remove one of the two"
                        )
                continue
            needed = [field for field in given if model.mode != "embedding" or field.startswith("input")]
            missing = [field for field in needed if given[field] is None]
            for field in missing:
                yield Finding(
                    (*place, field),
                    "is missing, and no budget stops a model without a price",
                    "Write the vendor's price, or pricing: zero_marginal",
                )
            if not missing and not any(given.values()):
                yield Finding(
                    place,
                    "has prices of zero, and no budget stops it",
                    "Write the vendor's price, or pricing: zero_marginal",
                )


RULES: Final = (public_address, resolves_to_public, own_token_property, vendor_opt_in, posture, prices)
