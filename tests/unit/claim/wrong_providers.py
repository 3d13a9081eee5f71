"""Wrong claims: providers and public addresses."""

from tests.unit.claim.case import Case
from tests.unit.claim.examples import drop, put

PROVIDERS = (
    Case(
        "S3-23 plain HTTP",
        [put("llm/providers/0/apiBase", "http://api.vendor.example/v1")],
        [("hearth:llm.providers[0].apiBase: is plain HTTP to a public address, which is never accepted. Use https.")],
    ),
    Case(
        "S3-23 another port",
        [put("llm/providers/0/apiBase", "https://api.vendor.example:8443/v1")],
        [("hearth:llm.providers[0].apiBase: has a port other than 443. Use the vendor's https address on port 443.")],
    ),
    Case(
        "S3-23 user and password",
        [put("llm/providers/0/apiBase", "https://me:planted@api.vendor.example/v1")],
        [("hearth:llm.providers[0].apiBase: must not have a user or password. Write https://<public host>/<path>.")],
    ),
    Case(
        "S3-23 a query",
        [put("llm/providers/0/apiBase", "https://api.vendor.example/v1?key=planted")],
        ["hearth:llm.providers[0].apiBase: must not have a query. Write https://<public host>/<path>."],
    ),
    Case(
        "S4-30 an empty fragment",
        [put("llm/providers/0/apiBase", "https://api.vendor.example/v1#")],
        [
            (
                "hearth:llm.providers[0].apiBase: must not have a fragment or a backslash. Write "
                "https://<public host>/<path>."
            )
        ],
    ),
    Case(
        "S3-23 a cluster name",
        [put("llm/providers/0/apiBase", "https://db.system-llm.svc.cluster.local/v1")],
        [
            (
                "hearth:llm.providers[0].apiBase: has a host that ends with .cluster.local, so it is not "
                "public. Declare a private address as an endpoint with a network zone."
            )
        ],
    ),
    Case(
        "S3-23 a .svc name",
        [put("llm/providers/0/apiBase", "https://db.system-llm.svc/v1")],
        [
            (
                "hearth:llm.providers[0].apiBase: has a host that ends with .svc, so it is not public. "
                "Declare a private address as an endpoint with a network zone."
            )
        ],
    ),
    Case(
        "S3-23 a single label",
        [put("llm/providers/0/apiBase", "https://gateway/v1")],
        [
            (
                "hearth:llm.providers[0].apiBase: has a host that is a single label, so it is not public. "
                "Declare a private address as an endpoint with a network zone."
            )
        ],
    ),
    Case(
        "S3-23 localhost",
        [put("llm/providers/0/apiBase", "https://localhost/v1")],
        [
            (
                "hearth:llm.providers[0].apiBase: has a host that is a single label, so it is not public. "
                "Declare a private address as an endpoint with a network zone."
            )
        ],
    ),
    Case(
        "S3-23 a home name",
        [put("llm/providers/0/apiBase", "https://nas.home.arpa/v1")],
        [
            (
                "hearth:llm.providers[0].apiBase: has a host that ends with .arpa, so it is not public. "
                "Declare a private address as an endpoint with a network zone."
            )
        ],
    ),
    Case(
        "S3-23 a private address",
        [put("llm/providers/0/apiBase", "https://10.1.2.3/v1")],
        [
            (
                "hearth:llm.providers[0].apiBase: has an address that is not public: it is private. Declare a "
                "private address as an endpoint with a network zone."
            )
        ],
    ),
    Case(
        "S4-41 the metadata service",
        [put("llm/providers/0/apiBase", "https://169.254.169.254/v1")],
        [
            (
                "hearth:llm.providers[0].apiBase: has an address that is not public: it is the metadata "
                "service. Declare a private address as an endpoint with a network zone."
            )
        ],
    ),
    Case(
        "S4-41 loopback in IPv6",
        [put("llm/providers/0/apiBase", "https://[::1]/v1")],
        [
            (
                "hearth:llm.providers[0].apiBase: has an address that is not public: it is loopback. Declare "
                "a private address as an endpoint with a network zone."
            )
        ],
    ),
    Case(
        "U-6 an IPv4-mapped private address",
        [put("llm/providers/0/apiBase", "https://[::ffff:a01:203]/v1")],
        [
            (
                "hearth:llm.providers[0].apiBase: has a host that is an IPv4 address in an IPv6 spelling. "
                "Write https://<public host>/<path>."
            )
        ],
    ),
    Case(
        "U-6 NAT64",
        [put("llm/providers/0/apiBase", "https://[64:ff9b::a01:203]/v1")],
        [
            (
                "hearth:llm.providers[0].apiBase: has an address that is not public: it is NAT64. Declare a "
                "private address as an endpoint with a network zone."
            )
        ],
    ),
    Case(
        "U-6 a decimal address",
        [put("llm/providers/0/apiBase", "https://2130706433/v1")],
        [
            (
                "hearth:llm.providers[0].apiBase: has a host that is a number but not an IPv4 address in its "
                "usual form. Write https://<public host>/<path>."
            )
        ],
    ),
    Case(
        "U-6 an octal address",
        [put("llm/providers/0/apiBase", "https://0177.0.0.1/v1")],
        [
            (
                "hearth:llm.providers[0].apiBase: has a host that is a number but not an IPv4 address in its "
                "usual form. Write https://<public host>/<path>."
            )
        ],
    ),
    Case(
        "U-6 a hexadecimal address",
        [put("llm/providers/0/apiBase", "https://0x7f.0.0.1/v1")],
        [
            (
                "hearth:llm.providers[0].apiBase: has a host that is a number but not an IPv4 address in its "
                "usual form. Write https://<public host>/<path>."
            )
        ],
    ),
    Case(
        "U-6 a shortened address",
        [put("llm/providers/0/apiBase", "https://127.1/v1")],
        [
            (
                "hearth:llm.providers[0].apiBase: has a host that is a number but not an IPv4 address in its "
                "usual form. Write https://<public host>/<path>."
            )
        ],
    ),
    Case(
        "U-6 a trailing dot",
        [put("llm/providers/0/apiBase", "https://api.vendor.example./v1")],
        [("hearth:llm.providers[0].apiBase: has a host that ends with a dot. Write https://<public host>/<path>.")],
    ),
    Case(
        "U-6 letters outside ASCII",
        [put("llm/providers/0/apiBase", "https://api.véndor.example/v1")],
        [
            (
                "hearth:llm.providers[0].apiBase: has a host that has characters outside ASCII; write an "
                "internationalised name in its xn-- form. Write https://<public host>/<path>."
            )
        ],
    ),
    Case(
        "a backslash",
        [put("llm/providers/0/apiBase", "https://api.vendor.example\\@10.0.0.1/v1")],
        [
            (
                "hearth:llm.providers[0].apiBase: must not have a fragment or a backslash. Write "
                "https://<public host>/<path>."
            )
        ],
    ),
    Case(
        "another scheme",
        [put("llm/providers/0/apiBase", "ftp://api.vendor.example/v1")],
        [
            (
                "hearth:llm.providers[0].apiBase: does not begin with http:// or https:// in lower case, or "
                "has a backslash. Write https://<public host>/<path>."
            )
        ],
    ),
    Case(
        "no host",
        [put("llm/providers/0/apiBase", "https:///v1")],
        ["hearth:llm.providers[0].apiBase: has no host. Write https://<public host>/<path>."],
    ),
    Case(
        "dot segments",
        [put("llm/providers/0/apiBase", "https://api.vendor.example/v1/../admin")],
        [
            (
                "hearth:llm.providers[0].apiBase: has a path with characters other than letters, digits, - _ "
                "~ and single dots and slashes. Write https://<public host>/<path>."
            )
        ],
    ),
    Case(
        "an empty port",
        [put("llm/providers/0/apiBase", "https://api.vendor.example:/v1")],
        [
            (
                "hearth:llm.providers[0].apiBase: has a port that is not a number from 1 to 65535. Write "
                "https://<public host>/<path>."
            )
        ],
    ),
    Case(
        "a line break",
        [put("llm/providers/0/apiBase", "https://api.vendor.example/v1\n")],
        [
            (
                "hearth:llm.providers[0].apiBase: is not one line of at most 2048 printable characters "
                "without spaces. Write https://<public host>/<path>."
            )
        ],
    ),
    Case(
        "S3-27 another provider's token",
        [put("llm/providers/0/apiKeyProperty", "mistral_api_key")],
        [
            (
                "hearth:llm.providers[0].apiKeyProperty: is not this provider's own token property. Write "
                "info_maniak_api_key."
            )
        ],
    ),
    Case(
        "S1-5 a vendor without opt-in",
        [put("policy/vendor", {})],
        [
            (
                "hearth:endpoints.vendor: sends prompts to a vendor, and this environment has not opted in. "
                "Set hearth:policy.vendor.optIn with an acknowledgement, or remove it."
            ),
            (
                "hearth:llm.providers[0]: sends prompts to a vendor, and this environment has not opted in. "
                "Set hearth:policy.vendor.optIn with an acknowledgement, or remove it."
            ),
            (
                "hearth:llm.providers[1]: sends prompts to a vendor, and this environment has not opted in. "
                "Set hearth:policy.vendor.optIn with an acknowledgement, or remove it."
            ),
        ],
    ),
    Case(
        "S1-7 opt-in without acknowledgement",
        [drop("policy/vendor/acknowledgement")],
        [
            (
                "hearth:policy.vendor.acknowledgement: is missing, and optIn needs it. Say in one line whose "
                "prompts reach which vendor."
            )
        ],
    ),
    Case(
        "S1-5 vendors that are not allowed by name",
        [put("policy/vendor/allow", ["mistral"])],
        [
            ("hearth:endpoints.vendor: is a vendor that hearth:policy.vendor.allow does not name. Add its name."),
            ("hearth:llm.providers[0]: is a vendor that hearth:policy.vendor.allow does not name. Add its name."),
        ],
    ),
    Case(
        "S1-5 a vendor behind a private link that is not allowed by name",
        [put("endpoints/native/posture", "vendor"), put("deployments/nomic/pricing/basis", "provider")],
        [("hearth:endpoints.native: is a vendor that hearth:policy.vendor.allow does not name. Add its name.")],
    ),
    Case(
        "S1-5 a vendor behind a private link that is allowed is right",
        [
            put("endpoints/native/posture", "vendor"),
            put("deployments/nomic/pricing/basis", "provider"),
            put("policy/vendor/allow/3", "native"),
        ],
        [],
    ),
    Case(
        "S1-5 a vendor that Hearth runs",
        [
            put("endpoints/pod/posture", "vendor"),
            put("deployments/gemma-pod/pricing/basis", "provider"),
            put("policy/vendor/allow/3", "pod"),
        ],
        [("hearth:endpoints.pod.posture: is vendor, and Hearth runs its model server. Remove one of the two.")],
    ),
    Case(
        "S1-5 vendors by name without the opt-in",
        [
            drop("endpoints/vendor"),
            drop("deployments/gpt"),
            drop("aliases/vendor-gpt"),
            put("llm/providers", []),
            put("tenants/team/models", ["gemma"]),
            put("policy/vendor", {"allow": ["mistral"]}),
        ],
        ["hearth:policy.vendor.allow: has no meaning without optIn. Set optIn, or remove it."],
    ),
    Case(
        "S3-57 a model without a price",
        [drop("llm/providers/1/models/0/inputMicrosPerMillionTokens")],
        [
            (
                "hearth:llm.providers[1].models[0].inputMicrosPerMillionTokens: is missing, and no budget stops a "
                "model without a price. Write the vendor's price, or pricing: zero_marginal."
            )
        ],
    ),
    Case(
        "S3-57 a model whose prices are zero without a word",
        [
            put("llm/providers/1/models/0/inputMicrosPerMillionTokens", 0),
            put("llm/providers/1/models/0/outputMicrosPerMillionTokens", 0),
        ],
        [
            (
                "hearth:llm.providers[1].models[0]: has prices of zero, and no budget stops it. Write the vendor's "
                "price, or pricing: zero_marginal."
            )
        ],
    ),
    Case(
        "S3-57 a price and none",
        [put("llm/providers/1/models/0/pricing", "zero_marginal")],
        [
            (
                "hearth:llm.providers[1].models[0].inputMicrosPerMillionTokens: is a price, and pricing is "
                "zero_marginal. Remove one of the two."
            ),
            (
                "hearth:llm.providers[1].models[0].outputMicrosPerMillionTokens: is a price, and pricing is "
                "zero_marginal. Remove one of the two."
            ),
        ],
    ),
    Case(
        "S3-57 embeddings have no price of completions, which is right",
        [
            put(
                "llm/providers/1/models/0",
                {"name": "small", "model": "m", "mode": "embedding", "inputMicrosPerMillionTokens": 1},
            )
        ],
        [],
    ),
)
