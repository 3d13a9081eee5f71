"""Entry point of the `hearth` command: the table of its sub-commands, and what they have in common when they fail."""

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NoReturn

import typer
from typer.core import TyperGroup

from hearth.claim.problems import ClaimError, Problem

# The class between BadParameter, which typer offers, and the errors of its parser, which it does not.
UsageError: Final[type[Any]] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "UsageError")

COMMANDS: Final[dict[str, str]] = {
    "check": "hearth.cli.check",
    "credentials": "hearth.cli.credentials",
    "evidence": "hearth.cli.evidence",
    "measure": "hearth.cli.measure",
    "preflight": "hearth.cli.preflight",
    "qualify": "hearth.cli.qualify",
    "render": "hearth.cli.render",
    "runner-key": "hearth.cli.runner_key",
    "schema": "hearth.cli.schema",
    "token-server": "hearth.cli.token_server",
}
"""Sub-commands by name. Each module has a `typer.Typer` called `app`; it is imported when its command is used, so
that no command waits for what only another one needs."""

DONE, NOT_SO, WRONG_CALL = 0, 1, 2
"""Exit codes: done; what was asked about is not so, or Hearth failed; the claim or the call is wrong."""


class Commands(TyperGroup):
    """The sub-commands of the table."""

    def list_commands(self, _: Any) -> list[str]:
        """Return the names for the help text."""
        return list(COMMANDS)

    def get_command(self, _: Any, cmd_name: str) -> Any:
        """Return a sub-command, or `None` when there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        command = typer.main.get_command(import_module(COMMANDS[cmd_name]).app)
        command.name = cmd_name
        return command


app = typer.Typer(cls=Commands, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@app.callback()
def root() -> None:
    """Hearth: a private LLM platform from one claim per environment."""


def _defect(error: BaseException) -> str:
    """Return one line about an exception that nobody expected: where it happened, never what it says.

    The text of an exception may hold a value of the claim or a secret.
    """
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if f"{os.sep}hearth{os.sep}" in frame.filename] or frames
    place = f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "an unknown place"
    return (
        f"hearth: unexpected {type(error).__name__} at {place}. This is a defect of Hearth: please report it with the "
        "output of the same command under HEARTH_DEBUG=1, after a look for secrets in it."
    )


def _wrong_call(error: Any) -> str:
    """Return what is wrong with a call; no argument that may be a secret in the wrong place."""
    message = str(error.format_message())
    if message.startswith("Got unexpected extra argument"):
        return "there is an argument too many"
    if message.startswith("No such command"):
        return "there is no such command"
    return message


def _refuse(problems: Sequence[Problem], text: str) -> NoReturn:
    """Print why a claim or a call is refused, as JSON where JSON was asked for, and end."""
    if "--json" in sys.argv[1:]:
        print(json.dumps({"ok": False, "problems": [asdict(problem) for problem in problems]}, indent=2))
    else:
        print(text, file=sys.stderr)
    sys.exit(WRONG_CALL)


def main() -> NoReturn:
    """Run the command line. No failure prints a traceback unless `HEARTH_DEBUG=1` is set.

    A command ends with `typer.Exit(code)` when its exit code is not `DONE`; a `ClaimError` that it does not catch is
    printed and ends with `WRONG_CALL`, as a wrong call does. With `--json` both are printed as JSON.
    """
    try:
        code = app(prog_name="hearth", standalone_mode=False)
    except ClaimError as error:
        _refuse(error.problems, str(error))
    except UsageError as error:
        usage = error.ctx.get_usage() if error.ctx else "Usage: hearth COMMAND"
        message = _wrong_call(error)
        if not message:
            # Called with nothing, it has printed its help.
            sys.exit(WRONG_CALL)
        _refuse([Problem("hearth", message, usage)], f"{usage}\nerror: {message}")
    except typer.Abort:
        sys.exit(NOT_SO)
    except Exception as error:
        if os.environ.get("HEARTH_DEBUG") == "1":
            raise
        print(_defect(error), file=sys.stderr)
        sys.exit(NOT_SO)
    sys.exit(code or DONE)
