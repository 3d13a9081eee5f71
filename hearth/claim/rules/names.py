"""Names: every public model name once, nothing that collides with what Hearth or the gateway makes (S3-13 … S3-17)."""

import re
from collections.abc import Iterator
from typing import Final

from hearth.claim.draft import Draft, Finding
from hearth.claim.names import GATEWAY_REFERENCE, NAMESPACE, public_instance_name, tenant_namespace
from hearth.claim.problems import PUBLIC_NAME
from hearth.claim.reader import Path as Place
from hearth.claim.translate import render_path

RESERVED_PREFIXES: Final = ("local", "share", "mesh")
"""First parts of public names that belong to the mesh (S0-3 … S0-5)."""
RESERVED_ENDPOINTS: Final = frozenset(
    {
        "cache",
        "credentials",
        "credentials-external",
        "database",
        "database-address",
        "front",
        "gateway",
        "gateway-guard",
        "guard",
        "guard-0",
        "guard-1",
        "migrations",
        "mock",
        "trust",
    }
)
"""Endpoint ids whose Services, Secrets or ConfigMaps would be those of the gateway's own parts."""
RESERVED_HOST_LABEL: Final = "llm"
"""First label of the console's host, whether there is a console or not (S3-61)."""

# Words that the gateway reads as sets of models when a key or a team names them.
_GATEWAY_WORDS: Final = frozenset({"all-proxy-models", "all-team-models", "no-default-models", "default"})
# Namespaces of Kubernetes, of its distributions, and of the programs that are commonly installed beside it: whoever may
# write there can read or change what others run. Hearth closes a namespace, and so would stop them.
_SYSTEM_NAMESPACE = re.compile(
    r"(?!tenant-).*-system\Z|"
    r"(calico|cattle|cert-manager|cilium|gke|gmp|istio|knative|kube|linkerd|openshift|system|tekton|tigera)(-|\Z)|"
    r"(argo|argocd|crossplane|default|external-dns|external-secrets|falco|flux|gatekeeper|gpu-operator|grafana|"
    r"ingress-nginx|karpenter|keda|kyverno|local-path-storage|logging|loki|longhorn|metallb|monitoring|observability|olm|"
    r"operators|prometheus|projectcontour|rook-ceph|sealed-secrets|traefik|trivy|vault|velero)\Z"
)


def public_names(draft: Draft) -> Iterator[tuple[str, Place]]:
    """Yield every public model name with the place that declares it: aliases, provider models, instances."""
    for alias in draft.claim.aliases:
        yield alias, ("aliases", alias)
    for position, provider in zip(draft.positions["providers"], draft.claim.llm.providers, strict=True):
        for index, model in enumerate(provider.models):
            yield f"{provider.name}/{model.name}", ("llm", "providers", position, "models", index, "name")
    for position, instance in zip(draft.positions["instances"], draft.claim.llm.instances, strict=True):
        yield public_instance_name(instance.model_id), ("llm", "instances", position, "modelId")


def one_model_name_once(draft: Draft) -> Iterator[Finding]:
    """S3-17: no two entries give the gateway one model name twice."""
    first: dict[str, Place] = {}
    for name, place in public_names(draft):
        if name in first:
            other = render_path(first[name])
            yield Finding(place, f"gives the gateway the same model name as {other}", "Rename one of the two")
        first.setdefault(name, place)


def alias_names(draft: Draft) -> Iterator[Finding]:
    """S0-3 … S0-8: an alias is a well-formed name that belongs to nobody else."""
    providers = {provider.name for provider in draft.claim.llm.providers}
    for alias in draft.claim.aliases:
        place: Place = ("aliases", alias)
        prefix, slash, _ = alias.partition("/")
        if prefix in RESERVED_PREFIXES and slash:
            yield Finding(
                place, f"begins with {prefix}/, which is reserved for models of the mesh", "Choose another name"
            )
        elif not PUBLIC_NAME.match(alias) or "//" in alias:
            yield Finding(
                place,
                "is not a public model name",
                "Use 1 to 128 lower-case letters, digits and . _ : / - with a letter or digit at both ends",
            )
        elif alias.startswith(GATEWAY_REFERENCE):
            yield Finding(place, "begins with what the gateway takes for the name of a variable", "Choose another name")
        elif alias in _GATEWAY_WORDS:
            yield Finding(place, "is a word that the gateway takes for a set of models", "Choose another name")
        elif slash and prefix in providers:
            yield Finding(
                place, f"begins with the name of the provider {prefix}, whose models alone do", "Choose another name"
            )


