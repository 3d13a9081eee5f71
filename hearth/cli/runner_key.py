"""`hearth runner-key`: the keys that evidence is signed with, and the store that says which are believed (S4-104)."""

import datetime
from pathlib import Path
from typing import Annotated, Final

import typer
from pydantic import TypeAdapter, ValidationError

from hearth.claim.base import ENVIRONMENT_NAME, is_environment_name
from hearth.claim.loader import project_folder
from hearth.claim.problems import ClaimError, Problem
from hearth.evidence.document import KeyId
from hearth.evidence.keys import (
    DEFAULT_DAYS,
    require_new,
    with_ended_key,
    with_new_key,
    with_revoked_key,
    write_private_key,
    write_trust_store,
)
from hearth.evidence.store import read_evidence, read_trust_store, trust_store_name
from hearth.evidence.trust import TrustStore
from hearth.evidence.verify import authenticate

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Make, renew and revoke the keys of runners. For the owners of the trust store; needs no claim.",
)

EnvironmentOption = Annotated[str, typer.Option("-s", "--stack", help="The environment whose trust store it is.")]
"""`-s`, `--stack`."""
OutputOption = Annotated[
    Path, typer.Option("-o", "--output", help="New file for the private key, outside the project's folder.")
]
"""`-o`, `--output`."""
DaysOption = Annotated[int, typer.Option("--days", min=1, max=400, help="Days that the key may sign.")]
"""`--days`."""
_KEY_ID: Final[TypeAdapter[str]] = TypeAdapter(KeyId)


def _environment(name: str) -> str:
    if not is_environment_name(name):
        raise ClaimError([Problem("-s", f"must be {ENVIRONMENT_NAME}", "Name the environment")])
    return name


def _key_id(text: str) -> str:
    try:
        return _KEY_ID.validate_python(text)
    except ValidationError:
        remedy = "Write 1 to 64 lower-case letters, digits, hyphens and points, such as home-2027-q1"
        raise ClaimError([Problem("KEY-ID", "is not well-formed", remedy)]) from None


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC).replace(microsecond=0)


def _publish(base: Path, environment: str, store: TrustStore) -> None:
    """Replace the trust store, and say which endpoints it no longer speaks for."""
    before = read_trust_store(base, environment)
    write_trust_store(base, environment, store)
    print(f"{trust_store_name(environment)} has {len(store.keys)} key(s), {len(store.approved_key_ids)} not revoked.")
    for endpoint, documents in sorted(read_evidence(base, environment).documents.items()):
        good = [data for data in documents if before and authenticate(data, before).evidence is not None]
        if good and not any(authenticate(data, store).evidence is not None for data in good):
            print(f"The evidence of {endpoint} counts no more: qualify it again, or the next pulumi up withdraws it.")


@app.command()
def new(
    key_id: Annotated[str, typer.Argument(metavar="KEY-ID", help="Name of the key, such as home-2026-q4.")],
    stack: EnvironmentOption,
    output: OutputOption,
    days: DaysOption = DEFAULT_DAYS,
) -> None:
    """Make a key: the private half in a new file with mode 0600, the public half in the trust store.

    Exit codes: 0 done, 2 the call or the trust store is wrong.
    """
    base, environment, name = project_folder(Path.cwd()), _environment(stack), _key_id(key_id)
    store = read_trust_store(base, environment)
    require_new(store, name)
    key = write_private_key(output, base)
    _publish(base, environment, with_new_key(store, name, key, now=_now(), days=days))
    print(f"The private key of {name} is in {output}. Give it to the runner, and to nobody else.")


@app.command()
def rotate(
    old: Annotated[str, typer.Argument(metavar="OLD-KEY-ID", help="The key that signs no more from now on.")],
    key_id: Annotated[str, typer.Argument(metavar="KEY-ID", help="Name of the new key.")],
    stack: EnvironmentOption,
    output: OutputOption,
    days: DaysOption = DEFAULT_DAYS,
) -> None:
    """Make a key and end another, in one change of the trust store. What the old one signed stays good.

    Exit codes: 0 done, 2 the call or the trust store is wrong.
    """
    base, environment, name = project_folder(Path.cwd()), _environment(stack), _key_id(key_id)
    now = _now()
    ended = with_ended_key(read_trust_store(base, environment), old, now=now)
    require_new(ended, name)
    key = write_private_key(output, base)
    _publish(base, environment, with_new_key(ended, name, key, now=now, days=days))
    print(f"{old} signs no more. The private key of {name} is in {output}.")


@app.command()
def revoke(
    key_id: Annotated[str, typer.Argument(metavar="KEY-ID", help="The key that is believed no more.")],
    stack: EnvironmentOption,
) -> None:
    """Stop to believe a key, whenever it signed: its holder could write any date into a document.

    Exit codes: 0 done, 2 the call or the trust store is wrong.
    """
    base, environment = project_folder(Path.cwd()), _environment(stack)
    store = with_revoked_key(read_trust_store(base, environment), _key_id(key_id))
    _publish(base, environment, store)
