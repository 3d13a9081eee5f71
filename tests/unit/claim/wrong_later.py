"""Wrong claims: what is not supported yet."""

from tests.unit.claim.case import Case
from tests.unit.claim.examples import ENDPOINTS, put

LATER = (
    Case(
        "S4-158 private instances",
        [
            put(
                "privateInstances/research",
                {"namespace": "team-research", "model": {"source": {"ollama": "a"}, "sha256": "0" * 64}},
            )
        ],
        [
            (
                "hearth:privateInstances.research: is not supported yet. Remove it; a later version of Hearth "
                "will accept it."
            )
        ],
    ),
    Case(
        "S3-61 a private instance on the console's host",
        [
            put(
                "privateInstances/research",
                {
                    "namespace": "team-research",
                    "host": "llm.corp.example",
                    "model": {"source": {"ollama": "a"}, "sha256": "0" * 64},
                },
            )
        ],
        [
            (
                "hearth:privateInstances.research: is not supported yet. Remove it; a later version of Hearth "
                "will accept it."
            ),
            (
                "hearth:privateInstances.research.host: begins with the host label llm, which is reserved for "
                "the console. Choose another host."
            ),
        ],
    ),
    Case(
        "S4-158 the mesh",
        [put("mesh", {"enabled": True})],
        ["hearth:mesh.enabled: is not supported yet. Remove it; a later version of Hearth will accept it."],
    ),
    *[
        Case(
            f"S4-158 the mesh's {field} while it is off",
            [put("mesh", {"enabled": False, field: value})],
            [f"hearth:mesh.{field}: is not supported yet. Remove it; a later version of Hearth will accept it."],
        )
        for field, value in (("node", "home"), ("members", ["other"]), ("shares", ["gemma"]))
    ],
    Case(
        "S4-158 the console",
        [put("llm/console", {"enabled": True})],
        [("hearth:llm.console.enabled: is not supported yet. Remove it; a later version of Hearth will accept it.")],
    ),
    Case(
        "S4-158 Open WebUI",
        [put("tenants/team/openWebui", True)],
        [("hearth:tenants.team.openWebui: is not supported yet. Remove it; a later version of Hearth will accept it.")],
    ),
    Case(
        "S4-158 External Secrets",
        [put("policy/credentials", "externalSecrets")],
        [
            (
                "hearth:policy.credentials: other than kubernetesSecret is not supported yet. Remove it; a "
                "later version of Hearth will accept it."
            )
        ],
    ),
    Case(
        "S4-158 vLLM in a Pod",
        [put("endpoints/pod/runtime/engine", "vllm")],
        [
            (
                "hearth:endpoints.pod.runtime.engine: vllm is not supported yet. Remove it; a later version "
                "of Hearth will accept it."
            )
        ],
    ),
    Case(
        "S4-158 a runtime key for a Pod",
        [put("endpoints/pod/runtime/credentialRef", "credential://pod/runtime")],
        [
            (
                "hearth:endpoints.pod.runtime.credentialRef: of a Pod, whose key Hearth makes, is not "
                "supported yet. Remove it; a later version of Hearth will accept it."
            )
        ],
    ),
    Case(
        "S4-158 an image source on a host",
        [put("endpoints/host/runtime/models/0/source", ENDPOINTS["pod"]["runtime"]["models"][0]["source"])],
        [
            (
                "hearth:endpoints.host.runtime.models[0].source.image: is not supported yet on a host. Use "
                "huggingFace, url, ollama or file."
            )
        ],
    ),
    Case(
        "S4-158 plaintext on loopback",
        [put("policy/plaintext", "loopback")],
        [
            (
                "hearth:policy.plaintext: loopback is not supported yet. Remove it; a later version of Hearth "
                "will accept it."
            )
        ],
    ),
)
