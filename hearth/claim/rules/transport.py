"""How endpoints are reached: address, profile, zone, trust and credential (S4-7 … S4-53, U-14).

Endpoints whose runtime is a Pod have one permitted transport, which `runtimes.in_a_pod` holds them to.
"""

import re
from collections.abc import Iterator
from typing import Final

from hearth.claim.addresses import IPAddress, admits, classify, name_matches, parse_host
from hearth.claim.draft import Draft, Finding
from hearth.claim.endpoints import Endpoint
from hearth.claim.names import IN_CLUSTER
from hearth.claim.network import NetworkZone
from hearth.claim.problems import listed
from hearth.claim.reader import Path as Place
from hearth.claim.rules.public import base_url
from hearth.claim.urls import BaseUrl, parse_base_url

ALLOWED_HEADERS: Final = frozenset(
    {
        "accept-language",
        "http-referer",
        "openai-beta",
        "openai-organization",
        "openai-project",
        "user-agent",
        "x-client-name",
        "x-title",
    }
)
"""Extra request headers that an endpoint may have, in lower case (S4-52)."""

_HEADER_VALUE = re.compile(r"[A-Za-z0-9 ._~:/,;=+()@-]{1,256}\Z")
_CREDENTIAL = re.compile(
    r"(?i)\b(bearer|basic|token)\s|\b(sk|pk|ghp|gho|hf|xox[a-z]|glpat|akia)[-_]|eyJ|password|secret|api[-_]?key"
    r"|[A-Za-z0-9+/_=-]{40,}"
)


def _own(draft: Draft) -> Iterator[tuple[str, Endpoint]]:
    """Yield the endpoints that are not Pods of Hearth."""
    for name, endpoint in draft.claim.endpoints.items():
        if endpoint.runtime is None or endpoint.runtime.placement != "pod":
            yield name, endpoint


def _private(draft: Draft) -> Iterator[tuple[str, Endpoint]]:
    for name, endpoint in _own(draft):
        if endpoint.network_profile.mode != "public_tls":
            yield name, endpoint


def _public(draft: Draft) -> Iterator[tuple[str, Endpoint]]:
    for name, endpoint in _own(draft):
        if endpoint.network_profile.mode == "public_tls":
            yield name, endpoint


def private_address(draft: Draft) -> Iterator[Finding]:
    """S4-29, S4-30, S4-45: a well-formed address whose scheme is the profile's."""
    for name, endpoint in _private(draft):
        place: Place = ("endpoints", name, "baseUrl")
        wanted = "https" if endpoint.network_profile.mode == "private_tls" else "http"
        try:
            url = parse_base_url(endpoint.base_url)
        except ValueError as error:
            yield Finding(place, f"{error}", f"Write {wanted}://<host>:<port>/<path>")
            continue
        if url.scheme != wanted:
            yield Finding(
                place,
                f"has a scheme that {endpoint.network_profile.mode} does not permit",
                f"Use {wanted}, or another networkProfile.mode",
            )


def public_profile(draft: Draft) -> Iterator[Finding]:
    """S4-8, U-14: a public endpoint names no zone and no trust bundle, and nothing of Hearth stands in front of it."""
    for name, endpoint in _public(draft):
        place: Place = ("endpoints", name)
        profile = endpoint.network_profile
        if profile.network_zone_id is not None:
            yield Finding(
                (*place, "networkProfile", "networkZoneId"),
                "is not permitted with public_tls",
                "Remove it, or use private_tls",
            )
        if profile.tls is not None:
            yield Finding(
                (*place, "networkProfile", "tls"),
                "is not permitted with public_tls, which is verified with the public CAs",
                "Remove it, or use private_tls",
            )
        if profile.termination != "native":
            yield Finding((*place, "networkProfile", "termination"), "must be native with public_tls", "Remove it")
        if endpoint.runtime is not None:
            yield Finding(
                (*place, "runtime"), "is not permitted with public_tls", "Use private_tls for a runtime of your own"
            )


def private_profile(draft: Draft) -> Iterator[Finding]:
    """S4-26, S4-42, U-14: a private endpoint names a zone and its capacity, and TLS names whom to trust."""
    for name, endpoint in _private(draft):
        place: Place = ("endpoints", name)
        profile = endpoint.network_profile
        if profile.network_zone_id is None:
            yield Finding(
                (*place, "networkProfile", "networkZoneId"),
                "is missing, and a private endpoint needs a zone",
                f"Name one of: {listed(draft.declared('networkZones'))}",
            )
        if profile.mode == "private_tls" and profile.tls is None:
            yield Finding(
                (*place, "networkProfile", "tls"),
                "is missing, so that nothing could verify the endpoint's certificate",
                f"Name a trust bundle, one of: {listed(draft.declared('trustBundles'))}",
            )


