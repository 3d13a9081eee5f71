"""Wrong claims: hosts on which what is declared cannot run."""

from typing import Any

from tests.support import claims
from tests.unit.claim.case import Case
from tests.unit.claim.examples import ENDPOINTS, VALID, drop, put


def _endpoint(name: str, port: int = 8443, **runtime: Any) -> dict[str, Any]:
    """llama.cpp on the host of the valid claim's `host`, with a port of its own."""
    made = claims.runtime({"file": "/srv/m.gguf"}, placement="host", **{"loopback": "http://127.0.0.1:8081", **runtime})
    return claims.endpoint(
        name,
        f"https://llama.home.arpa:{port}/v1",
        claims.private_tls("lan", "home-ca", "light_gateway_sidecar"),
        sidecar={},
        runtime=made,
        runtimeCapacity=claims.capacity(name),
    )


def _deployment(endpoint: str, model: str = "llama", *operations: str) -> dict[str, Any]:
    space = {"embeddingSpace": "m/1"} if "embedding" in operations else {}
    return dict(VALID["deployments"]["gemma-host"], endpoint=endpoint, model=model, concurrency=1, **space) | (
        {"operations": list(operations)} if operations else {}
    )


ONE = [put("endpoints/one", _endpoint("one")), put("deployments/one", _deployment("one"))]
PLAIN = dict(
    ENDPOINTS["plain"],
    baseUrl="http://llama.home.arpa:11434/v1",
    runtime=claims.runtime({"file": "/srv/m.gguf"}, placement="host", loopback="http://127.0.0.1:9000"),
)

HOSTS = (
    Case("one llama.cpp on a host is right", [*ONE], []),
    Case(
        "S4-147 two names for the one model of a host",
        [*ONE, put("deployments/other", _deployment("one", "other"))],
        [
            (
                "hearth:endpoints.one.runtime.models: has 1 from outside the Ollama library, and deployments ask for "
                "2 names that are not in it, so that it cannot be told which is which. Give each such model an "
                "endpoint of its own, and its deployments one model name."
            )
        ],
    ),
    Case(
        "a model that no deployment asks for",
        [ONE[0]],
        [
            (
                "hearth:endpoints.one.runtime.models: has a model that no deployment asks for, so that nothing says "
                "its name. Declare a deployment of this endpoint, or remove the model."
            )
        ],
    ),
    Case(
        "the model of a Pod that no deployment asks for",
        [drop("deployments/gemma-pod"), drop("aliases/gemma"), put("tenants/team/models", ["mistral/small"])],
        [
            (
                "hearth:endpoints.pod.runtime.models: has a model that no deployment asks for, so that nothing says "
                "its name. Declare a deployment of this endpoint, or remove the model."
            )
        ],
    ),
    Case(
        "the library's model with its default tag is right",
        [
            put("endpoints/host/runtime/models/0/source/ollama", "gemma3"),
            put("deployments/gemma-host/model", "gemma3:latest"),
        ],
        [],
    ),
    Case(
        "two sidecars on one port of a host",
        [
            *ONE,
            put("endpoints/two", _endpoint("two", loopback="http://127.0.0.1:8082")),
            put("endpoints/two/runtimeCapacity/physicalRuntimeId", "one/server"),
            put("endpoints/two/runtimeCapacity/capacityDomainId", "one/gpu-0"),
            put("deployments/two", _deployment("two")),
        ],
        [
            (
                "hearth:endpoints.two.baseUrl: has the port 8443, which the sidecar of one has on this host. "
                "Use another port."
            )
        ],
    ),
    Case(
        "a runtime on the port of another sidecar",
        [
            *ONE,
            put("endpoints/two", _endpoint("two", 11434, loopback="http://127.0.0.1:8082")),
            put("endpoints/one/runtime/loopback", "http://127.0.0.1:11434"),
            put("deployments/two", _deployment("two")),
        ],
        [
            (
                "hearth:endpoints.two.baseUrl: has the port 11434, which the runtime of one has on this host. "
                "Use another port."
            )
        ],
    ),
    Case(
        "one loopback port with two descriptions",
        [*ONE, put("endpoints/two", _endpoint("two", 11434)), put("deployments/two", _deployment("two"))],
        [
            (
                "hearth:endpoints.two.runtime: differs from the runtime of one, which has the same loopback port on "
                "this host. Give both endpoints the same runtime, runtimeCapacity and network mode, or loopback "
                "ports of their own."
            )
        ],
    ),
    Case(
        "a runtime in plaintext on the port of another one",
        [
            *ONE,
            put("endpoints/one/runtime/loopback", "http://127.0.0.1:11434"),
            put("endpoints/plain", PLAIN),
        ],
        [
            (
                "hearth:endpoints.plain.baseUrl: has the port 11434, which the runtime of one has on this host. "
                "Use another port."
            )
        ],
    ),
    Case(
        "an IPv6 address of a host",
        [*ONE, put("endpoints/one/baseUrl", "https://[fd00:1::5]:8443/v1")],
        [
            (
                "hearth:endpoints.one.baseUrl: has an IPv6 address, and what Hearth installs on a host listens on "
                "IPv4 alone. Use a DNS name or an IPv4 address."
            )
        ],
    ),
)
