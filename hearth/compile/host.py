"""What a host has to run for the endpoints that live on it: the plan that the Ansible roles carry out (S4-147)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from hearth.claim.endpoints import RuntimeModel
from hearth.claim.operations import OPERATIONS, only_vectors
from hearth.claim.problems import ClaimError, Problem
from hearth.compile.sidecar import compile_sidecar, host_layout
from hearth.topology.topology import Topology
from hearth.topology.upstreams import Runtime, Upstream

SIDECAR_TERMINATIONS: Final = ("light_gateway_sidecar", "tls_sidecar")
"""Values of `networkProfile.termination` that mean the sidecar (S4-16)."""
UNIT_NAMES: Final = {"ollama": "ollama", "llamaCpp": "llama-cpp"}
"""What an engine is called in the names of units."""


@dataclass(frozen=True)
class HostModel:
    """One model that a runtime serves."""

    name: str
    """Name that the deployments ask for it by."""
    source: Literal["file", "url", "ollama"]
    """What `location` is."""
    location: str
    """Path on the host, https address, or name in the Ollama library."""
    sha256: str
    """Digest of the file, or of the manifest for `ollama`."""


@dataclass(frozen=True)
class HostRuntime:
    """One model server on the host. Endpoints with the same loopback origin share it (S4-87)."""

    name: str
    """Name of its folders: the first of its endpoints."""
    unit: str
    """Name of its systemd unit, without `.service`."""
    engine: Literal["ollama", "llamaCpp"]
    """The program."""
    address: str
    """Address that it listens on: loopback, or `0.0.0.0` for approved plaintext (S4-150)."""
    port: int
    """TCP port that it listens on."""
    models: tuple[HostModel, ...]
    """Models that it has before it counts as ready."""
    embedding: bool
    """Whether it answers embeddings instead of chats."""
    parallel_requests: int
    """Requests at once."""
    queued_requests: int
    """Requests that may wait."""
    context_tokens: int
    """Context of one request in tokens."""
    keep_alive_seconds: int
    """How long an idle model stays loaded, in seconds."""
    memory: str
    """Memory limit as systemd writes it, such as `2G`."""
    threads: int | None
    """Threads of the computation; the engine decides when none."""
    chat_template: str | None
    """llama.cpp's name of a chat template; the model file's own when none."""
    start_timeout_seconds: int
    """Longest time until the models are loaded, in seconds."""
    credential: str | None
    """`<scope>/<name>` of the runtime's own key, which only the sidecar knows (S4-51)."""
    plaintext_sources: tuple[str, ...]
    """Ranges that may reach it without TLS; empty unless that is approved (S4-150)."""


@dataclass(frozen=True)
class HostSidecar:
    """One TLS sidecar on the host."""

    endpoint: str
    """Endpoint id."""
    unit: str
    """Name of its systemd unit, without `.service`."""
    runtime: str
    """Name of the runtime behind it."""
    host: str
    """Name or address that its certificate must carry (S4-42)."""
    port: int
    """TCP port that it listens on."""
    operations: tuple[str, ...]
    """Operations that it lets through (S4-72)."""
    credential: str | None
    """`<scope>/<name>` of the gateway's token; none when the endpoint has no authentication."""
    credential_header: str
    """Header that the token comes in."""
    credential_is_bearer: bool
    """Whether the word Bearer stands before the token there."""
    runtime_credential: str | None
    """`<scope>/<name>` of the key that it sends to the runtime (S4-51)."""
    trust_bundle: str
    """Id of the trust bundle that its certificate must verify against."""
    trust_bundle_file: str
    """File of that bundle, relative to the project's folder."""
    config_sha256: str
    """Digest of its configuration, as `/sidecar/identity` shows it (S4-85)."""
    memory_bytes: int
    """Memory that one process of it may need, in bytes."""
    files: Mapping[str, str]
    """Its configuration files by name; none of them holds a secret."""