def provider_names(draft: Draft) -> Iterator[Finding]:
    """S0-8, S3-15: a provider's prefix is its own."""
    seen: set[str] = set()
    for position, provider in zip(draft.positions["providers"], draft.claim.llm.providers, strict=True):
        place: Place = ("llm", "providers", position, "name")
        if provider.name in RESERVED_PREFIXES:
            yield Finding(place, "is a prefix that is reserved for models of the mesh", "Choose another name")
        if provider.name in seen:
            yield Finding(place, f"is {provider.name}, as another provider's name is", "Rename one of the two")
        seen.add(provider.name)


def instance_names(draft: Draft) -> Iterator[Finding]:
    """S3-14: two instances would share one Service."""
    seen: set[str] = set()
    for position, instance in zip(draft.positions["instances"], draft.claim.llm.instances, strict=True):
        if instance.name in seen:
            place: Place = ("llm", "instances", position, "name")
            yield Finding(place, f"is {instance.name}, as another instance's name is", "Rename one of the two")
        seen.add(instance.name)


def endpoint_names(draft: Draft) -> Iterator[Finding]:
    """An endpoint's objects do not take the names of the gateway's own parts."""
    for name in draft.claim.endpoints:
        if name in RESERVED_ENDPOINTS:
            yield Finding(
                ("endpoints", name), "is the name of one of the gateway's own parts", "Choose another endpoint id"
            )


def tenant_namespaces(draft: Draft) -> Iterator[Finding]:
    """S3-51: each tenant has a namespace of its own, and none that belongs to the system."""
    owner: dict[str, str] = {}
    for name, tenant in draft.claim.tenants.items():
        namespace = tenant_namespace(name, tenant)
        place: Place = ("tenants", name, "namespace") if tenant.namespace else ("tenants", name)
        if namespace == NAMESPACE or _SYSTEM_NAMESPACE.match(namespace):
            yield Finding(place, "is a namespace of the system", "Choose a namespace of the tenant's own")
        if namespace in owner:
            yield Finding(place, f"has the namespace of the tenant {owner[namespace]}", "Give each tenant its own")
        owner.setdefault(namespace, name)


def adopted_namespaces(draft: Draft) -> Iterator[Finding]:
    """What is taken over is what this claim uses: a tenant's namespace, or that of the gateway."""
    if not draft.whole("tenants") or not draft.valid("policy", "adopt"):
        return
    used = {NAMESPACE, *(tenant_namespace(name, tenant) for name, tenant in draft.claim.tenants.items())}
    complete = draft.declared("tenants") == frozenset(draft.claim.tenants)
    seen: set[str] = set()
    for index, namespace in enumerate(draft.claim.policy.adopt.namespaces):
        place: Place = ("policy", "adopt", "namespaces", index)
        if namespace not in used and complete:
            yield Finding(place, "is the namespace of no tenant", "Remove it, or declare the tenant whose it is")
        if namespace in seen:
            yield Finding(place, "is named twice", "Remove one of the two")
        seen.add(namespace)


def reserved_host_label(draft: Draft) -> Iterator[Finding]:
    """S3-61: the host label `llm` stays reserved for the console, whether it is on or off."""
    if RESERVED_HOST_LABEL in draft.claim.tenants:
        yield Finding(
            ("tenants", RESERVED_HOST_LABEL), "is the host label that is reserved for the console", "Rename the tenant"
        )
    for name, instance in draft.claim.private_instances.items():
        if instance.host is not None and instance.host.lower().split(".")[0] == RESERVED_HOST_LABEL:
            yield Finding(
                ("privateInstances", name, "host"),
                "begins with the host label llm, which is reserved for the console",
                "Choose another host",
            )


RULES: Final = (
    one_model_name_once,
    alias_names,
    provider_names,
    instance_names,
    endpoint_names,
    tenant_namespaces,
    adopted_namespaces,
    reserved_host_label,
)
