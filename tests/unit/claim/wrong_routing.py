"""Wrong claims: deployments and aliases."""

from tests.unit.claim.case import Case
from tests.unit.claim.examples import DIGEST, ENDPOINTS, VALID, drop, put

ROUTING = (
    Case(
        "S4-14 an unknown endpoint",
        [put("deployments/nomic/endpoint", "planted")],
        ["hearth:deployments.nomic.endpoint: names no endpoint. Declared: host, native, plain, pod, vendor."],
    ),
    Case(
        "S4-97 an operation that the protocol has not",
        [put("deployments/nomic/operations", ["embedding", "chat"])],
        [
            (
                "hearth:deployments.nomic.operations[1]: is chat, which the endpoint native does not have. Permitted: "
                "embedding; add it to the endpoint's operations, in place of its protocol."
            )
        ],
    ),
    Case(
        "S4-68 a protocol and operations",
        [put("endpoints/native/operations", ["embedding"])],
        ["hearth:endpoints.native.operations: is there beside protocol. Name either protocol or operations."],
    ),
    Case(
        "S4-68 an operation of an endpoint twice",
        [drop("endpoints/native/protocol"), put("endpoints/native/operations", ["embedding", "embedding"])],
        ["hearth:endpoints.native.operations[1]: names embedding twice. Remove one."],
    ),
    Case(
        "S4-68 everything that one Ollama answers is right",
        [
            drop("endpoints/host/protocol"),
            put("endpoints/host/operations", ["chat", "responses", "embedding"]),
            put("endpoints/host/runtime/models/1", {"source": {"ollama": "nomic-embed-text"}, "digest": DIGEST}),
            put(
                "deployments/host-vectors",
                dict(
                    VALID["deployments"]["gemma-host"],
                    model="nomic-embed-text",
                    operations=["embedding"],
                    embeddingSpace="n/1",
                ),
            ),
        ],
        [],
    ),
    Case(
        "chats and embeddings of one llama.cpp in a Pod",
        [
            drop("endpoints/pod/protocol"),
            put("endpoints/pod/operations", ["chat", "completion", "embedding"]),
            put(
                "deployments/vectors",
                dict(VALID["deployments"]["gemma-pod"], operations=["embedding"], embeddingSpace="g/1"),
            ),
        ],
        [
            (
                "hearth:endpoints.pod.runtime: is one llama.cpp process, which answers either chats or embeddings, and "
                "its deployments declare both. Give the embeddings a runtime of their own, or use ollama."
            )
        ],
    ),
    Case(
        "an operation twice",
        [put("deployments/gemma-host/operations", ["chat", "chat"])],
        ["hearth:deployments.gemma-host.operations[1]: names chat twice. Remove one."],
    ),
    Case(
        "S4-122 zero_marginal with a price",
        [put("deployments/gemma-host/pricing/outputMicrosPerMillionTokens", 1)],
        [
            (
                "hearth:deployments.gemma-host.pricing.basis: is zero_marginal, and a price is not zero. Set "
                "both to zero, or amortized_internal."
            )
        ],
    ),
    Case(
        "S4-122 amortized_internal without a price",
        [
            put(
                "deployments/nomic/pricing",
                {
                    "basis": "amortized_internal",
                    "version": "1",
                    "inputMicrosPerMillionTokens": 0,
                    "outputMicrosPerMillionTokens": 0,
                },
            )
        ],
        [
            (
                "hearth:deployments.nomic.pricing.basis: is amortized_internal, and both prices are zero. "
                "State a price, or zero_marginal."
            )
        ],
    ),
    Case(
        "S4-122 a vendor's basis for a private model",
        [put("deployments/nomic/pricing/basis", "provider")],
        [
            (
                "hearth:deployments.nomic.pricing.basis: must not be provider for a local endpoint. Write "
                "amortized_internal or zero_marginal."
            )
        ],
    ),
    Case(
        "S3-57 a vendor's price of zero",
        [
            put("deployments/gpt/pricing/inputMicrosPerMillionTokens", 0),
            put("deployments/gpt/pricing/outputMicrosPerMillionTokens", 0),
        ],
        [
            (
                "hearth:deployments.gpt.pricing.basis: is provider, and both prices are zero. State the vendor's "
                "price, or zero_marginal."
            )
        ],
    ),
    Case(
        "S4-122 an internal basis for a vendor",
        [put("deployments/gpt/pricing/basis", "amortized_internal")],
        [
            (
                "hearth:deployments.gpt.pricing.basis: must not be amortized_internal for a vendor's endpoint. "
                "Write provider and the vendor's price."
            )
        ],
    ),
    Case(
        "S4-127 an embedding without space",
        [drop("deployments/nomic/embeddingSpace")],
        [
            (
                "hearth:deployments.nomic.embeddingSpace: is missing, and the deployment embeds. Name the "
                "revision of the embedding space."
            )
        ],
    ),
    Case(
        "S4-127 a space without embedding",
        [put("deployments/gemma-host/embeddingSpace", "x")],
        [("hearth:deployments.gemma-host.embeddingSpace: has no meaning without the operation embedding. Remove it.")],
    ),
    Case(
        "S1-2 a model that nobody serves",
        [put("deployments/gemma-host/model", "llama3")],
        [
            (
                "hearth:deployments.gemma-host.model: is not among the models of the endpoint host. Add it to "
                "runtime.models, or name one of them."
            )
        ],
    ),
    Case(
        "an alias of an unknown deployment",
        [put("aliases/gemma/deployments", ["planted"])],
        [
            (
                "hearth:aliases.gemma.deployments[0]: names no deployment. Declared: gemma-host, gemma-pod, "
                "gpt, llama-plain, nomic."
            )
        ],
    ),
    Case(
        "an alias with a deployment twice",
        [put("aliases/gemma/deployments", ["gemma-pod", "gemma-pod"])],
        ["hearth:aliases.gemma.deployments[1]: names a deployment that is there before. Remove one of the two."],
    ),
    Case(
        "an alias of nothing",
        [put("aliases/gemma/deployments", [])],
        ["hearth:aliases.gemma.deployments: is an empty list. Name at least one."],
    ),
    Case(
        "S4-126 residency",
        [put("deployments/gemma-pod/residency", ["corp", "elsewhere"])],
        [
            (
                "hearth:aliases.gemma.deployments[0]: is gemma-pod, which handles data in elsewhere, outside "
                "the alias's residency. Remove the deployment, or widen the residency."
            )
        ],
    ),
    Case(
        "S4-120 an alias of other lanes",
        [put("aliases/embed/lanes", ["query", "standard"])],
        [
            (
                "hearth:aliases.embed.deployments[0]: is nomic, whose lane indexing is not one of the "
                "alias's. Remove the deployment, or add the lane."
            )
        ],
    ),
    Case(
        "S4-126 a fallback with other operations",
        [put("aliases/gemma/deployments", ["gemma-pod", "gemma-host"]), drop("aliases/gemma/maxCostMicros")],
        [
            (
                "hearth:aliases.gemma.deployments[1]: is gemma-host, whose operations are not those of "
                "gemma-pod. Put deployments with the same operations behind one alias."
            )
        ],
    ),
    Case(
        "S4-127 two embedding spaces",
        [
            put("deployments/nomic-2", dict(VALID["deployments"]["nomic"], embeddingSpace="nomic/2")),
            put("aliases/embed/deployments", ["nomic", "nomic-2"]),
        ],
        [
            (
                "hearth:aliases.embed.deployments[1]: is nomic-2, whose embedding space is not that of nomic. "
                "Vectors of two spaces must not mix; make an alias for each."
            )
        ],
    ),
    Case(
        "S4-27 a fallback to plaintext",
        [put("aliases/house/deployments", ["gemma-host", "llama-plain"])],
        [
            (
                "hearth:aliases.house.deployments[1]: is llama-plain, whose network is less protected than "
                "that of the deployments before it. Remove it, or reach it through private_tls."
            )
        ],
    ),
    Case(
        "S4-125 a paid fallback that nobody stated",
        [
            put("deployments/gemma-pod/operations", ["chat"]),
            put("aliases/house/deployments", ["gemma-host", "gemma-pod"]),
        ],
        [
            (
                "hearth:aliases.house.deployments[1]: is gemma-pod, which is paid, and the alias does not "
                "begin on a paid deployment of that kind. Set paidFallback and maxCostMicros, or remove the "
                "deployment."
            )
        ],
    ),
    Case(
        "S4-125 a paid fallback without highest price",
        [
            put("deployments/gemma-pod/operations", ["chat"]),
            put(
                "aliases/house",
                {"deployments": ["gemma-host", "gemma-pod"], "residency": ["corp"], "paidFallback": True},
            ),
        ],
        [
            (
                "hearth:aliases.house.maxCostMicros: is missing, and paidFallback needs it. State the highest "
                "price of one request in micro-units."
            )
        ],
    ),
    Case(
        "S4-125 an envelope above the highest price",
        [
            put("deployments/gemma-pod/operations", ["chat"]),
            put(
                "aliases/house",
                {
                    "deployments": ["gemma-host", "gemma-pod"],
                    "residency": ["corp"],
                    "paidFallback": True,
                    "maxCostMicros": 1,
                },
            ),
        ],
        [
            (
                "hearth:aliases.house.maxCostMicros: is below the worst-case price of all attempts, which is "
                "2. Raise it, lower contextTokens, or remove a deployment."
            )
        ],
    ),
    Case(
        "S1-6 a silent fallback to a vendor",
        [
            put("endpoints/cloud", dict(ENDPOINTS["vendor"], protocol="openai_chat")),
            put("policy/vendor/allow/3", "cloud"),
            put(
                "deployments/cloud",
                dict(
                    VALID["deployments"]["gpt"], endpoint="cloud", operations=["chat", "completion"], residency=["corp"]
                ),
            ),
            put("aliases/gemma", {"deployments": ["gemma-pod", "cloud"], "residency": ["corp"]}),
        ],
        [
            (
                "hearth:aliases.gemma.deployments[1]: is cloud, which is paid, and the alias does not begin "
                "on a paid deployment of that kind. Set paidFallback and maxCostMicros, or remove the "
                "deployment."
            )
        ],
    ),
    Case(
        "texts that are names of variables",
        [
            put("deployments/gemma-pod/pricing/version", "os.environ/LITELLM_MASTER_KEY"),
            put("deployments/nomic/embeddingSpace", "os.environ/DATABASE_URL"),
        ],
        [
            (
                "hearth:deployments.gemma-pod.pricing.version: begins with what the gateway takes for the name of a "
                "variable. Write another text."
            ),
            (
                "hearth:deployments.nomic.embeddingSpace: begins with what the gateway takes for the name of a "
                "variable. Write another text."
            ),
        ],
    ),
)