@dataclass(frozen=True)
class HostPort:
    """A TCP port that is open to the network."""

    port: int
    """TCP port."""
    sources: tuple[str, ...]
    """Ranges that may connect; any when empty."""


@dataclass(frozen=True)
class HostPlan:
    """Everything that runs on one host."""

    runtimes: tuple[HostRuntime, ...]
    """Model servers, by name."""
    sidecars: tuple[HostSidecar, ...]
    """Sidecars, by endpoint id."""
    open_ports: tuple[HostPort, ...]
    """What the firewall lets in: the sidecars, and approved plaintext from its zone (S4-150)."""
    closed_ports: tuple[int, ...]
    """Ports of the runtimes, which are refused from outside whatever listens there (S4-88)."""
    warnings: tuple[str, ...]
    """What the operator is told at every run."""


def _systemd_size(quantity: str) -> str:
    return quantity.removesuffix("i")


def _scope_and_name(reference: str | None) -> str | None:
    return reference.removeprefix("credential://") if reference else None


def token_of(upstream: Upstream) -> str | None:
    """Return `<scope>/<name>` of the token that the gateway sends; none when the endpoint has no authentication."""
    return _scope_and_name(upstream.credential.name if upstream.credential else None)


def _model(path: str, model: RuntimeModel, name: str, engine: str) -> HostModel | Problem:
    source, digest = model.source, model.digest.removeprefix("sha256:")
    if source.file is not None:
        return HostModel(name, "file", source.file, digest)
    if source.url is not None:
        return HostModel(name, "url", source.url, digest)
    if source.hugging_face is not None:
        found = source.hugging_face
        url = f"https://huggingface.co/{found.repo}/resolve/{found.revision}/{found.file}"
        return HostModel(name, "url", url, digest)
    if source.ollama is not None and engine == "ollama":
        return HostModel(source.ollama, "ollama", source.ollama, digest)
    return Problem(
        f"{path}.source",
        f"is a source that {engine} on a host cannot be given a model from",
        "Use file, url or huggingFace" + (", or ollama" if engine == "ollama" else ""),
    )


def _models(upstreams: Sequence[Upstream], runtime: Runtime, problems: list[Problem]) -> tuple[HostModel, ...]:
    """Give each source the name that the deployments ask for it by."""
    path = f"hearth:endpoints.{upstreams[0].id.name}.runtime.models"
    wanted = sorted({model for upstream in upstreams for model in upstream.models})
    own = {model.source.ollama for model in runtime.models if runtime.engine == "ollama"}
    unnamed = [model for model in runtime.models if model.source.ollama is None or runtime.engine != "ollama"]
    names = [name for name in wanted if name not in own]
    if runtime.engine == "llamaCpp" and len(runtime.models) > 1:
        problems.append(Problem(path, "llama.cpp serves one model", "Give each model an endpoint of its own"))
        return ()
    if len(names) != len(unnamed) or len(names) > 1:
        problems.append(
            Problem(
                path,
                "the deployments on this runtime and its models cannot be told which belongs to which: "
                f"{len(names)} model name(s) for {len(unnamed)} source(s) without a name of their own",
                "Let exactly one deployment model name belong to the one source that is not from the Ollama library",
            )
        )
        return ()
    found = [
        _model(f"{path}[{index}]", model, names[0] if model in unnamed else "", runtime.engine)
        for index, model in enumerate(runtime.models)
    ]
    problems.extend(item for item in found if isinstance(item, Problem))
    return tuple(item for item in found if isinstance(item, HostModel))


