"""Wrong claims: transport of endpoints."""

from tests.unit.claim.case import Case
from tests.unit.claim.examples import ENDPOINTS, drop, put

_NUMBER = "is one that is a number but not an IPv4 address in its usual form. Write an address such as 192.168.1.20."
_NO_ZONE = "has an address that no zone can permit: it is {}. Use an address of a private range."
_NAMED = "is for a private endpoint whose baseUrl has a name. Remove it."
_IPV4 = "has an IPv6 address, and what Hearth installs on a host listens on IPv4 alone. Use an IPv4 address."
_ADDRESSES = (
    (
        "is outside the zone (S4-25)",
        "native",
        "10.42.8.9",
        "has an address outside the zone models. Add its range to the zone's cidrs.",
    ),
    ("is the metadata service (S4-13)", "native", "169.254.169.254", _NO_ZONE.format("the metadata service")),
    ("is loopback", "native", "127.0.0.1", _NO_ZONE.format("loopback")),
    ("is public", "native", "9.9.9.9", _NO_ZONE.format("public")),
    ("is link-local", "native", "fe80::1", _NO_ZONE.format("link-local")),
    ("is a name", "native", "a.models.corp.example", "is a name. Write an address such as 192.168.1.20."),
    ("is spelled otherwise", "native", "10.42.7", _NUMBER),
    ("stands beside another one", "plain", "192.168.1.21", _NAMED),
    ("is a vendor's", "vendor", "9.9.9.9", _NAMED),
    ("is a Pod's", "pod", "10.96.0.1", "has no meaning when the runtime is a Pod. Remove it."),
    ("no host of Hearth listens on", "host", "fd00:1::9", _IPV4),
)

