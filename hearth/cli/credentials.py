"""`hearth credentials`: tokens of providers, and credentials of endpoints that others run (S3-32 … S3-43)."""

import getpass
import json
import sys
from dataclasses import asdict
from typing import Annotated, Any, NoReturn

import typer

from hearth.claim.names import NAMESPACE
from hearth.claim.problems import ClaimError, Problem, listed
from hearth.cli.cluster import ContextOption, KubeconfigOption, cluster_named
from hearth.cli.common import FileOption, JsonOption, StackOption, load
from hearth.gatewayapi.credentials import (
    LONGEST,
    Place,
    is_credential,
    made_here,
    places,
    provider_place,
    reference_place,
    restart_guard,
    statuses,
    supply,
    withdraw,
)
from hearth.kubeapi.client import KubernetesApi
from hearth.kubeapi.errors import ClusterError
from hearth.topology.resolve import resolve
from hearth.topology.topology import Topology

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Supply, remove and list credentials: tokens of providers, and what endpoints run by others ask for.",
)

ProviderArgument = Annotated[str | None, typer.Argument(help="Name of the provider.", show_default=False)]
"""The provider."""
EndpointOption = Annotated[
    str | None, typer.Option("--endpoint", help="In place of a provider: a reference credential://<scope>/<name>.")
]
"""`--endpoint`."""
RestartOption = Annotated[
    bool, typer.Option("--restart/--no-restart", help="Restart the gateway's Pods one after another.")
]
"""`--restart`, `--no-restart`."""


@app.command("set")
def set_credential(
    provider: ProviderArgument = None,
    endpoint: EndpointOption = None,
    stack: StackOption = None,
    file: FileOption = None,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
    restart: RestartOption = True,
) -> None:
    """Write one credential, read from standard input, and restart the gateway so that it is used.

    It is stored without being tried: `Token supplied` does not mean that it works (S3-43).

    Exit codes: 0 done, 1 the cluster refused, 2 the claim or the call is wrong.
    """
    loaded = load(stack, file)
    place = _named(resolve(loaded.claim), provider, endpoint)
    value = _from_standard_input(place)
    kubernetes = cluster_named(kubeconfig, context, loaded)
    try:
        if not supply(kubernetes, place, value):
            print(f"{place.name}: the same credential is there already; nothing was changed.")
            return
        print(f"{place.name}: supplied, in {NAMESPACE}/{place.secret} as {place.key}.")
        _restart(kubernetes, place, restart)
    except ClusterError as error:
        _fail(error)


@app.command("remove")
def remove_credential(
    provider: ProviderArgument = None,
    endpoint: EndpointOption = None,
    stack: StackOption = None,
    file: FileOption = None,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
    restart: RestartOption = True,
) -> None:
    """Remove one credential, also of a provider that the claim names no longer. Its models then answer 401.

    Exit codes: 0 done, 1 there is none or the cluster refused, 2 the claim or the call is wrong.
    """
    loaded = load(stack, file)
    place = _place(provider, endpoint)
    kubernetes = cluster_named(kubeconfig, context, loaded)
    try:
        if not withdraw(kubernetes, place):
            print(f"{place.name}: there is no credential to remove.", file=sys.stderr)
            raise typer.Exit(1)
        print(f"{place.name}: removed from {NAMESPACE}/{place.secret}.")
        _restart(kubernetes, place, restart)
    except ClusterError as error:
        _fail(error)


@app.command("list")
def list_credentials(
    stack: StackOption = None,
    file: FileOption = None,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
    as_json: JsonOption = False,
) -> None:
    """List every credential that the claim has a place for, and whether it was supplied. Values are never shown.

    Exit codes: 0 all are supplied, 1 one is missing or the cluster refused, 2 the claim or the call is wrong.
    """
    loaded = load(stack, file)
    kubernetes = cluster_named(kubeconfig, context, loaded)
    try:
        rows = statuses(kubernetes, resolve(loaded.claim))
    except ClusterError as error:
        _fail(error)
    table: list[dict[str, Any]] = [{**asdict(place), "status": status} for place, status in rows]
    if as_json:
        print(json.dumps(table, indent=2))
    else:
        _print(table)
    if any(status not in ("Token supplied", "Not named") for _, status in rows):
        raise typer.Exit(1)


def _print(table: list[dict[str, Any]]) -> None:
    if not table:
        print("The claim needs no credential of yours.")
        return
    lines = [["KIND", "NAME", "SECRET", "PROPERTY", "STATUS"]]
    lines += [[row[field] for field in ("kind", "name", "secret", "key", "status")] for row in table]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for line in lines:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())


def _wrong_call(what: str, remedy: str) -> ClaimError:
    return ClaimError([Problem("hearth credentials", what, remedy)])


def _place(provider: str | None, endpoint: str | None) -> Place:
    if (provider is None) == (endpoint is None):
        raise _wrong_call("the call must name one credential", "Give either a provider or --endpoint credential://…")
    return provider_place(provider) if provider is not None else reference_place(endpoint or "")


def _named(topology: Topology, provider: str | None, endpoint: str | None) -> Place:
    """Return the place that the call names, if the claim has one of that name.

    Raises:
        ClaimError: it has none; what it has is listed.
    """
    wanted = _place(provider, endpoint)
    named = places(topology)
    found = next((place for place in named if (place.secret, place.name) == (wanted.secret, wanted.name)), None)
    if found is None and wanted.name in made_here(topology):
        raise _wrong_call("Hearth makes this credential itself", "There is nothing to supply: its endpoint is in a Pod")
    if found is None:
        there = listed(sorted(place.name for place in named if place.secret == wanted.secret))
        what = "provider" if provider is not None else "credential of an endpoint that others run"
        raise _wrong_call(f"the claim has no such {what}", f"It has {there}")
    return found


def _from_standard_input(place: Place) -> str:
    """Return the credential: one line of standard input, or what is typed without being shown.

    Raises:
        ClaimError: it cannot be a credential. It is not repeated.
    """
    if sys.stdin.isatty():
        value = getpass.getpass(f"Credential of {place.name} (not shown): ")
    else:
        value = sys.stdin.read(LONGEST + 3).removesuffix("\n").removesuffix("\r")
    if not is_credential(value):
        raise _wrong_call(
            "standard input holds no credential",
            f"It must be one line of printable ASCII without spaces at its ends, at most {LONGEST} characters: "
            "`hearth credentials set … < FILE`",
        )
    return value


def _restart(kubernetes: KubernetesApi, place: Place, wanted: bool) -> None:
    if not wanted:
        print("The guard was not restarted, and goes on with what it started with.")
    elif restart_guard(kubernetes, place):
        print("The guard has restarted, one Pod after another, and uses what is there now.")
    else:
        print("There is no guard yet; it will start with the credential.")


def _fail(error: ClusterError) -> NoReturn:
    print(f"hearth: {error}", file=sys.stderr)
    raise typer.Exit(1) from None
