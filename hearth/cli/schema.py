"""`hearth schema`: the JSON Schema of a stack file, for editors and other programs."""

import json

import typer

from hearth.claim.schema import stack_file_schema

app = typer.Typer(add_completion=False)


@app.command()
def schema() -> None:
    """Write the JSON Schema (draft 2020-12) of a stack file to standard output.

    It knows the shapes alone; `hearth check` also knows what one part of a claim says about another.
    An editor with a YAML language server uses it when the file begins with
    `# yaml-language-server: $schema=<file>`.
    """
    print(json.dumps(stack_file_schema(), indent=2, ensure_ascii=False))
