"""Wrong claims: capacity and lanes."""

from tests.unit.claim.case import Case
from tests.unit.claim.examples import ENDPOINTS, PRICES, drop, put

CAPACITY = (
    Case(
        "U-14 a stream that begins after the end",
        [put("endpoints/host/runtimeCapacity/requestTimeoutMs", 20000)],
        [
            (
                "hearth:endpoints.host.runtimeCapacity.streamSetupTimeoutMs: is above requestTimeoutMs. Make "
                "it at most as long."
            )
        ],
    ),
    Case(
        "S4-114 more parallel requests than the policy permits",
        [put("policy/bounds", {"parallelRequests": 4}), put("endpoints/native/runtimeCapacity/maxParallelRequests", 5)],
        [
            (
                "hearth:endpoints.native.runtimeCapacity.maxParallelRequests: is above "
                "hearth:policy.bounds.parallelRequests, which is 4. Lower it, or have the policy changed."
            )
        ],
    ),
    Case(
        "S4-114 a longer queue than the policy permits",
        [put("policy/bounds", {"queuedRequests": 8}), put("endpoints/native/runtimeCapacity/maxQueuedRequests", 9)],
        [
            (
                "hearth:endpoints.native.runtimeCapacity.maxQueuedRequests: is above "
                "hearth:policy.bounds.queuedRequests, which is 8. Lower it, or have the policy changed."
            )
        ],
    ),
    Case(
        "S4-114 a longer timeout than the policy permits",
        [
            put("policy/bounds", {"requestTimeoutMs": 120000}),
            put("endpoints/native/runtimeCapacity/requestTimeoutMs", 120001),
        ],
        [
            (
                "hearth:endpoints.native.runtimeCapacity.requestTimeoutMs: is above "
                "hearth:policy.bounds.requestTimeoutMs, which is 120000. Lower it, or have the policy "
                "changed."
            )
        ],
    ),
    Case(
        "S4-115 concurrency above parallelism",
        [put("deployments/gemma-host/concurrency", 5)],
        [
            (
                "hearth:deployments.gemma-host.concurrency: is above maxParallelRequests of the endpoint "
                "host, which is 4. Lower it, or raise what the runtime really bears."
            )
        ],
    ),
    Case(
        "a context that the runtime does not have",
        [put("deployments/gemma-host/contextTokens", 8192)],
        [
            (
                "hearth:deployments.gemma-host.contextTokens: is above contextTokens of the runtime, which is "
                "4096. Lower it, or raise the runtime's."
            )
        ],
    ),
    Case(
        "S4-120 two lanes on one device",
        [
            put("deployments/gemma-host/lane", "query"),
            put("endpoints/plain/runtimeCapacity/capacityDomainId", "host/gpu-0"),
            drop("aliases/house/lanes"),
        ],
        [
            (
                "hearth:deployments.llama-plain.lane: is standard in the capacity domain of the deployment "
                "gemma-host, whose lane is query. Give each lane a device of its own."
            )
        ],
    ),
    Case(
        "more tenants than one gateway bears",
        [put("tenants", {f"t{number}": {} for number in range(2_001)})],
        [
            (
                "hearth:tenants: makes 2001 tenants, and one gateway bears 2000. Declare fewer, or split the "
                "environment into two."
            )
        ],
    ),
    Case(
        "S4-118 a model that somebody else keeps warm",
        [put("endpoints/native/runtimeCapacity/readinessPolicy", "warm_before_eligible")],
        [
            (
                "hearth:endpoints.native.runtimeCapacity.readinessPolicy: is warm_before_eligible, and nothing of "
                "Hearth warms a model that somebody else serves. Remove it where the model is always warm, or write "
                "on_demand."
            )
        ],
    ),
    Case(
        "S4-119 a model that somebody else loads on demand is right",
        [put("endpoints/native/runtimeCapacity/readinessPolicy", "on_demand")],
        [],
    ),
    Case(
        "more applications than one gateway bears",
        [put(f"tenants/t{number}", {"apps": {f"a{app}": {"llm": True} for app in range(400)}}) for number in range(20)],
        [
            (
                "hearth:tenants: makes 8002 apps, and one gateway bears 8000. Declare fewer, or split the environment "
                "into two."
            )
        ],
    ),
    Case(
        "more routes than one gateway bears",
        [
            put(
                "llm/providers/0/models",
                [
                    {"name": "gemma-4-31b", "model": "m", **PRICES},
                    *({"name": f"m{number}", "model": "m", **PRICES} for number in range(993)),
                ],
            )
        ],
        [
            (
                "hearth:aliases: makes 1001 deployments of aliases and models of providers, and one gateway bears "
                "1000. Declare fewer, or split the environment into two."
            )
        ],
    ),
    Case(
        "more endpoints than one gateway bears",
        [
            put(
                f"endpoints/e{number}",
                dict(ENDPOINTS["vendor"], baseUrl=f"https://api{number}.vendor.example/v1"),
            )
            for number in range(122)
        ]
        + [put("policy/vendor/allow", ["info-maniak", "mistral", "vendor", *(f"e{number}" for number in range(122))])],
        [
            (
                "hearth:endpoints: makes 129 endpoints, providers and instances, and one gateway bears 128. Declare "
                "fewer, or split the environment into two."
            )
        ],
    ),
    Case(
        "more requests at once than the gateway can count",
        [put("tenants/team/limits/parallelRequests", 2_147_483_648)],
        [("hearth:tenants.team.limits.parallelRequests: must be at most 1000000. Write a smaller number.")],
    ),
)
