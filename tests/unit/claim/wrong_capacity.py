"""Wrong claims: capacity and lanes."""

from tests.unit.claim.case import Case
from tests.unit.claim.examples import drop, put

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
)
