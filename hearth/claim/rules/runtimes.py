"""Runtimes that Hearth runs, their sidecars and their models (S1-10, S4-63 … S4-89, S4-146)."""

import re
from collections.abc import Iterator
from typing import Final

from hearth.claim.draft import Draft, Finding
from hearth.claim.endpoints import Endpoint, ModelSource, Runtime
from hearth.claim.names import GUARD_PROBE_PORT, IN_CLUSTER, SIDECAR_PORT, endpoint_host
from hearth.claim.operations import only_vectors
from hearth.claim.reader import Path as Place
from hearth.claim.rules.public import base_url

SOURCES: Final = {
    "hugging_face": "huggingFace",
    "url": "url",
    "image": "image",
    "ollama": "ollama",
    "file": "file",
}
"""Fields of a model source, and how the claim spells them."""

SERVED_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}\Z")
"""Name of a model that llama.cpp is started with."""
_PART: Final = "[a-z0-9][a-z0-9._-]{0,79}"
OLLAMA_NAME: Final = re.compile(rf"({_PART}/){{0,2}}{_PART}(:[A-Za-z0-9_][A-Za-z0-9._-]{{0,79}})?\Z")
"""Name of a model that Ollama takes: host, namespace, model and tag."""


def _runtimes(draft: Draft) -> Iterator[tuple[str, Endpoint, Runtime]]:
    for name, endpoint in draft.claim.endpoints.items():
        if endpoint.runtime is not None:
            yield name, endpoint, endpoint.runtime


def behind_a_sidecar(endpoint: Endpoint) -> bool:
    """Return whether a sidecar ends the endpoint's TLS."""
    return endpoint.network_profile.termination == "light_gateway_sidecar"


def in_a_pod(draft: Draft) -> Iterator[Finding]:
    """S4-146, C-2: a runtime in a Pod has one address, one profile and one kind of credential."""
    for name, endpoint, runtime in _runtimes(draft):
        if runtime.placement != "pod":
            continue
        place: Place = ("endpoints", name)
        profile = endpoint.network_profile
        wanted = f"https://{endpoint_host(name, draft.claim.policy.cluster.domain)}:{SIDECAR_PORT}/v1"
        checks: tuple[tuple[tuple[str, ...], bool, str], ...] = (
            (("baseUrl",), endpoint.base_url == wanted, wanted),
            (("networkProfile", "mode"), profile.mode == "private_tls", "private_tls"),
            (("networkProfile", "termination"), behind_a_sidecar(endpoint), "light_gateway_sidecar"),
            (("networkProfile", "networkZoneId"), profile.network_zone_id == IN_CLUSTER, IN_CLUSTER),
            (
                ("networkProfile", "tls", "trustBundle"),
                profile.tls is not None and profile.tls.trust_bundle == IN_CLUSTER,
                IN_CLUSTER,
            ),
            (("networkProfile", "acceptPlaintextRisk"), not profile.accept_plaintext_risk, "false"),
            (("endpointAuth", "mode"), endpoint.endpoint_auth.mode == "bearer", "bearer"),
        )
        for below, right, value in checks:
            if not right:
                yield Finding((*place, *below), f"must be {value} when the runtime is a Pod", f"Write {value}")
        if draft.claim.policy.cluster_cidrs is None and draft.valid("policy", "clusterCidrs"):
            yield Finding(
                ("policy", "clusterCidrs"),
                f"is missing, and the endpoint {name} is in the zone in-cluster",
                "State the Service and Pod ranges of the cluster",
            )


def on_a_host(draft: Draft) -> Iterator[Finding]:
    """S4-65, S4-66, S4-147: where Hearth installs a runtime and its TLS, the sidecar ends it."""
    for name, endpoint, runtime in _runtimes(draft):
        encrypted = endpoint.network_profile.mode == "private_tls"
        if runtime.placement == "host" and encrypted and not behind_a_sidecar(endpoint):
            yield Finding(
                ("endpoints", name, "networkProfile", "termination"),
                "must be light_gateway_sidecar: a runtime that Hearth installs has no TLS of its own",
                "Use the sidecar, or leave runtime out when somebody else runs the model server",
            )


