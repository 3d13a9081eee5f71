"""`hearth preflight`: what an environment needs of its cluster, looked at before the first `pulumi up`."""

import datetime
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Final

import typer
import yaml

from hearth.claim.problems import ClaimError
from hearth.cli.cluster import ContextOption, KubeconfigOption, cluster_named
from hearth.cli.common import FileOption, JsonOption, StackOption, load
from hearth.cluster.enforcement import policies_are_enforced
from hearth.cluster.owned import require_owned
from hearth.cluster.preflight import Finding, State, cluster_role, preflight, rights
from hearth.compile.manifests.groups import known_groups
from hearth.environment import compile_environment
from hearth.kubeapi.errors import ClusterError

app = typer.Typer(add_completion=False)

NetworkOption = Annotated[
    bool,
    typer.Option(
        "--network",
        help="Also try whether NetworkPolicies are enforced, with Pods in a namespace that is deleted again.",
    ),
]
"""`--network`."""
RoleOption = Annotated[
    bool, typer.Option("--role", help="Print the ClusterRole that whoever deploys needs, and look at no cluster.")
]
"""`--role`."""
_WORDS: Final[dict[State, str]] = {"good": "good", "unknown": "unknown", "warning": "WARNING", "refused": "MISSING"}


@app.command("preflight")
def look(
    stack: StackOption = None,
    file: FileOption = None,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
    network: NetworkOption = False,
    role: RoleOption = False,
    as_json: JsonOption = False,
) -> None:
    """Look whether a cluster is fit for an environment, and say everything that it lacks; nothing is changed there.

    Exit codes: 0 nothing is missing, 1 something is or the cluster refused, 2 the claim or the call is wrong.
    """
    loaded = load(stack, file)
    compiled = compile_environment(loaded, now=datetime.datetime.now(datetime.UTC))
    topology = compiled.topology
    made = known_groups(topology, compiled.artefacts)
    if role:
        print(yaml.safe_dump(cluster_role(rights(made)), sort_keys=False), end="")
        return
    kubernetes = cluster_named(kubeconfig, context, loaded)
    found: list[Finding] = []

    def looked_at() -> Iterator[Finding]:
        yield from preflight(kubernetes, topology, made)
        try:
            require_owned(kubernetes, topology, made)
            yield Finding("names", "good", "nothing in the cluster is in the way")
        except ClaimError as error:
            for problem in error.problems:
                yield Finding("names", "refused", f"{problem.path}: {problem.message}", problem.remedy)
        if network:
            yield policies_are_enforced(kubernetes, topology.policy)

    try:
        for each in looked_at():
            found.append(each)
            if not as_json:
                print(
                    f"{_WORDS[each.state]:8s} {each.check}: {each.what}" + (f". {each.remedy}." if each.remedy else "")
                )
    except ClusterError as error:
        if not as_json:
            print(f"hearth: {error}", file=sys.stderr)
        found.append(Finding("cluster", "refused", str(error)))
    if as_json:
        print(json.dumps([asdict(each) for each in found], indent=2))
    elif not network:
        print("unknown  network: whether NetworkPolicies are enforced; --network tries it.")
    if any(each.state == "refused" for each in found):
        raise typer.Exit(1)
