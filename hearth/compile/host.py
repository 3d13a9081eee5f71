"""What a host has to run for the endpoints that live on it: the plan that the Ansible roles carry out (S4-147)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from hearth.claim.endpoints import RuntimeModel
from hearth.claim.hosts import Installed, by_runtime, names_from_outside, on_one_host
from hearth.claim.names import tagged_model
from hearth.claim.operations import only_vectors
from hearth.claim.problems import ClaimError, Problem
from hearth.claim.translate import render_path
from hearth.compile.sidecar import compile_sidecar, host_layout
from hearth.topology.topology import Topology
from hearth.topology.upstreams import Upstream

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
    embedding: bool
    """Whether its deployments ask for vectors alone."""


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
    pooling: str | None
    """How llama.cpp makes one vector of an input; the model file's own way when none."""
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
    """Digest of what its configuration means, as `/sidecar/identity` shows it (S4-85)."""
    files_sha256: str
    """Digest of its files' text, as `/sidecar/identity` shows it: by it a role knows that the new text is read."""
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


def _model(model: RuntimeModel, name: str, embedding: bool) -> HostModel:
    source, digest = model.source, model.digest.removeprefix("sha256:")
    if source.ollama is not None:
        return HostModel(source.ollama, "ollama", source.ollama, digest, embedding)
    if source.file is not None:
        return HostModel(name, "file", source.file, digest, embedding)
    if source.hugging_face is not None:
        found = source.hugging_face
        url = f"https://huggingface.co/{found.repo}/resolve/{found.revision}/{found.file}"
        return HostModel(name, "url", url, digest, embedding)
    if source.url is not None:
        return HostModel(name, "url", source.url, digest, embedding)
    raise AssertionError("the rules accept no other source for a runtime on a host")


def _installed(upstream: Upstream) -> Installed:
    runtime = upstream.runtime
    if runtime is None or upstream.capacity is None:
        raise AssertionError("the rules accept no endpoint on a host without a runtime and its capacity")
    return Installed(
        name=upstream.id.name,
        engine=runtime.engine,
        loopback_port=runtime.loopback.port,
        runtime=(runtime, upstream.capacity, upstream.mode),
        models=runtime.models,
        wanted=frozenset(upstream.models),
        operations=frozenset(upstream.operations),
        port=upstream.address.port,
        plaintext=upstream.mode == "private_plaintext",
    )


def _runtime(topology: Topology, group: Sequence[Installed]) -> HostRuntime:
    """Return the runtime that the endpoints share."""
    first = topology.endpoint(group[0].name)
    runtime, capacity, name = first.runtime, first.capacity, first.id.name
    if runtime is None or capacity is None or runtime.engine == "vllm":
        raise AssertionError("the rules accept no other runtime on a host")
    wanted = {model for endpoint in group for model in endpoint.wanted}
    own_name = next(iter(names_from_outside(runtime.engine, runtime.models, wanted)), name)
    named = [(model, model.source.ollama or own_name) for model in runtime.models]
    upstreams = [topology.endpoint(endpoint.name) for endpoint in group]

    def embeds(name: str) -> bool:
        asked = [upstream for upstream in upstreams if tagged_model(name) in map(tagged_model, upstream.models)]
        return bool(asked) and all(topology.model_embeds(upstream, name) for upstream in asked)

    plaintext = first.mode == "private_plaintext"
    return HostRuntime(
        name=name,
        unit=f"hearth-{UNIT_NAMES[runtime.engine]}-{name}",
        engine=runtime.engine,
        address="0.0.0.0" if plaintext else runtime.loopback.number,  # noqa: S104 - approved plaintext, limited by the firewall
        port=first.address.port if plaintext else runtime.loopback.port,
        models=tuple(_model(model, name, embeds(name)) for model, name in named),
        embedding=only_vectors({operation for endpoint in group for operation in endpoint.operations}),
        parallel_requests=capacity.max_parallel_requests,
        queued_requests=capacity.max_queued_requests,
        context_tokens=runtime.context_tokens,
        keep_alive_seconds=runtime.keep_alive_seconds,
        memory=_systemd_size(runtime.memory),
        pooling=runtime.pooling,
        threads=runtime.threads,
        chat_template=runtime.chat_template,
        start_timeout_seconds=-(-capacity.cold_start_timeout_ms // 1000),
        credential=_scope_and_name(runtime.credential),
        plaintext_sources=first.cidrs if plaintext else (),
    )


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
        files_sha256=compiled.files_sha256,
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
    if not upstream.on_a_host:
        return Problem(
            f"{path}.runtime.placement",
            "is not host, so nothing is installed for it",
            "Write placement: host, or leave it out of the inventory",
        )
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
    installed = [_installed(known[name]) for name in ids]
    # The claim's rules know hosts by their addresses; the inventory may put two of them on one machine.
    differing = [Problem(render_path(item.path), item.message, item.remedy) for item in on_one_host(installed)]
    if differing:
        raise ClaimError(differing)
    groups = by_runtime(installed)
    runtimes = [_runtime(topology, group) for group in groups]
    sidecars = [
        (known[endpoint.name], group[0].name) for group in groups for endpoint in group if not endpoint.plaintext
    ]
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