def sidecar_is_declared(draft: Draft) -> Iterator[Finding]:
    """S4-63, S4-132: a sidecar is declared exactly when it ends TLS."""
    for name, endpoint in draft.claim.endpoints.items():
        place: Place = ("endpoints", name, "sidecar")
        if behind_a_sidecar(endpoint) and endpoint.sidecar is None:
            yield Finding(
                place,
                "is missing, and the termination is light_gateway_sidecar",
                "Add sidecar: {profileVersion: model-provider-sidecar/v1}",
            )
        if endpoint.sidecar is not None and not behind_a_sidecar(endpoint):
            yield Finding(place, "is declared, and the termination is native", "Set termination, or remove the sidecar")


def sidecar_boundary(draft: Draft) -> Iterator[Finding]:
    """S4-68, S4-84: a sidecar answers below `/v1` alone, and asks for a credential."""
    for name, endpoint in draft.claim.endpoints.items():
        if not behind_a_sidecar(endpoint) or (endpoint.runtime and endpoint.runtime.placement == "pod"):
            continue
        url = base_url(endpoint.base_url)
        if url is not None and url.path != "/v1":
            yield Finding(("endpoints", name, "baseUrl"), "must have the path /v1 behind a sidecar", "End it with /v1")
        if endpoint.endpoint_auth.mode == "none" and endpoint.network_profile.mode == "private_tls":
            yield Finding(
                ("endpoints", name, "endpointAuth", "mode"),
                "must be bearer or api_key behind a sidecar",
                "Name a credentialRef",
            )


def runtime_address(draft: Draft) -> Iterator[Finding]:
    """S4-66, S4-89: the runtime's own port is a valid one that the sidecar does not have."""
    for name, endpoint, runtime in _runtimes(draft):
        port = runtime.loopback_port
        url = base_url(endpoint.base_url)
        taken = {SIDECAR_PORT, GUARD_PROBE_PORT} | ({url.port} if url is not None else set())
        if not behind_a_sidecar(endpoint):
            taken = set()
        place: Place = ("endpoints", name, "runtime", "loopback")
        if port > 65535:
            yield Finding(place, "has a port above 65535", "Choose a port from 1024 to 65535")
        elif port in taken:
            yield Finding(place, "has a port that the sidecar needs", "Choose another port")
        elif port < 1024:
            yield Finding(place, "has a port that needs root", "Choose a port from 1024 to 65535")


def runtime_credential(draft: Draft) -> Iterator[Finding]:
    """S4-51: the endpoint's credential and the runtime's own are two."""
    for name, endpoint, runtime in _runtimes(draft):
        if runtime.credential_ref is None or runtime.placement == "pod":
            continue
        auth = endpoint.endpoint_auth
        if auth.mode != "none" and auth.credential_ref == runtime.credential_ref:
            yield Finding(
                ("endpoints", name, "runtime", "credentialRef"),
                "is the endpoint's credential, which the sidecar must not pass on",
                "Give the runtime a credential of its own",
            )


def model_sources(draft: Draft) -> Iterator[Finding]:
    """S1-1, S2-6, U-22: each model has exactly one source, which its engine and its place can use."""
    for name, _, runtime in _runtimes(draft):
        for index, model in enumerate(runtime.models):
            place: Place = ("endpoints", name, "runtime", "models", index, "source")
            given = [field for field in SOURCES if getattr(model.source, field) is not None]
            if len(given) != 1:
                found = "names no source" if not given else "names more than one source"
                yield Finding(place, found, f"Name exactly one of {', '.join(SOURCES.values())}")
                continue
            yield from _usable(draft, (*place, SOURCES[given[0]]), model.source, runtime)


def _usable(draft: Draft, place: Place, source: ModelSource, runtime: Runtime) -> Iterator[Finding]:
    file = source.url or source.file or (source.hugging_face.file if source.hugging_face else None)
    file = file or (source.image.path if source.image else None)
    if source.ollama is not None and runtime.engine != "ollama":
        yield Finding(place, "is for the engine ollama", "Name a GGUF file")
    elif file is not None and runtime.engine in ("ollama", "llamaCpp") and not file.lower().endswith(".gguf"):
        yield Finding(place, f"is not a GGUF file, which {runtime.engine} needs", "Name a file that ends with .gguf")
    if source.file is not None and runtime.placement == "pod":
        yield Finding(place, "is a file of a host, and the runtime is a Pod", "Use image, huggingFace or url")
    if source.image is not None and runtime.placement == "host":
        yield Finding(place, "is not supported yet on a host", "Use huggingFace, url, ollama or file")
    if source.image is None or not draft.valid("policy", "images"):
        return
    if draft.claim.policy.images == "pinned" and "@sha256:" not in source.image.ref:
        yield Finding(
            (*place, "ref"),
            "has no digest",
            "Append @sha256:<digest>; only hearth:policy.images localBuild takes a tag",
        )


