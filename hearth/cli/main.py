"""Entry point of the `hearth` command."""

import typer

app = typer.Typer(
    help="Hearth: a private LLM platform from one claim per environment.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.callback()
def root() -> None:
    """Hearth: a private LLM platform from one claim per environment."""


def main() -> None:
    """Run the command line."""
    app()