def _runtime(upstreams: Sequence[Upstream], problems: list[Problem]) -> HostRuntime | None:
    """Return the runtime that the endpoints share."""
    first, *others = upstreams
    name, path = first.id.name, f"hearth:endpoints.{first.id.name}"
    runtime, capacity = first.runtime, first.capacity
    if runtime is None or capacity is None:
        raise AssertionError("only endpoints with a runtime and a capacity come here")
    differing = [other for other in others if not _same_runtime(first, other)]
    problems.extend(
        Problem(
            f"hearth:endpoints.{other.id.name}.runtime",
            f"differs from the runtime of {name}, which has the same loopback origin",
            "Give both endpoints the same runtime, runtimeCapacity and network mode, or loopback ports of their own",
        )
        for other in differing
    )
    if runtime.engine == "vllm":
        problems.append(
            Problem(
                f"{path}.runtime.engine",
                "vllm is not installed on hosts",
                "Use ollama or llamaCpp, or place it in a Pod",
            )
        )
        return None
    operations = {operation for upstream in upstreams for operation in upstream.operations}
    embedding = only_vectors(operations)
    mixed = not embedding and any(OPERATIONS[operation].vectors for operation in operations)
    if runtime.engine == "llamaCpp" and mixed:
        problems.append(
            Problem(
                f"{path}.runtime",
                "one llama.cpp process answers either chats or embeddings, and the deployments declare both",
                "Give the embeddings an endpoint with a runtime of its own",
            )
        )
    models = _models(upstreams, runtime, problems)
    plaintext = first.mode == "private_plaintext"
    return HostRuntime(
        name=name,
        unit=f"hearth-{UNIT_NAMES[runtime.engine]}-{name}",
        engine=runtime.engine,
        address="0.0.0.0" if plaintext else runtime.loopback.number,  # noqa: S104 - approved plaintext, limited by the firewall
        port=first.address.port if plaintext else runtime.loopback.port,
        models=models,
        embedding=embedding,
        parallel_requests=capacity.max_parallel_requests,
        queued_requests=capacity.max_queued_requests,
        context_tokens=runtime.context_tokens,
        keep_alive_seconds=runtime.keep_alive_seconds,
        memory=_systemd_size(runtime.memory),
        threads=runtime.threads,
        chat_template=runtime.chat_template,
        start_timeout_seconds=-(-capacity.cold_start_timeout_ms // 1000),
        credential=_scope_and_name(runtime.credential),
        plaintext_sources=first.cidrs if plaintext else (),
    )


def _same_runtime(one: Upstream, other: Upstream) -> bool:
    return one.runtime == other.runtime and one.capacity == other.capacity and one.mode == other.mode


def _sidecar(topology: Topology, upstream: Upstream, runtime: str) -> HostSidecar:
    endpoint_id, credential, bundle = upstream.id.name, upstream.credential, upstream.trust_bundle
    if bundle is None:
        raise AssertionError("the loader accepts no private TLS endpoint without a trust bundle")
    compiled = compile_sidecar(upstream, host_layout(upstream), gateway_replicas=topology.gateway.replicas)
    if credential is None:
        raise AssertionError("no sidecar is compiled without a credential")
    return HostSidecar(
        endpoint=endpoint_id,
        unit=f"hearth-sidecar-{endpoint_id}",
        runtime=runtime,
        host=upstream.address.host,
        port=upstream.address.port,
        operations=tuple(compiled.operations),
        credential=token_of(upstream),
        credential_header=credential.header,
        credential_is_bearer=credential.bearer,
        runtime_credential=_scope_and_name(upstream.runtime.credential if upstream.runtime else None),
        trust_bundle=bundle,
        trust_bundle_file=topology.trust_bundles[bundle].file,
        config_sha256=compiled.config_sha256,
        memory_bytes=compiled.memory_bytes,
        files=dict(compiled.files),
    )


def _refusal(known: Mapping[str, Upstream], endpoint_id: str) -> Problem | None:
    """Say why an endpoint cannot be installed on a host, if it cannot."""
    path = f"hearth:endpoints.{endpoint_id}"
    upstream = known.get(endpoint_id)
    if upstream is None:
        names = ", ".join(known) or "none"
        return Problem(path, "is not in the claim", f"Name one of its endpoints in the inventory: {names}")
    profile = upstream.profile
    if not upstream.on_a_host:
        return Problem(
            f"{path}.runtime.placement",
            "is not host, so nothing is installed for it",
            "Write placement: host, or leave it out of the inventory",
        )
    if profile.mode == "private_tls" and profile.termination not in SIDECAR_TERMINATIONS:
        return Problem(
            f"{path}.networkProfile.termination",
            "native TLS of a runtime is not installed on hosts",
            "Use light_gateway_sidecar",
        )
    if ":" in upstream.address.host:
        return Problem(
            f"{path}.baseUrl",
            "is an IPv6 address, and the sidecar of a host listens on IPv4 alone",
            "Use a DNS name or an IPv4 address",
        )
    if profile.mode == "public_tls":
        return Problem(f"{path}.networkProfile.mode", "a host endpoint is private", "Use private_tls")
    if upstream.capacity is None:
        return Problem(f"{path}.runtimeCapacity", "is missing", "Declare what the runtime can bear")
    return None


def host_plan(topology: Topology, endpoint_ids: Sequence[str]) -> HostPlan:
    """Return what a host runs for the endpoints that its inventory names.

    Raises:
        ClaimError: an endpoint is not in the claim or cannot be installed on a host; every problem at once.
    """
    ids = sorted(set(endpoint_ids))
    known = {upstream.id.name: upstream for upstream in topology.endpoints}
    problems = [problem for name in ids if (problem := _refusal(known, name)) is not None]
    if problems:
        raise ClaimError(problems)
    groups: dict[int, list[Upstream]] = {}
    for name in ids:
        runtime = known[name].runtime
        groups.setdefault(runtime.loopback.port if runtime else 0, []).append(known[name])
    runtimes = [found for group in groups.values() if (found := _runtime(group, problems)) is not None]
    sidecars = [
        (upstream, group[0].id.name)
        for group in groups.values()
        for upstream in group
        if upstream.mode == "private_tls"
    ]
    problems.extend(_port_problems(runtimes, [upstream for upstream, _ in sidecars]))
    if problems:
        raise ClaimError(problems)
    return HostPlan(
        runtimes=tuple(sorted(runtimes, key=lambda runtime: runtime.name)),
        sidecars=(
            compiled := tuple(
                _sidecar(topology, upstream, runtime)
                for upstream, runtime in sorted(sidecars, key=lambda pair: pair[0].id)
            )
        ),
        open_ports=(
            *(HostPort(sidecar.port, ()) for sidecar in compiled),
            *(HostPort(runtime.port, runtime.plaintext_sources) for runtime in runtimes if runtime.plaintext_sources),
        ),
        closed_ports=tuple(sorted(runtime.port for runtime in runtimes if not runtime.plaintext_sources)),
        warnings=tuple(
            f"{runtime.name}: prompts, answers and vectors cross the network unencrypted (private_plaintext, S4-11); "
            "a TLS sidecar is recommended"
            for runtime in runtimes
            if runtime.plaintext_sources
        ),
    )


def _port_problems(runtimes: Sequence[HostRuntime], sidecars: Sequence[Upstream]) -> list[Problem]:
    """Two programs of one host cannot listen on the same port."""
    programs = [
        (
            runtime.port,
            f"the runtime of {runtime.name}",
            f"hearth:endpoints.{runtime.name}.runtime",
            "Use another port in runtime.loopback, or in baseUrl where the runtime serves plaintext",
        )
        for runtime in runtimes
    ] + [
        (
            upstream.address.port,
            f"the sidecar of {upstream.id.name}",
            f"hearth:endpoints.{upstream.id.name}.baseUrl",
            "Use another port",
        )
        for upstream in sidecars
    ]
    taken: dict[int, str] = {}
    problems = []
    for port, program, path, remedy in programs:
        if port in taken:
            problems.append(Problem(path, f"its port {port} is also that of {taken[port]} on this host", remedy))
        taken[port] = program
    return problems