def one_model_engines(draft: Draft) -> Iterator[Finding]:
    """A llama.cpp server has one model."""
    for name, _, runtime in _runtimes(draft):
        if runtime.engine == "llamaCpp" and len(runtime.models) > 1:
            yield Finding(
                ("endpoints", name, "runtime", "models"),
                "has more than one model, and a llama.cpp server has one",
                "Declare an endpoint for each model",
            )


def served_names(draft: Draft) -> Iterator[Finding]:
    """A name that a program is started with is a name alone: no option, and nothing that systemd or a shell expands."""
    for name, deployment in draft.claim.deployments.items():
        endpoint = draft.endpoint_of(deployment)
        if endpoint is None or endpoint.runtime is None:
            continue
        ollama = endpoint.runtime.engine == "ollama"
        if not (OLLAMA_NAME if ollama else SERVED_NAME).match(deployment.model):
            yield Finding(
                ("deployments", name, "model"),
                f"is not a name that Hearth can start {endpoint.runtime.engine} with",
                "Use lower-case letters, digits and . _ - with / between at most three parts and : before a tag"
                if ollama
                else "Use 1 to 200 letters, digits and . _ : / @ + -, and begin with a letter or digit",
            )


def built_engines(draft: Draft) -> Iterator[Finding]:
    """The local build has no image of Ollama."""
    for name, _, runtime in _runtimes(draft):
        local = draft.valid("policy", "images") and draft.claim.policy.images == "localBuild"
        if local and runtime.placement == "pod" and runtime.engine == "ollama":
            yield Finding(
                ("endpoints", name, "runtime", "engine"),
                "is ollama, which the images of hearth:policy.images localBuild do not have",
                "Use llamaCpp, or the images pinned",
            )


def built_images(draft: Draft) -> Iterator[Finding]:
    """Images that are built here come from no registry."""
    policy = draft.claim.policy
    if draft.valid("policy", "images") and policy.images == "localBuild" and policy.registry.mirror is not None:
        yield Finding(
            ("policy", "registry", "mirror"),
            "has no meaning with images localBuild, which come from no registry",
            "Remove it, or use the images pinned",
        )


def engine_fields(draft: Draft) -> Iterator[Finding]:
    """Nothing that is declared is ignored: each field of a runtime is one that its engine and its place have."""
    for name, _, runtime in _runtimes(draft):
        place: Place = ("endpoints", name, "runtime")
        if runtime.chat_template is not None and runtime.engine == "ollama":
            yield Finding((*place, "chatTemplate"), "has no meaning for ollama", "Remove it")
        if runtime.pooling is not None and runtime.engine == "ollama":
            yield Finding((*place, "pooling"), "has no meaning for ollama", "Remove it")
        elif runtime.pooling is not None and not _only_embeds(draft, name):
            yield Finding((*place, "pooling"), "has no meaning for a runtime that does not embed", "Remove it")
        if runtime.chat_template is not None and _only_embeds(draft, name):
            yield Finding((*place, "chatTemplate"), "has no meaning for a runtime that embeds", "Remove it")
        if runtime.threads is not None and runtime.engine == "ollama" and runtime.placement == "host":
            yield Finding((*place, "threads"), "has no meaning for ollama on a host", "Remove it")
        if "keep_alive_seconds" in runtime.model_fields_set and runtime.engine == "llamaCpp":
            yield Finding(
                (*place, "keepAliveSeconds"), "has no meaning for llamaCpp, which keeps its model", "Remove it"
            )


def _only_embeds(draft: Draft, name: str) -> bool:
    return only_vectors({operation for found in draft.claim.deployments_on(name) for operation in found.operations})


Boundary = tuple[object, ...]


def _boundary(endpoint: Endpoint) -> Boundary:
    """Return what every endpoint of one runtime has to have in common."""
    url, profile = base_url(endpoint.base_url), endpoint.network_profile
    return (
        (url.scheme, url.host, url.port) if url else None,
        profile.mode,
        profile.termination,
        profile.network_zone_id,
        profile.tls.trust_bundle if profile.tls else None,
        endpoint.endpoint_auth.mode,
    )


def _strength(endpoint: Endpoint) -> tuple[bool, bool, bool]:
    """Order boundaries: encrypted, behind a sidecar, with a credential."""
    profile = endpoint.network_profile
    return profile.mode != "private_plaintext", behind_a_sidecar(endpoint), endpoint.endpoint_auth.mode != "none"