def capacity_is_stated(draft: Draft) -> Iterator[Finding]:
    """S4-113, U-14: private endpoints state their capacity."""
    for name, endpoint in draft.claim.endpoints.items():
        private = endpoint.network_profile.mode != "public_tls" or endpoint.runtime is not None
        if private and endpoint.runtime_capacity is None:
            yield Finding(
                ("endpoints", name, "runtimeCapacity"),
                "is missing, and a private endpoint needs it",
                "State physicalRuntimeId, capacityDomainId, maxParallelRequests and maxQueuedRequests",
            )


def plaintext(draft: Draft) -> Iterator[Finding]:
    """S4-10 … S4-12, S4-45, S4-50: plaintext is accepted in words, permitted by policy, and carries no credential."""
    policy = draft.claim.policy.plaintext
    for name, endpoint in _own(draft):
        place: Place = ("endpoints", name)
        profile = endpoint.network_profile
        if profile.mode != "private_plaintext":
            if profile.accept_plaintext_risk:
                yield Finding(
                    (*place, "networkProfile", "acceptPlaintextRisk"),
                    f"has no meaning with {profile.mode}",
                    "Remove it",
                )
            continue
        if endpoint.endpoint_auth.mode != "none":
            yield Finding(
                (*place, "endpointAuth", "mode"),
                "would send a credential unencrypted",
                "Use none with private_plaintext, or private_tls",
            )
        if profile.tls is not None:
            yield Finding(
                (*place, "networkProfile", "tls"),
                "has no meaning with private_plaintext",
                "Remove it, or use private_tls",
            )
        if profile.termination != "native":
            yield Finding(
                (*place, "networkProfile", "termination"),
                "has no meaning with private_plaintext",
                "Remove it, or use private_tls",
            )
        if not profile.accept_plaintext_risk:
            yield Finding(
                (*place, "networkProfile", "acceptPlaintextRisk"),
                "must be true: prompts, knowledge, vectors and answers would cross the network unencrypted",
                "Set it if you accept that, or use private_tls",
            )
        zone = draft.claim.network_zones.get(profile.network_zone_id or "")
        if not draft.valid("policy", "plaintext"):
            continue
        if policy == "forbid":
            yield Finding(
                (*place, "networkProfile", "mode"),
                "is forbidden by hearth:policy.plaintext",
                "Use private_tls, or have the policy changed",
            )
        elif policy == "overlay" and zone is not None and not zone.encrypted_overlay:
            yield Finding(
                (*place, "networkProfile", "networkZoneId"),
                "is not an encrypted overlay, and hearth:policy.plaintext permits plaintext in overlays alone",
                "Use private_tls, or a zone with encryptedOverlay",
            )


def zone_membership(draft: Draft) -> Iterator[Finding]:
    """S4-25, S4-26, S4-32, S4-44: the zone is declared, permits the profile, and contains host and port."""
    for name, endpoint in _private(draft):
        profile = endpoint.network_profile
        zone_id = profile.network_zone_id
        if zone_id is None:
            continue
        place: Place = ("endpoints", name, "networkProfile", "networkZoneId")
        if zone_id == IN_CLUSTER:
            yield Finding(
                place,
                "is the built-in zone, which is for runtimes in Pods of Hearth alone",
                "Declare a zone for this endpoint",
            )
            continue
        zone = draft.claim.network_zones.get(zone_id)
        if zone is None:
            if zone_id not in draft.declared("networkZones") and draft.whole("networkZones"):
                yield Finding(place, "names no zone", f"Declared: {listed(draft.declared('networkZones'))}")
            continue
        permitted = zone.allow_private_tls if profile.mode == "private_tls" else zone.allow_private_plaintext
        if not permitted:
            yield Finding(
                place,
                f"names a zone that does not permit {profile.mode}",
                "Use another mode or zone; zones belong to the platform's administrators",
            )
        url = base_url(endpoint.base_url)
        if url is not None:
            yield from _inside_zone(("endpoints", name, "baseUrl"), url, zone, zone_id)


def _inside_zone(place: Place, url: BaseUrl, zone: NetworkZone, zone_id: str) -> Iterator[Finding]:
    if isinstance(url.host, str):
        if not any(name_matches(url.host, pattern) for pattern in zone.dns_names):
            yield Finding(place, f"has a host that the zone {zone_id} does not name", "Add it to the zone's dnsNames")
    else:
        yield from _address_in_zone(place, url.host, zone, zone_id)
    if url.port not in zone.ports:
        yield Finding(place, f"has a port that the zone {zone_id} does not list", "Add it to the zone's ports")


def _address_in_zone(place: Place, address: IPAddress, zone: NetworkZone, zone_id: str) -> Iterator[Finding]:
    verdict = classify(address)
    if verdict.scope != "private":
        yield Finding(
            place,
            f"has an address that no zone can permit: it is {verdict.reason}",
            "Use an address of a private range",
        )
    elif not admits(zone.cidrs, address):
        yield Finding(place, f"has an address outside the zone {zone_id}", "Add its range to the zone's cidrs")


