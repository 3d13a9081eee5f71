"""How commands name a cluster: `--kubeconfig` and `--context`, else as the stack and the environment do."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from hearth.claim.loader import LoadedClaim
from hearth.kubeapi.client import KubernetesApi
from hearth.kubeapi.cluster import Cluster
from hearth.kubeapi.errors import ClusterError

KubeconfigOption = Annotated[
    Path | None,
    typer.Option(
        "--kubeconfig",
        help="Kubeconfig of the cluster. Without it: kubernetes:kubeconfig of the stack, or KUBECONFIG; "
        "never ~/.kube/config by itself.",
    ),
]
"""`--kubeconfig`."""
ContextOption = Annotated[
    str | None,
    typer.Option("--context", help="Context in it. Without it: kubernetes:context of the stack, or its current one."),
]
"""`--context`."""


def cluster_named(kubeconfig: Path | None, context: str | None, loaded: LoadedClaim) -> KubernetesApi:
    """Return the cluster that a command line means; end with exit code 2 where there is none."""
    try:
        named = Cluster.named(str(kubeconfig) if kubeconfig else None, context, stack=loaded.other_config)
        return KubernetesApi(named)
    except ClusterError as error:
        print(f"hearth: {error}", file=sys.stderr)
        raise typer.Exit(2) from None
