"""python -m hearth.intake CONFIG SETTINGS CLIENT_SOCKET MANAGEMENT_SOCKET: the gateway's process."""

import sys
from pathlib import Path

from hearth.intake.server import serve


def main(arguments: list[str]) -> None:
    """Serve.

    Raises:
        SystemExit: the arguments are not four paths, or LiteLLM did not start.
    """
    if len(arguments) != 4:
        sys.exit(__doc__)
    config, settings, client, management = map(Path, arguments)
    serve(config, settings, client, management)


if __name__ == "__main__":
    main(sys.argv[1:])