TRANSPORT = (
    Case(
        "S4-29 public plain HTTP",
        [put("endpoints/vendor/baseUrl", "http://api.vendor.example/v1")],
        [("hearth:endpoints.vendor.baseUrl: is plain HTTP to a public address, which is never accepted. Use https.")],
    ),
    Case(
        "S4-29 private TLS over HTTP",
        [put("endpoints/native/baseUrl", "http://embed.models.corp.example:8443/v1")],
        [
            (
                "hearth:endpoints.native.baseUrl: has a scheme that private_tls does not permit. Use https, "
                "or another networkProfile.mode."
            )
        ],
    ),
    Case(
        "S4-45 plaintext over HTTPS",
        [put("endpoints/plain/baseUrl", "https://192.168.1.20:11434/v1")],
        [
            (
                "hearth:endpoints.plain.baseUrl: has a scheme that private_plaintext does not permit. Use "
                "http, or another networkProfile.mode."
            )
        ],
    ),
    Case(
        "S4-30 user and password",
        [put("endpoints/native/baseUrl", "https://u:planted@embed.models.corp.example:8443/v1")],
        [("hearth:endpoints.native.baseUrl: must not have a user or password. Write https://<host>:<port>/<path>.")],
    ),
    Case(
        "S4-32 a public endpoint on another port",
        [put("endpoints/vendor/baseUrl", "https://api.vendor.example:8443/v1")],
        [("hearth:endpoints.vendor.baseUrl: has a port other than 443. Use the vendor's https address on port 443.")],
    ),
    Case(
        "U-14 a public endpoint with a zone",
        [put("endpoints/vendor/networkProfile/networkZoneId", "lan")],
        [
            (
                "hearth:endpoints.vendor.networkProfile.networkZoneId: is not permitted with public_tls. "
                "Remove it, or use private_tls."
            )
        ],
    ),
    Case(
        "U-14 a public endpoint with a trust bundle",
        [put("endpoints/vendor/networkProfile/tls", {"trustBundle": "home-ca"})],
        [
            (
                "hearth:endpoints.vendor.networkProfile.tls: is not permitted with public_tls, which is "
                "verified with the public CAs. Remove it, or use private_tls."
            )
        ],
    ),
    Case(
        "a public endpoint with a sidecar",
        [put("endpoints/vendor/networkProfile/termination", "tls_sidecar"), put("endpoints/vendor/sidecar", {})],
        ["hearth:endpoints.vendor.networkProfile.termination: must be native with public_tls. Remove it."],
    ),
    Case(
        "a public endpoint with a runtime",
        [
            put("deployments/gpt/model", "gemma3:270m"),
            put("endpoints/vendor/runtime", ENDPOINTS["host"]["runtime"]),
            put(
                "endpoints/vendor/runtimeCapacity",
                dict(ENDPOINTS["host"]["runtimeCapacity"], physicalRuntimeId="v", capacityDomainId="v"),
            ),
            put("deployments/gpt/contextTokens", 100),
        ],
        [
            (
                "hearth:endpoints.vendor.runtime: is not permitted with public_tls. Use private_tls for a "
                "runtime of your own."
            )
        ],
    ),
    Case(
        "S4-26 a private endpoint without zone",
        [drop("endpoints/native/networkProfile/networkZoneId")],
        [
            (
                "hearth:endpoints.native.networkProfile.networkZoneId: is missing, and a private endpoint "
                "needs a zone. Name one of: lan, models."
            )
        ],
    ),
    Case(
        "S4-26 an unknown zone",
        [put("endpoints/native/networkProfile/networkZoneId", "planted")],
        ["hearth:endpoints.native.networkProfile.networkZoneId: names no zone. Declared: lan, models."],
    ),
    Case(
        "C-2 the built-in zone for a foreign endpoint",
        [put("endpoints/native/networkProfile/networkZoneId", "in-cluster")],
        [
            (
                "hearth:endpoints.native.networkProfile.networkZoneId: is the built-in zone, which is for "
                "runtimes in Pods of Hearth alone. Declare a zone for this endpoint."
            )
        ],
    ),
    Case(
        "S4-42 nothing to verify with",
        [drop("endpoints/native/networkProfile/tls")],
        [
            (
                "hearth:endpoints.native.networkProfile.tls: is missing, so that nothing could verify the "
                "endpoint's certificate. Name a trust bundle, one of: home-ca."
            )
        ],
    ),
    Case(
        "S4-54 an unknown trust bundle",
        [put("endpoints/native/networkProfile/tls/trustBundle", "planted")],
        ["hearth:endpoints.native.networkProfile.tls.trustBundle: names no trust bundle. Declared: home-ca."],
    ),
    Case(
        "C-2 the built-in bundle for a foreign endpoint",
        [put("endpoints/native/networkProfile/tls/trustBundle", "in-cluster")],
        [
            (
                "hearth:endpoints.native.networkProfile.tls.trustBundle: is the CA of Hearth's own Pods, "
                "which no other endpoint has. Name the CA of this endpoint."
            )
        ],
    ),
    Case(
        "S4-25 a host outside the zone",
        [put("endpoints/native/baseUrl", "https://other.corp.example:8443/v1")],
        [
            (
                "hearth:endpoints.native.baseUrl: has a host that the zone models does not name. Add it to "
                "the zone's dnsNames."
            )
        ],
    ),
    Case(
        "U-14 a wildcard is one label",
        [put("endpoints/native/baseUrl", "https://a.b.models.corp.example:8443/v1")],
        [
            (
                "hearth:endpoints.native.baseUrl: has a host that the zone models does not name. Add it to "
                "the zone's dnsNames."
            )
        ],
    ),
    Case(
        "U-14 a wildcard is not zero labels",
        [put("endpoints/native/baseUrl", "https://models.corp.example:8443/v1")],
        [
            (
                "hearth:endpoints.native.baseUrl: has a host that the zone models does not name. Add it to "
                "the zone's dnsNames."
            )
        ],
    ),
    Case(
        "S4-32 a port outside the zone",
        [put("endpoints/native/baseUrl", "https://embed.models.corp.example/v1")],
        [
            (
                "hearth:endpoints.native.baseUrl: has a port that the zone models does not list. Add it to "
                "the zone's ports."
            )
        ],
    ),
    Case(
        "S4-44 an address outside the zone",
        [put("endpoints/plain/baseUrl", "http://192.168.2.20:11434/v1")],
        [("hearth:endpoints.plain.baseUrl: has an address outside the zone lan. Add its range to the zone's cidrs.")],
    ),
    Case(
        "U-15 a public address in a zone",
        [put("endpoints/plain/baseUrl", "http://8.8.8.8:11434/v1")],
        [
            (
                "hearth:endpoints.plain.baseUrl: has an address that no zone can permit: it is public. Use an "
                "address of a private range."
            )
        ],
    ),
    Case(
        "U-15 loopback in a zone",
        [put("endpoints/plain/baseUrl", "http://127.0.0.1:11434/v1")],
        [
            (
                "hearth:endpoints.plain.baseUrl: has an address that no zone can permit: it is loopback. Use "
                "an address of a private range."
            )
        ],
    ),
    Case(
        "S4-21 a zone that forbids plaintext",
        [put("networkZones/lan/allowPrivatePlaintext", False)],
        [
            (
                "hearth:endpoints.plain.networkProfile.networkZoneId: names a zone that does not permit "
                "private_plaintext. Use another mode or zone; zones belong to the platform's administrators."
            )
        ],
    ),
    Case(
        "S4-21 a zone that forbids TLS",
        [put("networkZones/models/allowPrivateTls", False)],
        [
            (
                "hearth:endpoints.native.networkProfile.networkZoneId: names a zone that does not permit "
                "private_tls. Use another mode or zone; zones belong to the platform's administrators."
            )
        ],
    ),
    Case(
        "S4-12 plaintext that the policy forbids",
        [put("policy/plaintext", "forbid")],
        [
            (
                "hearth:endpoints.plain.networkProfile.mode: is forbidden by hearth:policy.plaintext. Use "
                "private_tls, or have the policy changed."
            )
        ],
    ),
    Case(
        "S4-12 plaintext outside an overlay",
        [put("policy/plaintext", "overlay")],
        [
            (
                "hearth:endpoints.plain.networkProfile.networkZoneId: is not an encrypted overlay, and "
                "hearth:policy.plaintext permits plaintext in overlays alone. Use private_tls, or a zone with "
                "encryptedOverlay."
            )
        ],
    ),
    Case(
        "S4-11 plaintext that nobody accepted",
        [drop("endpoints/plain/networkProfile/acceptPlaintextRisk")],
        [
            (
                "hearth:endpoints.plain.networkProfile.acceptPlaintextRisk: must be true: prompts, knowledge, "
                "vectors and answers would cross the network unencrypted. Set it if you accept that, or use "
                "private_tls."
            )
        ],
    ),
    Case(
        "S4-50 plaintext with a credential",
        [put("endpoints/plain/endpointAuth", {"mode": "bearer", "credentialRef": "credential://plain/workload"})],
        [
            (
                "hearth:endpoints.plain.endpointAuth.mode: would send a credential unencrypted. Use none with "
                "private_plaintext, or private_tls."
            )
        ],
    ),
    Case(
        "plaintext with a trust bundle",
        [put("endpoints/plain/networkProfile/tls", {"trustBundle": "home-ca"})],
        [
            (
                "hearth:endpoints.plain.networkProfile.tls: has no meaning with private_plaintext. Remove it, "
                "or use private_tls."
            )
        ],
    ),
    Case(
        "plaintext with a sidecar",
        [
            put("endpoints/plain/networkProfile/termination", "light_gateway_sidecar"),
            put("endpoints/plain/sidecar", {}),
        ],
        [
            (
                "hearth:endpoints.plain.networkProfile.termination: has no meaning with private_plaintext. "
                "Remove it, or use private_tls."
            )
        ],
    ),
    Case(
        "accepted plaintext with TLS",
        [put("endpoints/native/networkProfile/acceptPlaintextRisk", True)],
        [("hearth:endpoints.native.networkProfile.acceptPlaintextRisk: has no meaning with private_tls. Remove it.")],
    ),
    Case(
        "S4-52 a header that is not on the list",
        [put("endpoints/native/headers", {"Authorization": "x"})],
        [
            (
                "hearth:endpoints.native.headers: has a header that is not on the list. Permitted: "
                "accept-language, http-referer, openai-beta, openai-organization, openai-project, user-agent, "
                "x-client-name, x-title; credentials belong to endpointAuth."
            )
        ],
    ),
    Case(
        "S4-52 a credential in a header",
        [put("endpoints/native/headers", {"x-title": "Bearer planted"})],
        [("hearth:endpoints.native.headers.x-title: looks like a credential. Use endpointAuth with a credentialRef.")],
    ),
    Case(
        "S4-52 a line break in a header",
        [put("endpoints/native/headers", {"x-title": "a\r\nx: y"})],
        [
            (
                "hearth:endpoints.native.headers.x-title: has characters that are not permitted in a header. "
                "Use 1 to 256 letters, digits, spaces and . _ ~ : / , ; = + ( ) @ -."
            )
        ],
    ),
    Case(
        "S4-52 a header in two spellings",
        [put("endpoints/native/headers", {"x-title": "a", "X-Title": "b"})],
        ["hearth:endpoints.native.headers: has x-title in two spellings. Keep one of the two."],
    ),
    Case(
        "S4-38 a private endpoint that bounds no connection",
        [drop("endpoints/native/networkProfile/connection")],
        [
            (
                "hearth:endpoints.native.networkProfile.connection: is missing, and a private endpoint needs it. State "
                "poolIdleTimeoutMs and clientRefreshIntervalMs, such as 30000 and 300000."
            )
        ],
    ),
    Case(
        "U-14 a refresh before the pool is idle",
        [
            put(
                "endpoints/native/networkProfile/connection",
                {"poolIdleTimeoutMs": 60000, "clientRefreshIntervalMs": 30000},
            )
        ],
        [
            (
                "hearth:endpoints.native.networkProfile.connection.clientRefreshIntervalMs: is below "
                "poolIdleTimeoutMs. Make it at least as long."
            )
        ],
    ),
    Case(
        "U-14 a private endpoint without capacity",
        [drop("endpoints/native/runtimeCapacity")],
        [
            (
                "hearth:endpoints.native.runtimeCapacity: is missing, and a private endpoint needs it. State "
                "physicalRuntimeId, capacityDomainId, maxParallelRequests and maxQueuedRequests."
            )
        ],
    ),
    *(
        Case(
            f"a declared address that {title}",
            [put(f"endpoints/{name}/networkProfile/address", address)],
            [f"hearth:endpoints.{name}.networkProfile.address: {said}"],
        )
        for title, name, address, said in _ADDRESSES
    ),
    Case(
        "one host with two declared addresses",
        [
            put("endpoints/second", ENDPOINTS["native"]),
            put("endpoints/native/networkProfile/address", "10.42.7.9"),
        ],
        [
            "hearth:endpoints.second.networkProfile.address: differs from that of the endpoint native, which has the "
            "same host. Write one in both."
        ],
    ),
    Case(
        "one declared address of two hosts that Hearth installs",
        [
            put("endpoints/host/networkProfile/address", "192.168.1.9"),
            put("endpoints/second", ENDPOINTS["host"]),
            put("endpoints/second/baseUrl", "https://llama.home.arpa:8443/v1"),
            put("endpoints/second/networkProfile/address", "192.168.1.9"),
            put("endpoints/second/runtimeCapacity/physicalRuntimeId", "second/server"),
        ],
        [
            "hearth:endpoints.second.networkProfile.address: is that of the endpoint host, which has another host in "
            "its baseUrl. Call one machine by one name."
        ],
    ),
)
