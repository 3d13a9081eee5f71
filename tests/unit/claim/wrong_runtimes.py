"""Wrong claims: runtimes, sidecars and models."""

from tests.unit.claim.case import Case
from tests.unit.claim.examples import ENDPOINTS, VALID, drop, put

RUNTIMES = (
    Case(
        "C-2 a Pod at another address",
        [put("endpoints/pod/baseUrl", "https://llm-other.system-llm.svc.cluster.local:8443/v1")],
        [
            (
                "hearth:endpoints.pod.baseUrl: must be https://llm-pod.system-llm.svc.cluster.local:8443/v1 "
                "when the runtime is a Pod. Write https://llm-pod.system-llm.svc.cluster.local:8443/v1."
            )
        ],
    ),
    Case(
        "C-2 a Pod in another zone",
        [put("endpoints/pod/networkProfile/networkZoneId", "lan")],
        [
            (
                "hearth:endpoints.pod.networkProfile.networkZoneId: must be in-cluster when the runtime is a "
                "Pod. Write in-cluster."
            )
        ],
    ),
    Case(
        "C-2 a Pod with another CA",
        [put("endpoints/pod/networkProfile/tls/trustBundle", "home-ca")],
        [
            (
                "hearth:endpoints.pod.networkProfile.tls.trustBundle: must be in-cluster when the runtime is "
                "a Pod. Write in-cluster."
            )
        ],
    ),
    Case(
        "S4-146 a Pod in plaintext",
        [put("endpoints/pod/networkProfile", {"mode": "private_plaintext"})],
        [
            (
                "hearth:endpoints.pod.networkProfile.mode: must be private_tls when the runtime is a Pod. "
                "Write private_tls."
            ),
            (
                "hearth:endpoints.pod.networkProfile.networkZoneId: must be in-cluster when the runtime is a "
                "Pod. Write in-cluster."
            ),
            (
                "hearth:endpoints.pod.networkProfile.termination: must be light_gateway_sidecar when the "
                "runtime is a Pod. Write light_gateway_sidecar."
            ),
            (
                "hearth:endpoints.pod.networkProfile.tls.trustBundle: must be in-cluster when the runtime is "
                "a Pod. Write in-cluster."
            ),
            (
                "hearth:endpoints.pod.sidecar: is declared, and the termination is native. Set termination, "
                "or remove the sidecar."
            ),
        ],
    ),
    Case(
        "S4-84 a Pod without credential",
        [put("endpoints/pod/endpointAuth", {"mode": "none"})],
        ["hearth:endpoints.pod.endpointAuth.mode: must be bearer when the runtime is a Pod. Write bearer."],
    ),
    Case(
        "S4-63 a sidecar that is not declared",
        [drop("endpoints/host/sidecar")],
        [
            (
                "hearth:endpoints.host.sidecar: is missing, and the termination is light_gateway_sidecar. Add "
                "sidecar: {profileVersion: model-provider-sidecar/v1}."
            )
        ],
    ),
    Case(
        "S4-63 a sidecar that ends no TLS",
        [put("endpoints/native/sidecar", {})],
        [
            (
                "hearth:endpoints.native.sidecar: is declared, and the termination is native. Set "
                "termination, or remove the sidecar."
            )
        ],
    ),
    Case(
        "S4-65 a host's runtime without sidecar",
        [put("endpoints/host/networkProfile/termination", "native"), drop("endpoints/host/sidecar")],
        [
            (
                "hearth:endpoints.host.networkProfile.termination: must be light_gateway_sidecar: a runtime "
                "that Hearth installs has no TLS of its own. Use the sidecar, or leave runtime out when "
                "somebody else runs the model server."
            )
        ],
    ),
    Case(
        "S4-68 a sidecar with another path",
        [put("endpoints/host/baseUrl", "https://ollama.home.arpa:8443/api")],
        ["hearth:endpoints.host.baseUrl: must have the path /v1 behind a sidecar. End it with /v1."],
    ),
    Case(
        "S4-84 a sidecar without credential",
        [put("endpoints/host/endpointAuth", {"mode": "none"})],
        [
            (
                "hearth:endpoints.host.endpointAuth.mode: must be bearer or api_key behind a sidecar. Name a "
                "credentialRef."
            )
        ],
    ),
    Case(
        "S4-66 the runtime on the sidecar's port",
        [put("endpoints/pod/runtime/loopback", "http://127.0.0.1:8443")],
        ["hearth:endpoints.pod.runtime.loopback: has a port that the sidecar needs. Choose another port."],
    ),
    Case(
        "S4-66 a port above 65535",
        [put("endpoints/pod/runtime/loopback", "http://127.0.0.1:70000")],
        ["hearth:endpoints.pod.runtime.loopback: has a port above 65535. Choose a port from 1024 to 65535."],
    ),
    Case(
        "S4-66 a port that needs root",
        [put("endpoints/pod/runtime/loopback", "http://127.0.0.1:80")],
        [("hearth:endpoints.pod.runtime.loopback: has a port that needs root. Choose a port from 1024 to 65535.")],
    ),
    Case(
        "S4-51 one credential for both hops",
        [put("endpoints/host/runtime/credentialRef", "credential://host/workload")],
        [
            (
                "hearth:endpoints.host.runtime.credentialRef: is the endpoint's credential, which the sidecar "
                "must not pass on. Give the runtime a credential of its own."
            )
        ],
    ),
    Case(
        "S1-1 no source",
        [put("endpoints/host/runtime/models/0/source", {})],
        [
            (
                "hearth:endpoints.host.runtime.models[0].source: names no source. Name exactly one of "
                "huggingFace, url, image, ollama, file."
            )
        ],
    ),
    Case(
        "S1-1 two sources",
        [put("endpoints/host/runtime/models/0/source", {"ollama": "gemma3:270m", "file": "/m.gguf"})],
        [
            (
                "hearth:endpoints.host.runtime.models[0].source: names more than one source. Name exactly one "
                "of huggingFace, url, image, ollama, file."
            )
        ],
    ),
    Case(
        "an Ollama model for llama.cpp",
        [put("endpoints/pod/runtime/models/0/source", {"ollama": "gemma3:270m"})],
        ["hearth:endpoints.pod.runtime.models[0].source.ollama: is for the engine ollama. Name a GGUF file."],
    ),
    Case(
        "safetensors for llama.cpp",
        [put("endpoints/pod/runtime/models/0/source", {"url": "https://models.example/m.safetensors"})],
        [
            (
                "hearth:endpoints.pod.runtime.models[0].source.url: is not a GGUF file, which llamaCpp needs. "
                "Name a file that ends with .gguf."
            )
        ],
    ),
    Case(
        "a host's file for a Pod",
        [put("endpoints/pod/runtime/models/0/source", {"file": "/models/m.gguf"})],
        [
            (
                "hearth:endpoints.pod.runtime.models[0].source.file: is a file of a host, and the runtime is "
                "a Pod. Use image, huggingFace or url."
            )
        ],
    ),
    Case(
        "U-22 an image without digest",
        [put("endpoints/pod/runtime/models/0/source/image/ref", "registry.example/m:1.0")],
        [
            (
                "hearth:endpoints.pod.runtime.models[0].source.image.ref: has no digest. Append "
                "@sha256:<digest>; only hearth:policy.images localBuild takes a tag."
            )
        ],
    ),
    Case(
        "a chat template for Ollama",
        [put("endpoints/host/runtime/chatTemplate", "gemma")],
        ["hearth:endpoints.host.runtime.chatTemplate: has no meaning for ollama. Remove it."],
    ),
    Case(
        "threads for Ollama on a host",
        [put("endpoints/host/runtime/threads", 4)],
        ["hearth:endpoints.host.runtime.threads: has no meaning for ollama on a host. Remove it."],
    ),
    Case(
        "a keep-alive for llama.cpp",
        [put("endpoints/pod/runtime/keepAliveSeconds", 60)],
        [
            (
                "hearth:endpoints.pod.runtime.keepAliveSeconds: has no meaning for llamaCpp, which keeps its "
                "model. Remove it."
            )
        ],
    ),
    Case(
        "a pooling for Ollama",
        [put("endpoints/host/runtime/pooling", "mean")],
        ["hearth:endpoints.host.runtime.pooling: has no meaning for ollama. Remove it."],
    ),
    Case(
        "a pooling for chats",
        [put("endpoints/pod/runtime/pooling", "mean")],
        ["hearth:endpoints.pod.runtime.pooling: has no meaning for a runtime that does not embed. Remove it."],
    ),
    Case(
        "two models for llama.cpp",
        [put("endpoints/pod/runtime/models/1", VALID["endpoints"]["pod"]["runtime"]["models"][0])],
        [
            (
                "hearth:endpoints.pod.runtime.models: has more than one model, and a llama.cpp server has "
                "one. Declare an endpoint for each model."
            )
        ],
    ),
    Case(
        "S4-87 a runtime behind a weaker endpoint",
        [put("endpoints/plain/runtimeCapacity", ENDPOINTS["host"]["runtimeCapacity"])],
        [
            (
                "hearth:endpoints.plain.runtimeCapacity.physicalRuntimeId: is the runtime of the endpoint "
                "host, reached through a weaker boundary. Use one address, profile and credential mode for "
                "one runtime, or name another runtime."
            )
        ],
    ),
    Case(
        "S4-87 a runtime behind two addresses",
        [put("endpoints/second", dict(ENDPOINTS["native"], baseUrl="https://two.models.corp.example:8443/v1"))],
        [
            (
                "hearth:endpoints.second.runtimeCapacity.physicalRuntimeId: is the runtime of the endpoint "
                "native, reached through a different boundary. Use one address, profile and credential mode "
                "for one runtime, or name another runtime."
            )
        ],
    ),
    Case(
        "S4-87 one runtime in two domains",
        [
            put(
                "endpoints/second",
                dict(
                    ENDPOINTS["native"],
                    runtimeCapacity=dict(ENDPOINTS["native"]["runtimeCapacity"], capacityDomainId="other"),
                ),
            )
        ],
        [
            (
                "hearth:endpoints.second.runtimeCapacity.capacityDomainId: differs from that of the endpoint "
                "native, which has the same runtime. One runtime is in one capacity domain."
            )
        ],
    ),
    Case(
        "S4-87 a runtime reached past its sidecar",
        [put("endpoints/host/networkProfile/address", "192.168.1.20")],
        [
            (
                "hearth:endpoints.plain.baseUrl: is the runtime of the endpoint host, reached past its sidecar. Use "
                "the sidecar's address."
            )
        ],
    ),
    Case(
        "S4-87 two runtimes behind one address",
        [
            put(
                "endpoints/second",
                dict(
                    ENDPOINTS["native"],
                    runtimeCapacity=dict(ENDPOINTS["native"]["runtimeCapacity"], physicalRuntimeId="other"),
                ),
            )
        ],
        [
            (
                "hearth:endpoints.second.runtimeCapacity.physicalRuntimeId: differs from that of the endpoint "
                "native, which has the same host and port. Name the same runtime in both."
            )
        ],
    ),
    Case(
        "a model name that is more than a name: systemd's specifier",
        [put("deployments/gemma-pod/model", "%h")],
        [
            (
                "hearth:deployments.gemma-pod.model: is not a name that Hearth can start llamaCpp with. Use 1 to 200 "
                "letters, digits and . _ : / @ + -, and begin with a letter or digit."
            )
        ],
    ),
    Case(
        "a model name that is more than a name: a variable",
        [put("deployments/gemma-pod/model", "$X")],
        [
            (
                "hearth:deployments.gemma-pod.model: is not a name that Hearth can start llamaCpp with. Use 1 to 200 "
                "letters, digits and . _ : / @ + -, and begin with a letter or digit."
            )
        ],
    ),
    Case(
        "a model name that is more than a name: an option",
        [put("deployments/gemma-pod/model", "--foo")],
        [
            (
                "hearth:deployments.gemma-pod.model: is not a name that Hearth can start llamaCpp with. Use 1 to 200 "
                "letters, digits and . _ : / @ + -, and begin with a letter or digit."
            )
        ],
    ),
    Case(
        "a model name that is more than a name: a space",
        [put("deployments/gemma-pod/model", "a b")],
        [
            (
                "hearth:deployments.gemma-pod.model: is not a name that Hearth can start llamaCpp with. Use 1 to 200 "
                "letters, digits and . _ : / @ + -, and begin with a letter or digit."
            )
        ],
    ),
    Case(
        "a model name that is more than a name: a quote",
        [put("deployments/gemma-pod/model", "a'b")],
        [
            (
                "hearth:deployments.gemma-pod.model: is not a name that Hearth can start llamaCpp with. Use 1 to 200 "
                "letters, digits and . _ : / @ + -, and begin with a letter or digit."
            )
        ],
    ),
    Case(
        "a name that Ollama does not take",
        [
            put("endpoints/host/runtime/models/0/source", {"file": "/srv/m.gguf"}),
            put("deployments/gemma-host/model", "-gemma"),
        ],
        [
            (
                "hearth:deployments.gemma-host.model: is not a name that Hearth can start ollama with. Use lower-case "
                "letters, digits and . _ - with / between at most three parts and : before a tag."
            )
        ],
    ),
    Case(
        "a name with dots, a slash and a tag is right", [put("deployments/gemma-pod/model", "Qwen/Qwen2.5@q4:1+2")], []
    ),
    Case(
        "two names for the one model of a Pod",
        [put("deployments/other", dict(VALID["deployments"]["gemma-pod"], model="other"))],
        [
            (
                "hearth:endpoints.pod.runtime.models: has 1 from outside the Ollama library, and deployments ask for "
                "2 names that are not in it, so that it cannot be told which is which. Give each such model an "
                "endpoint of its own, and its deployments one model name."
            )
        ],
    ),
    Case(
        "two files of one Ollama in a Pod",
        [
            put("endpoints/pod/runtime/engine", "ollama"),
            put("endpoints/pod/runtime/models/1", ENDPOINTS["pod"]["runtime"]["models"][0]),
        ],
        [
            (
                "hearth:endpoints.pod.runtime.models: has 2 from outside the Ollama library, and deployments ask for "
                "1 names that are not in it, so that it cannot be told which is which. Give each such model an "
                "endpoint of its own, and its deployments one model name."
            )
        ],
    ),
    Case(
        "an engine that the local build does not have",
        [put("policy/images", "localBuild"), put("endpoints/pod/runtime/engine", "ollama")],
        [
            (
                "hearth:endpoints.pod.runtime.engine: is ollama, which the images of hearth:policy.images localBuild "
                "do not have. Use llamaCpp, or the images pinned."
            )
        ],
    ),
    Case(
        "an image whose tag is too long",
        [put("endpoints/pod/runtime/models/0/source/image/ref", f"registry.example/m:{'t' * 129}")],
        [
            (
                "hearth:endpoints.pod.runtime.models[0].source.image.ref: is not well-formed. It must be an image "
                "with its registry, such as registry.example/models/gemma:1.0@sha256:<digest>."
            )
        ],
    ),
)
