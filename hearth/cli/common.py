"""How commands name a claim: `-s <environment>` or `-f FILE`."""

from pathlib import Path
from typing import Annotated

import typer

from hearth.claim.claim import Claim
from hearth.claim.loader import LoadedClaim, load_claim_file, project_folder, stack_file
from hearth.claim.problems import ClaimError, Problem
from hearth.claim.resolver import Resolver

StackOption = Annotated[
    str | None, typer.Option("-s", "--stack", help="The environment: stacks/Pulumi.<stack>.yaml of this project.")
]
"""`-s`, `--stack`."""
FileOption = Annotated[Path | None, typer.Option("-f", "--file", help="A stack file.")]
"""`-f`, `--file`."""
JsonOption = Annotated[bool, typer.Option("--json", help="Write JSON to standard output.")]
"""`--json`."""


def claim_file(stack: str | None, file: Path | None) -> Path:
    """Return the stack file that a command line names.

    Raises:
        ClaimError: it names none or two, or there is no such stack.
    """
    if (stack is None) == (file is None):
        raise ClaimError([Problem("hearth", "the call must name one claim", "Give either -s <stack> or -f FILE")])
    if file is not None:
        return file
    return stack_file(stack or "", project_folder(Path.cwd()))


def load(
    stack: str | None, file: Path | None, *, resolver: Resolver | None = None, deployed: Claim | None = None
) -> LoadedClaim:
    """Return the claim that a command line names.

    Raises:
        ClaimError: the call is wrong or the claim is refused.
    """
    return load_claim_file(claim_file(stack, file), resolver=resolver, deployed=deployed)
