"""Wrong claims: names."""

from tests.unit.claim.case import Case
from tests.unit.claim.examples import ENDPOINTS, VALID, drop, put

NAMES = (
    Case(
        "an alias that is the name of a variable",
        [put("aliases/os.environ~litellm_master_key", VALID["aliases"]["gemma"])],
        [
            (
                'hearth:aliases["os.environ/litellm_master_key"]: begins with what the gateway takes for the name of '
                "a variable. Choose another name."
            )
        ],
    ),
    Case(
        "S0-3 an alias in the mesh's name space",
        [put("aliases/local~gemma", VALID["aliases"]["gemma"])],
        [
            (
                'hearth:aliases["local/gemma"]: begins with local/, which is reserved for models of the mesh. '
                "Choose another name."
            )
        ],
    ),
    Case(
        "S0-4 an alias that looks like a share",
        [put("aliases/share~a~gemma", VALID["aliases"]["gemma"])],
        [
            (
                'hearth:aliases["share/a/gemma"]: begins with share/, which is reserved for models of the '
                "mesh. Choose another name."
            )
        ],
    ),
    Case(
        "S0-5 an alias that looks like an import",
        [put("aliases/mesh~a~gemma", VALID["aliases"]["gemma"])],
        [
            (
                'hearth:aliases["mesh/a/gemma"]: begins with mesh/, which is reserved for models of the mesh. '
                "Choose another name."
            )
        ],
    ),
    Case(
        "S0-8 an alias in a provider's name space",
        [put("aliases/mistral~tiny", VALID["aliases"]["gemma"])],
        [
            (
                'hearth:aliases["mistral/tiny"]: begins with the name of the provider mistral, whose models '
                "alone do. Choose another name."
            )
        ],
    ),
    Case(
        "an alias with capital letters",
        [put("aliases/Gemma", VALID["aliases"]["gemma"])],
        [
            (
                "hearth:aliases.Gemma: is not a public model name. Use 1 to 128 lower-case letters, digits "
                "and . _ : / - with a letter or digit at both ends."
            )
        ],
    ),
    Case(
        "an alias that the gateway takes for all models",
        [put("aliases/all-proxy-models", VALID["aliases"]["gemma"])],
        [
            (
                "hearth:aliases.all-proxy-models: is a word that the gateway takes for a set of models. "
                "Choose another name."
            )
        ],
    ),
    Case(
        "an empty alias",
        [put("aliases/", VALID["aliases"]["gemma"])],
        [
            (
                "hearth:aliases[a name that is not shown]: is not a public model name. Use 1 to 128 "
                "lower-case letters, digits and . _ : / - with a letter or digit at both ends."
            )
        ],
    ),
    Case(
        "S3-17 an alias and a provider's model",
        [put("aliases/mistral~small", VALID["aliases"]["gemma"])],
        [
            (
                'hearth:aliases["mistral/small"]: begins with the name of the provider mistral, whose models '
                "alone do. Choose another name."
            ),
            (
                "hearth:llm.providers[1].models[0].name: gives the gateway the same model name as "
                'hearth:aliases["mistral/small"]. Rename one of the two.'
            ),
        ],
    ),
    Case(
        "S3-17 one model of a provider twice",
        [put("llm/providers/1/models/1/name", "small")],
        [
            (
                "hearth:llm.providers[1].models[1].name: gives the gateway the same model name as "
                "hearth:llm.providers[1].models[0].name. Rename one of the two."
            )
        ],
    ),
    Case(
        "S3-17 an alias and an instance",
        [put("aliases/qwen-qwen2.5-7b", VALID["aliases"]["gemma"])],
        [
            (
                "hearth:llm.instances[0].modelId: gives the gateway the same model name as "
                'hearth:aliases["qwen-qwen2.5-7b"]. Rename one of the two.'
            )
        ],
    ),
    Case(
        "S3-17 two instances of one model",
        [put("llm/instances/1", dict(VALID["llm"]["instances"][0], name="qwen-2", modelId="qwen/qwen2.5-7b"))],
        [
            (
                "hearth:llm.instances[1].modelId: gives the gateway the same model name as "
                "hearth:llm.instances[0].modelId. Rename one of the two."
            )
        ],
    ),
    Case(
        "S3-14 two instances of one name",
        [put("llm/instances/1", dict(VALID["llm"]["instances"][0], modelId="other"))],
        ["hearth:llm.instances[1].name: is qwen, as another instance's name is. Rename one of the two."],
    ),
    Case(
        "S3-15 two providers of one name",
        [put("llm/providers/1/name", "info-maniak"), put("llm/providers/1/apiKeyProperty", "info_maniak_api_key")],
        [
            ("hearth:llm.providers[1].name: is info-maniak, as another provider's name is. Rename one of the two."),
            (
                "hearth:tenants.team.models[1]: names no model that is offered. Offered: embed, gemma, house, "
                "info-maniak/gemma-4-31b, info-maniak/large, info-maniak/small, plain, vendor-gpt."
            ),
        ],
    ),
    Case(
        "S0-3 a provider called local",
        [
            put("llm/providers/1/name", "local"),
            put("llm/providers/1/apiKeyProperty", "local_api_key"),
            drop("tenants/team/models"),
            put("policy/vendor/allow", ["info-maniak", "local", "vendor"]),
        ],
        [("hearth:llm.providers[1].name: is a prefix that is reserved for models of the mesh. Choose another name.")],
    ),
    Case(
        "an endpoint with the gateway's name",
        [
            put("endpoints/gateway", dict(ENDPOINTS["vendor"], networkProfile={})),
            put("policy/vendor/allow/3", "gateway"),
        ],
        [("hearth:endpoints.gateway: is the name of one of the gateway's own parts. Choose another endpoint id.")],
    ),
    Case(
        "S3-61 a tenant with the console's label",
        [put("tenants/llm", {})],
        ["hearth:tenants.llm: is the host label that is reserved for the console. Rename the tenant."],
    ),
    Case(
        "a tenant in the system's namespace",
        [put("tenants/team/namespace", "system-llm")],
        [("hearth:tenants.team.namespace: is a namespace of the system. Choose a namespace of the tenant's own.")],
    ),
    Case(
        "a tenant in kube-system",
        [put("tenants/team/namespace", "kube-system")],
        [("hearth:tenants.team.namespace: is a namespace of the system. Choose a namespace of the tenant's own.")],
    ),
    Case(
        "a tenant in default",
        [put("tenants/team/namespace", "default")],
        [("hearth:tenants.team.namespace: is a namespace of the system. Choose a namespace of the tenant's own.")],
    ),
    *(
        Case(
            f"a tenant in {namespace}",
            [put("tenants/team/namespace", namespace)],
            [("hearth:tenants.team.namespace: is a namespace of the system. Choose a namespace of the tenant's own.")],
        )
        for namespace in (
            "cert-manager",
            "ingress-nginx",
            "istio-ingress",
            "istio-system",
            "kube-public",
            "monitoring",
            "openshift-ingress",
            "rook-ceph",
            "traefik",
        )
    ),
    Case("a tenant whose name ends as a namespace of the system does", [put("tenants/billing-system", {})], []),
    Case(
        "taking over what no tenant uses, and one namespace twice",
        [put("policy/adopt", {"namespaces": ["somebody", "tenant-family", "tenant-family", "system-llm"]})],
        [
            (
                "hearth:policy.adopt.namespaces[0]: is the namespace of no tenant. Remove it, or declare the tenant "
                "whose it is."
            ),
            "hearth:policy.adopt.namespaces[2]: is named twice. Remove one of the two.",
        ],
    ),
    Case(
        "an environment that no label can hold",
        [put("environment", "my home")],
        [
            (
                "hearth:environment: is not well-formed. It must be a name of 1 to 40 lower-case letters, digits and "
                "single hyphens that begins with a letter."
            )
        ],
    ),
    Case(
        "two tenants in one namespace",
        [put("tenants/team/namespace", "tenant-family")],
        ["hearth:tenants.team.namespace: has the namespace of the tenant family. Give each tenant its own."],
    ),
)
