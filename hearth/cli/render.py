"""`hearth render`: every artefact and manifest of an environment as files."""

import datetime
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from hearth.cli.common import FileOption, JsonOption, StackOption, load
from hearth.cli.folder import write_folder
from hearth.compile.manifests.services import rendering_notices
from hearth.compile.rendering import rendered_files
from hearth.environment import compile_environment

app = typer.Typer(add_completion=False)


@app.command()
def render(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The folder: a new or empty one, or one that this command wrote.")
    ],
    stack: StackOption = None,
    file: FileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write every artefact and manifest of an environment, byte for byte the same each time.

    Secrets are referred to by name and are in no file. Needs no Pulumi, no cluster and no network.

    A route whose evidence does not hold is left out, with a warning.

    Exit codes: 0 done, 2 the claim, the trust store or the call is wrong; then nothing was written.
    """
    loaded = load(stack, file)
    environment = compile_environment(loaded, now=datetime.datetime.now(datetime.UTC))
    result = write_folder(output, rendered_files(environment.topology, environment.artefacts))
    warnings = (*environment.warnings, *rendering_notices(environment.topology))
    if as_json:
        document = {
            "stack": loaded.stack,
            "directory": str(output),
            "snapshot": environment.artefacts.snapshot_sha256,
            "withheld": dict(environment.artefacts.withheld),
            "warnings": [asdict(notice) for notice in warnings],
            **asdict(result),
        }
        print(json.dumps(document, indent=2))
        return
    for notice in warnings:
        print(f"warning: {notice}", file=sys.stderr)
    for path in result.written:
        print(f"wrote   {path}")
    for path in result.removed:
        print(f"removed {path}")
    total = len(result.written) + len(result.unchanged)
    print(f"{output} has the {total} files of {loaded.stack}; {len(result.unchanged)} were there already.")
