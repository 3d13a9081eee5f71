"""Which cluster is meant. It is decided here, once, and always said: ~/.kube/config is never taken by itself."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from hearth.kubeapi.errors import ClusterError, scrubbed

KUBECONFIG: Final = "KUBECONFIG"
"""Environment variable with the path of the kubeconfig."""
STACK_KUBECONFIG: Final = "kubernetes:kubeconfig"
"""Key of the stack's configuration with the path of a kubeconfig, or with a kubeconfig itself."""
STACK_CONTEXT: Final = "kubernetes:context"
"""Key of the stack's configuration with the name of a context."""


@dataclass(frozen=True)
class Cluster:
    """One cluster: a kubeconfig and a context in it, as every client gets them."""

    kubeconfig: str = field(repr=False)
    """Absolute path of one kubeconfig file, or the kubeconfig itself, which is a secret."""
    context: str
    """Context in it."""

    @property
    def is_content(self) -> bool:
        """Whether `kubeconfig` is the kubeconfig itself, with keys in it, and not the path of a file."""
        return _is_content(self.kubeconfig)

    @classmethod
    def named(
        cls, kubeconfig: str | None = None, context: str | None = None, *, stack: Mapping[str, object] | None = None
    ) -> "Cluster":
        """Return the cluster that is named: by the call, else by the stack's configuration, else by KUBECONFIG.

        Args:
            kubeconfig: path of a kubeconfig, several as in KUBECONFIG, or a kubeconfig itself.
            context: context in it; without one anywhere, the kubeconfig's current context.
            stack: configuration of the stack by key.

        Raises:
            ClusterError: nothing names a kubeconfig, or it cannot be read, or it has no such context.
        """
        values = stack or {}
        source = kubeconfig or _plain(values, STACK_KUBECONFIG) or os.environ.get(KUBECONFIG, "")
        if not source:
            raise ClusterError(
                f"which cluster is meant is not said: set {KUBECONFIG} to the path of the cluster's kubeconfig "
                "(`. local/env.sh` does it for the local cluster). Hearth never takes ~/.kube/config by itself."
            )
        return cls(*_chosen(source, context or _plain(values, STACK_CONTEXT)))


def unusable(kubeconfig: str, reason: str) -> ClusterError:
    """Return the error of a kubeconfig that does not lead to a cluster.

    Args:
        kubeconfig: its path, which is shown, or its content, which is not.
        reason: what is wrong with it.
    """
    source = "of the stack's configuration" if _is_content(kubeconfig) else kubeconfig
    return ClusterError(
        f"the kubeconfig {source} does not lead to a cluster: {scrubbed(reason)}. "
        f"Set {KUBECONFIG}, or {STACK_KUBECONFIG} and {STACK_CONTEXT} of the stack, to the cluster that is meant."
    )


def _is_content(kubeconfig: str) -> bool:
    return "\n" in kubeconfig or kubeconfig.lstrip().startswith("{")


def _plain(values: Mapping[str, object], key: str) -> str | None:
    value = values.get(key)
    if value is None or isinstance(value, str):
        return value
    raise ClusterError(
        f"{key} of the stack file is encrypted, or no text, and cannot be read here: "
        "name the cluster in the call, with --kubeconfig and --context"
    )


def _chosen(source: str, context: str | None) -> tuple[str, str]:
    """Return one kubeconfig, as a path or as itself, and the context in it.

    KUBECONFIG may name several files. Pulumi's Kubernetes provider takes one, so the one that has all of the context
    is taken; what is in several parts is refused.
    """
    files = _contents(source)
    chosen = context or next((name for name in (file.get("current-context") for file in files.values()) if name), None)
    if not chosen:
        raise unusable(source, "it has no current context, and none was named")
    found = _first(files, "contexts", chosen)
    if found is None:
        raise unusable(source, f"it has no context {chosen}")
    place, entry = found
    for kind, part in (("clusters", "cluster"), ("users", "user")):
        other = _first(files, kind, str((entry.get("context") or {}).get(part)))
        if other is not None and other[0] != place:
            raise unusable(
                source,
                f"the {part} of the context {chosen} is in another file than the context; "
                f"`kubectl config view --flatten --context {chosen} > FILE` makes one file of them",
            )
    return place, str(chosen)


def _contents(source: str) -> dict[str, dict[str, Any]]:
    """Return what is in each file, by its absolute path; or the one content by itself.

    Raises:
        ClusterError: a file cannot be read. Of several, those that are missing are passed over, as kubectl does.
    """
    import yaml

    try:
        if _is_content(source):
            texts = {source: source}
        else:
            paths = [Path(part).expanduser().absolute() for part in source.split(os.pathsep) if part]
            there = [path for path in paths if path.exists()] or paths[:1]
            texts = {str(path): path.read_text(encoding="utf-8") for path in there}
        loaded = {place: yaml.safe_load(text) for place, text in texts.items()}
    except (OSError, UnicodeDecodeError) as error:
        raise unusable(source, str(error)) from None
    except yaml.YAMLError:
        raise unusable(source, "it is not YAML") from None
    return {place: content if isinstance(content, dict) else {} for place, content in loaded.items()}


def _first(files: Mapping[str, Mapping[str, Any]], kind: str, name: str) -> tuple[str, dict[str, Any]] | None:
    """Return the first entry of a kind and a name, and the file that it is in."""
    for place, content in files.items():
        for entry in content.get(kind) or ():
            if isinstance(entry, dict) and entry.get("name") == name:
                return place, entry
    return None
