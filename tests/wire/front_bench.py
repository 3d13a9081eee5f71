"""The compiled front, with what its way to the guard needs."""

from collections.abc import Sequence
from pathlib import Path

from hearth.compile.front import GuardServer, compile_front
from hearth.compile.manifests.credentials import gateway_guard_contents
from hearth.compile.names import MANAGEMENT_HEADER
from hearth.topology.topology import Topology
from tests.support.pki import Authority
from tests.wire.guard_bench import GUARD_HOST, caller_token

MANAGEMENT = "management-token-0123456789abcdef"
"""What the port for administration asks for."""
MANAGER = {MANAGEMENT_HEADER: MANAGEMENT}
"""The header with it."""
AWAY = GuardServer("llm-guard-0", GUARD_HOST, "127.0.0.1:9")
"""A guard that does not answer, for tests that do not ask it."""


def front_files(
    topology: Topology,
    folder: Path,
    *,
    guards: Sequence[GuardServer] = (AWAY,),
    authority: Authority | None = None,
    **listeners: str,
) -> dict[str, str]:
    """Return the files of a front, and write what it calls the guard with.

    Args:
        topology: the topology.
        folder: where the files will be.
        guards: replicas of the guard.
        authority: CA of their certificates.
        listeners: arguments of `compile_front` about where it listens and what is behind.
    """
    guard = folder / "guard"
    guard.mkdir(exist_ok=True)
    tokens = {upstream.name: caller_token(upstream.name) for upstream in topology.upstreams}
    pem = (authority or Authority("nobody's CA")).pem
    for name, text in gateway_guard_contents(tokens, authority=pem, management_token=MANAGEMENT).items():
        (guard / name).write_text(text)
    directories = {"config_directory": str(folder), "guard_directory": str(guard)}
    return dict(compile_front(topology, guards=guards, **directories, **listeners).files)  # type: ignore[arg-type]
