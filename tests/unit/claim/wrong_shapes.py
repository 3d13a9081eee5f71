"""Wrong claims: shapes: types, bounds, unknown fields."""

from tests.unit.claim.case import Case
from tests.unit.claim.examples import ENDPOINTS, drop, put

SHAPES = (
    Case(
        "S3-72 unknown field of a provider",
        [put("llm/providers/0/apiKey", "planted")],
        [("hearth:llm.providers[0].apiKey: is not a field of this part of the claim. Did you mean apiKeyProperty?")],
    ),
    Case(
        "S3-72 unknown field with a near name",
        [put("endpoints/host/networkProfile/networkZone", "lan")],
        [
            (
                "hearth:endpoints.host.networkProfile.networkZone: is not a field of this part of the claim. "
                "Did you mean networkZoneId?"
            )
        ],
    ),
    Case(
        "S4-42 verification cannot be turned off",
        [put("endpoints/host/networkProfile/tls/verifyHostname", False)],
        [
            (
                "hearth:endpoints.host.networkProfile.tls.verifyHostname: is not a field of this part of the "
                "claim. Known fields: trustBundle."
            )
        ],
    ),
    Case(
        "S4-43 no independent server name",
        [put("endpoints/host/networkProfile/tls/serverName", "x")],
        [
            (
                "hearth:endpoints.host.networkProfile.tls.serverName: is not a field of this part of the "
                "claim. Known fields: trustBundle."
            )
        ],
    ),
    Case(
        "S4-15 unknown field whose name is not shown",
        [put("policy/sk-PLANTED_1", 1)],
        [
            (
                "hearth:policy[a name that is not shown]: is not a field of this part of the claim. Known "
                "fields: adopt, bounds, cluster, clusterCidrs, credentials, egress, evidence, evidenceWaiver, images, "
                "plaintext, registry, serveImage, vendor."
            )
        ],
    ),
    Case(
        "unknown key with a near name",
        [put("trustBundle", {})],
        ["hearth:trustBundle: is not a configuration key of Hearth. Did you mean hearth:trustBundles?"],
    ),
    Case(
        "missing llm",
        [drop("llm")],
        ["hearth:llm: is missing. Add it: the gateway, its instances, providers, console and person budget."],
    ),
    Case(
        "missing field",
        [drop("llm/enabled")],
        [
            (
                "hearth:llm.enabled: is missing. Add it: whether this environment has a gateway at all; "
                "without it the namespace does not exist."
            )
        ],
    ),
    Case(
        "missing credential reference",
        [drop("endpoints/host/endpointAuth/credentialRef")],
        [("hearth:endpoints.host.endpointAuth.credentialRef: is missing. Add it: where the credential is found.")],
    ),
    Case(
        "S4-7 unknown profile",
        [put("endpoints/host/networkProfile/mode", "public")],
        [
            (
                "hearth:endpoints.host.networkProfile.mode: must be one of public_tls, private_tls, "
                "private_plaintext. Did you mean public_tls?"
            )
        ],
    ),
    Case(
        "S4-16 unknown termination",
        [put("endpoints/host/networkProfile/termination", "sidecar")],
        [
            (
                "hearth:endpoints.host.networkProfile.termination: must be one of native, "
                "light_gateway_sidecar, tls_sidecar. Did you mean tls_sidecar?"
            )
        ],
    ),
    Case(
        "S4-47 an empty text is not none",
        [put("endpoints/host/endpointAuth/mode", "")],
        [("hearth:endpoints.host.endpointAuth.mode: must be one of none, bearer, api_key. Write one of these.")],
    ),
    Case(
        "S4-47 unknown credential mode",
        [put("endpoints/host/endpointAuth/mode", "basic")],
        [("hearth:endpoints.host.endpointAuth.mode: must be one of none, bearer, api_key. Write one of these.")],
    ),
    Case(
        "S4-47 missing credential mode",
        [put("endpoints/host/endpointAuth", {})],
        [("hearth:endpoints.host.endpointAuth.mode: must be one of none, bearer, api_key. Write one of these.")],
    ),
    Case(
        "S4-49 api_key in another header",
        [put("endpoints/native/endpointAuth/header", "cookie")],
        [("hearth:endpoints.native.endpointAuth.header: must be one of x-api-key, authorization. Write one of these.")],
    ),
    Case(
        "S4-53 a literal credential",
        [put("endpoints/host/endpointAuth/credentialRef", "sk-planted")],
        [
            (
                "hearth:endpoints.host.endpointAuth.credentialRef: is not well-formed. It must be a reference "
                "credential://<scope>/<name>, never the secret itself."
            )
        ],
    ),
    Case(
        "text for a number",
        [put("endpoints/host/runtimeCapacity/maxParallelRequests", "4")],
        [
            (
                "hearth:endpoints.host.runtimeCapacity.maxParallelRequests: must be a whole number, and is a "
                "text. Write a whole number without quotes."
            )
        ],
    ),
    Case(
        "number for a text",
        [put("llm/personBudget/maxSpend", 20)],
        ["hearth:llm.personBudget.maxSpend: must be a text, and is a number. Put it in quotes."],
    ),
    Case(
        "text for a boolean",
        [put("llm/enabled", "yes")],
        ["hearth:llm.enabled: must be true or false, and is a text. Write true or false without quotes."],
    ),
    Case(
        "nothing for a mapping",
        [put("endpoints/host/networkProfile", None)],
        [
            (
                "hearth:endpoints.host.networkProfile: must be a mapping, and is nothing. Write a value, or "
                "leave the field out where it is optional."
            )
        ],
    ),
    Case(
        "text for a list",
        [put("deployments/nomic/operations", "embedding")],
        ["hearth:deployments.nomic.operations: must be a list, and is a text. Write a list."],
    ),
    Case(
        "a list for a mapping",
        [put("tenants", [])],
        ["hearth:tenants: must be a mapping, and is a list. Write a mapping."],
    ),
    Case(
        "a text for the whole llm",
        [put("llm", [])],
        ["hearth:llm: must be a mapping, and is a list. Write a mapping."],
    ),
    Case(
        "S4-113 parallelism of zero",
        [put("endpoints/host/runtimeCapacity/maxParallelRequests", 0)],
        [("hearth:endpoints.host.runtimeCapacity.maxParallelRequests: must be at least 1. Write a larger number.")],
    ),
    Case(
        "S4-38 a pool without bound",
        [put("endpoints/host/networkProfile/connection/poolIdleTimeoutMs", 0)],
        [
            (
                "hearth:endpoints.host.networkProfile.connection.poolIdleTimeoutMs: must be at least 1000. "
                "Write a larger number."
            )
        ],
    ),
    Case(
        "S4-38 a refresh that is too long",
        [put("endpoints/host/networkProfile/connection/clientRefreshIntervalMs", 3600001)],
        [
            (
                "hearth:endpoints.host.networkProfile.connection.clientRefreshIntervalMs: must be at most "
                "3600000. Write a smaller number."
            )
        ],
    ),
    Case(
        "an empty list of operations",
        [put("deployments/nomic/operations", [])],
        ["hearth:deployments.nomic.operations: is an empty list. Name at least one."],
    ),
    Case(
        "S3-18 an empty model id",
        [put("llm/instances/0/modelId", "")],
        ["hearth:llm.instances[0].modelId: is empty. Write a value."],
    ),
    Case(
        "S3-18 an empty provider model",
        [put("llm/providers/0/models/0/model", "")],
        ["hearth:llm.providers[0].models[0].model: is empty. Write a value."],
    ),
    Case(
        "S3-18 a model over two lines",
        [put("llm/providers/0/models/0/model", "a\nb")],
        [
            (
                "hearth:llm.providers[0].models[0].model: is not well-formed. It must be one line of 1 to 512 "
                "printable characters without spaces at its ends."
            )
        ],
    ),
    Case(
        "S3-18 a model with a mark that turns the text around",
        [put("llm/providers/0/models/0/model", "a\u202eb")],
        [
            (
                "hearth:llm.providers[0].models[0].model: is not well-formed. It must be one line of 1 to 512 "
                "printable characters without spaces at its ends."
            )
        ],
    ),
    Case(
        "S3-18 spaces at the ends",
        [put("llm/providers/0/displayName", " Infomaniak ")],
        [
            (
                "hearth:llm.providers[0].displayName: is not well-formed. It must be one line of 1 to 512 "
                "printable characters without spaces at its ends."
            )
        ],
    ),
    Case(
        "S3-16 unknown mode",
        [put("llm/providers/0/models/0/mode", "embeddings")],
        [
            (
                "hearth:llm.providers[0].models[0].mode: must be one of chat, completion, embedding. Did you "
                "mean embedding?"
            )
        ],
    ),
    Case(
        "U-5 capital letters in a provider's model name",
        [put("llm/providers/0/models/0/name", "Gemma")],
        [
            (
                "hearth:llm.providers[0].models[0].name: is not well-formed. It must be a name of 1 to 63 "
                "lower-case letters, digits, dots and hyphens."
            )
        ],
    ),
    Case(
        "U-5 capital letters in a provider's name",
        [put("llm/providers/0/name", "Infomaniak")],
        [
            (
                "hearth:llm.providers[0].name: is not well-formed. It must be a name of 1 to 40 lower-case "
                "letters, digits and single hyphens that begins with a letter."
            )
        ],
    ),
    Case(
        "an endpoint id with an underscore",
        [put("endpoints/my_host", ENDPOINTS["vendor"])],
        [
            (
                'hearth:endpoints["my_host"]: is not a well-formed name. It must be a name of 1 to 40 '
                "lower-case letters, digits and single hyphens that begins with a letter."
            )
        ],
    ),
    Case(
        "an id of 41 characters",
        [put("tenants/" + "a" * 41, {})],
        [
            (
                'hearth:tenants["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]: is longer than 40 characters. '
                "Write a shorter one."
            )
        ],
    ),
    Case(
        "two hyphens in a row",
        [put("tenants/a--b", {})],
        [
            (
                'hearth:tenants["a--b"]: is not a well-formed name. It must be a name of 1 to 40 lower-case '
                "letters, digits and single hyphens that begins with a letter."
            )
        ],
    ),
    Case(
        "S4-54 a short digest",
        [put("trustBundles/home-ca/sha256", "42b8")],
        [
            (
                "hearth:trustBundles.home-ca.sha256: is not well-formed. It must be a SHA-256 digest of 64 "
                "lower-case hexadecimal digits."
            )
        ],
    ),
    Case(
        "S4-54 a path that leaves the project",
        [put("trustBundles/home-ca/file", "../home-ca.pem")],
        [
            (
                "hearth:trustBundles.home-ca.file: is not well-formed. It must be a path inside the project's "
                "folder, such as trust/home-ca.v3.pem."
            )
        ],
    ),
    Case(
        "S4-55 version zero",
        [put("trustBundles/home-ca/version", 0)],
        ["hearth:trustBundles.home-ca.version: must be at least 1. Write a larger number."],
    ),
    Case(
        "S4-66 a runtime that is not on loopback",
        [put("endpoints/host/runtime/loopback", "http://192.168.1.5:11434")],
        [
            (
                "hearth:endpoints.host.runtime.loopback: is not well-formed. It must be an http address of "
                "loopback with a port and without a path, such as http://127.0.0.1:11434."
            )
        ],
    ),
    Case(
        "S4-66 a runtime with a path",
        [put("endpoints/host/runtime/loopback", "http://127.0.0.1:11434/v1")],
        [
            (
                "hearth:endpoints.host.runtime.loopback: is not well-formed. It must be an http address of "
                "loopback with a port and without a path, such as http://127.0.0.1:11434."
            )
        ],
    ),
    Case(
        "U-22 a model without digest",
        [drop("endpoints/host/runtime/models/0/digest")],
        [
            (
                "hearth:endpoints.host.runtime.models[0].digest: is missing. Add it: digest that is checked "
                "before use: of the file, or of the manifest for an Ollama model."
            )
        ],
    ),
    Case(
        "U-22 an empty digest",
        [put("endpoints/host/runtime/models/0/digest", "sha256:")],
        [
            (
                "hearth:endpoints.host.runtime.models[0].digest: is not well-formed. It must be sha256: and "
                "64 lower-case hexadecimal digits."
            )
        ],
    ),
    Case(
        "S2-6 a branch for a revision",
        [
            put(
                "endpoints/host/runtime/models/0/source",
                {"huggingFace": {"repo": "a/b", "revision": "main", "file": "m.gguf"}},
            )
        ],
        [
            (
                "hearth:endpoints.host.runtime.models[0].source.huggingFace.revision: is not well-formed. It "
                "must be a commit of 40 lower-case hexadecimal digits."
            )
        ],
    ),
    Case(
        "S3-54 a period in words",
        [put("llm/personBudget/period", "monthly")],
        [
            (
                "hearth:llm.personBudget.period: is not well-formed. It must be a number of minutes, hours or "
                "days, such as 90m, 24h or 30d."
            )
        ],
    ),
    Case(
        "S4-122 a negative price",
        [put("deployments/nomic/pricing/inputMicrosPerMillionTokens", -1)],
        [("hearth:deployments.nomic.pricing.inputMicrosPerMillionTokens: must be at least 0. Write a larger number.")],
    ),
    Case(
        "S4-122 no price",
        [drop("deployments/nomic/pricing")],
        ["hearth:deployments.nomic.pricing: is missing. Add it: its price; every deployment has one."],
    ),
    Case(
        "U-17 a body without bound",
        [put("endpoints/host/sidecar/maxRequestBytes", 99999999999)],
        ["hearth:endpoints.host.sidecar.maxRequestBytes: must be at most 67108864. Write a smaller number."],
    ),
    Case(
        "an encrypted value",
        [put("llm/providers/0/displayName", {"secure": "AAABpLanted"})],
        [
            (
                "hearth:llm.providers[0].displayName: is an encrypted value, and a claim holds no secrets. "
                "Write a reference credential://<scope>/<name>, and keep the secret where references resolve."
            )
        ],
    ),
    Case(
        "S4-12 unknown plaintext policy",
        [put("policy/plaintext", "allow")],
        ["hearth:policy.plaintext: must be one of forbid, loopback, overlay, zone. Write one of these."],
    ),
    Case(
        "too many replicas",
        [put("llm/gateway", {"replicas": 21})],
        ["hearth:llm.gateway.replicas: must be at most 20. Write a smaller number."],
    ),
    Case(
        "unknown database mode",
        [put("llm/database", {"mode": "rds"})],
        ["hearth:llm.database.mode: must be one of inCluster, external. Write one of these."],
    ),
    Case(
        "several at once",
        [
            put("llm/enabled", 1),
            put("policy/evidence", "on"),
            drop("endpoints/host/protocol"),
            put("llm/providers/0/apiBase", "http://10.0.0.1/v1"),
        ],
        [
            "hearth:endpoints.host.operations: is missing, and so is protocol. Name either protocol or operations.",
            "hearth:llm.enabled: must be true or false, and is a number. Write true or false.",
            (
                "hearth:llm.providers[0].apiBase: has an address that is not public: it is private. Declare a "
                "private address as an endpoint with a network zone."
            ),
            ("hearth:llm.providers[0].apiBase: is plain HTTP to a public address, which is never accepted. Use https."),
            "hearth:policy.evidence: must be one of off, warn, enforce. Write one of these.",
        ],
    ),
)