def declared_address(draft: Draft) -> Iterator[Finding]:
    """S4-25, S4-26, S4-44: an address that is connected to unresolved is one, is in the zone, and is one name's."""
    by_host: dict[str, tuple[str, str | None]] = {}
    by_address: dict[str, tuple[str, str]] = {}
    for name, endpoint in draft.claim.endpoints.items():
        place: Place = ("endpoints", name, "networkProfile", "address")
        text, url, runtime = endpoint.network_profile.address, base_url(endpoint.base_url), endpoint.runtime
        if url is None or not isinstance(url.host, str) or endpoint.network_profile.mode == "public_tls":
            if text is not None and url is not None:
                yield Finding(place, "is for a private endpoint whose baseUrl has a name", "Remove it")
            continue
        if runtime is not None and runtime.placement == "pod":
            if text is not None:
                yield Finding(place, "has no meaning when the runtime is a Pod", "Remove it")
            continue
        other, its_address = by_host.setdefault(url.host, (name, text))
        if its_address != text:
            yield Finding(
                place, f"differs from that of the endpoint {other}, which has the same host", "Write one in both"
            )
        if text is None:
            continue
        yield from _well_formed_in_zone(draft, place, text, endpoint.network_profile.network_zone_id)
        if runtime is not None:
            first, its_host = by_address.setdefault(text, (name, url.host))
            if its_host != url.host:
                yield Finding(
                    place,
                    f"is that of the endpoint {first}, which has another host in its baseUrl",
                    "Call one machine by one name",
                )


def _well_formed_in_zone(draft: Draft, place: Place, text: str, zone_id: str | None) -> Iterator[Finding]:
    try:
        address = parse_host(f"[{text}]" if ":" in text else text)
    except ValueError as error:
        yield Finding(place, f"is one that {error}", "Write an address such as 192.168.1.20")
        return
    if isinstance(address, str):
        yield Finding(place, "is a name", "Write an address such as 192.168.1.20")
    elif zone_id is not None and (zone := draft.claim.network_zones.get(zone_id)) is not None:
        yield from _address_in_zone(place, address, zone, zone_id)


def trust(draft: Draft) -> Iterator[Finding]:
    """S4-54, S4-57: the trust bundle is declared; the built-in one is for Pods of Hearth alone."""
    for name, endpoint in _private(draft):
        tls = endpoint.network_profile.tls
        if tls is None or endpoint.network_profile.mode != "private_tls":
            continue
        place: Place = ("endpoints", name, "networkProfile", "tls", "trustBundle")
        if tls.trust_bundle == IN_CLUSTER:
            yield Finding(
                place, "is the CA of Hearth's own Pods, which no other endpoint has", "Name the CA of this endpoint"
            )
        elif tls.trust_bundle not in draft.declared("trustBundles") and draft.whole("trustBundles"):
            yield Finding(place, "names no trust bundle", f"Declared: {listed(draft.declared('trustBundles'))}")


def headers(draft: Draft) -> Iterator[Finding]:
    """S4-51, S4-52: extra headers come from a list, and none looks like a credential."""
    for name, endpoint in draft.claim.endpoints.items():
        seen: set[str] = set()
        for header, value in endpoint.headers.items():
            place: Place = ("endpoints", name, "headers", header)
            if header.lower() not in ALLOWED_HEADERS:
                yield Finding(
                    ("endpoints", name, "headers"),
                    "has a header that is not on the list",
                    f"Permitted: {', '.join(sorted(ALLOWED_HEADERS))}; credentials belong to endpointAuth",
                )
            elif header.lower() in seen:
                yield Finding(
                    ("endpoints", name, "headers"), f"has {header.lower()} in two spellings", "Keep one of the two"
                )
            elif _CREDENTIAL.search(value):
                yield Finding(place, "looks like a credential", "Use endpointAuth with a credentialRef")
            elif not _HEADER_VALUE.match(value) or value != value.strip():
                yield Finding(
                    place,
                    "has characters that are not permitted in a header",
                    "Use 1 to 256 letters, digits, spaces and . _ ~ : / , ; = + ( ) @ -",
                )
            seen.add(header.lower())


def connection(draft: Draft) -> Iterator[Finding]:
    """S4-38, U-14: connection reuse is bounded in words, and refreshed no earlier than it may idle out."""
    for name, endpoint in draft.claim.endpoints.items():
        profile, bounds = endpoint.network_profile, endpoint.network_profile.connection
        pod = endpoint.runtime is not None and endpoint.runtime.placement == "pod"
        if profile.mode != "public_tls" and not pod and "connection" not in profile.model_fields_set:
            yield Finding(
                ("endpoints", name, "networkProfile", "connection"),
                "is missing, and a private endpoint needs it",
                "State poolIdleTimeoutMs and clientRefreshIntervalMs, such as 30000 and 300000",
            )
        if bounds.client_refresh_interval_ms < bounds.pool_idle_timeout_ms:
            yield Finding(
                ("endpoints", name, "networkProfile", "connection", "clientRefreshIntervalMs"),
                "is below poolIdleTimeoutMs",
                "Make it at least as long",
            )


RULES: Final = (
    private_address,
    public_profile,
    private_profile,
    capacity_is_stated,
    plaintext,
    zone_membership,
    declared_address,
    trust,
    headers,
    connection,
)