def one_boundary_for_one_runtime(draft: Draft) -> Iterator[Finding]:
    """S4-87: no runtime is registered a second time through a raw or weaker endpoint."""
    strongest: dict[str, str] = {}
    measured = {name: item for name, item in draft.claim.endpoints.items() if item.runtime_capacity is not None}
    for name in sorted(measured, key=lambda item: _strength(measured[item]), reverse=True):
        endpoint = measured[name]
        capacity = endpoint.runtime_capacity
        if capacity is None:
            continue
        first = strongest.setdefault(capacity.physical_runtime_id, name)
        if first == name:
            continue
        place: Place = ("endpoints", name, "runtimeCapacity", "physicalRuntimeId")
        if _boundary(measured[first]) != _boundary(endpoint):
            how = "weaker" if _strength(endpoint) < _strength(measured[first]) else "different"
            yield Finding(
                place,
                f"is the runtime of the endpoint {first}, reached through a {how} boundary",
                "Use one address, profile and credential mode for one runtime, or name another runtime",
            )
        other = measured[first].runtime_capacity
        if other is not None and other.capacity_domain_id != capacity.capacity_domain_id:
            yield Finding(
                ("endpoints", name, "runtimeCapacity", "capacityDomainId"),
                f"differs from that of the endpoint {first}, which has the same runtime",
                "One runtime is in one capacity domain",
            )


def one_runtime_behind_one_address(draft: Draft) -> Iterator[Finding]:
    """S4-87: one host and port is one runtime, whatever the endpoints call it."""
    first: dict[tuple[object, int], tuple[str, str]] = {}
    for name, endpoint in draft.claim.endpoints.items():
        url, capacity = base_url(endpoint.base_url), endpoint.runtime_capacity
        if url is None or capacity is None or endpoint.network_profile.mode == "public_tls":
            continue
        other, runtime_id = first.setdefault((url.host, url.port), (name, capacity.physical_runtime_id))
        if runtime_id != capacity.physical_runtime_id:
            yield Finding(
                ("endpoints", name, "runtimeCapacity", "physicalRuntimeId"),
                f"differs from that of the endpoint {other}, which has the same host and port",
                "Name the same runtime in both",
            )


def no_way_past_a_sidecar(draft: Draft) -> Iterator[Finding]:
    """S4-87: no endpoint is the port of a runtime that another endpoint has a sidecar in front of."""
    behind: dict[tuple[str, int], str] = {}
    for name, endpoint in draft.claim.endpoints.items():
        port = _runtime_port(endpoint)
        if port is not None:
            behind.update({(host, port): name for host in _hosts(endpoint)})
    for name, endpoint in draft.claim.endpoints.items():
        url = base_url(endpoint.base_url)
        if url is None:
            continue
        found = {behind[host, url.port] for host in _hosts(endpoint) if (host, url.port) in behind}
        for other in sorted(found - {name}):
            # What Hearth installs under one name is judged as a host (rules/hosts.py).
            of_host, named = draft.claim.endpoints[other], base_url(draft.claim.endpoints[other].base_url)
            if of_host.runtime is not None and named is not None and named.host == url.host:
                continue
            yield Finding(
                ("endpoints", name, "baseUrl"),
                f"is the runtime of the endpoint {other}, reached past its sidecar",
                "Use the sidecar's address",
            )


def _runtime_port(endpoint: Endpoint) -> int | None:
    """Return the port that a runtime on a host listens on behind its sidecar; none where there is none, or in a Pod."""
    if endpoint.sidecar is None or (endpoint.runtime is not None and endpoint.runtime.placement != "host"):
        return None
    if endpoint.runtime is None:
        return endpoint.sidecar.runtime_port
    return endpoint.runtime.loopback_port


def _hosts(endpoint: Endpoint) -> set[str]:
    """Return what an endpoint's host is called: the name of its URL, and the address that the claim gives it."""
    url = base_url(endpoint.base_url)
    return {str(host) for host in (url.host if url else None, endpoint.network_profile.address) if host is not None}


RULES: Final = (
    in_a_pod,
    on_a_host,
    sidecar_is_declared,
    sidecar_boundary,
    runtime_address,
    runtime_credential,
    model_sources,
    one_model_engines,
    served_names,
    built_engines,
    built_images,
    engine_fields,
    one_boundary_for_one_runtime,
    one_runtime_behind_one_address,
    no_way_past_a_sidecar,
)
